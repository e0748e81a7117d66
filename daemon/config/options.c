#include "config/options.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"

enum kind { FLAG, TEXT, NUMBER, LEVEL };

struct option {
    const char *name, *value, *help; /* value: what stands for it in the help, NULL for a flag */
    enum kind kind;
    size_t offset;
};

#define AT(field) offsetof(struct qs_options, field)

static const struct option table[] = {
    {"--config", "FILE", "farm.yaml; without it the farm is this machine", TEXT, AT(config)},
    {"--check-config", "FILE", "check a farm.yaml, print what is wrong with it, and exit", TEXT,
     AT(check_config)},
    {"--db", "FILE", "the database [$XDG_STATE_HOME/quiesce/quiesce.db]", TEXT, AT(db)},
    {"--socket", "PATH",
     "the API's Unix socket [$XDG_RUNTIME_DIR/quiesce/api.sock]; fd:N: inherited, listening", TEXT,
     AT(socket)},
    {"--agent", "FILE", "the agent for this machine [beside this program]", TEXT, AT(agent)},
    {"--embedded", NULL, "exit when the queue and the clients are gone, or another daemon wants the database",
     FLAG, AT(embedded)},
    {"--reading", NULL,
     "answer from the database without owning or changing it; exit when standard input ends", FLAG,
     AT(reading)},
    {"--log-level", "LEVEL", "error, warn, info or debug [info]", LEVEL, AT(log_level)},
    {"--simulate", "FILE", "run --job on the simulated devices of this farm.yaml in virtual time, and exit",
     TEXT, AT(simulate)},
    {"--job", "FILE", "the job of a simulation", TEXT, AT(job)},
    {"--event-log", "FILE", "write a simulation's events to this file, one JSON object per line", TEXT,
     AT(event_log)},
    {"--seed", "N", "seed of a simulation [1]", NUMBER, AT(seed)},
    {"--json", NULL, "print a simulation's whole comparison document", FLAG, AT(json)},
    {"--dump-states", NULL, "print the state tables of session and job run, and exit", FLAG, AT(dump_states)},
    {"--version", NULL, "print the version, and exit", FLAG, AT(version)},
    {"--help", NULL, "print this, and exit", FLAG, AT(help)},
};
enum { COUNT = sizeof table / sizeof *table };

static const struct option *find(const char *word, size_t bytes)
{
    for (size_t i = 0; i < COUNT; i++) {
        if (strlen(table[i].name) == bytes && strncmp(table[i].name, word, bytes) == 0)
            return &table[i];
    }
    return NULL;
}

static bool unknown(const char *word, struct qs_err *err)
{
    const char *names[COUNT];
    for (size_t i = 0; i < COUNT; i++)
        names[i] = table[i].name;
    const char *near = qs_nearest(word, names, COUNT);
    return qs_fail(err, QS_E_USAGE, "`%s` is not an option of quiesced%s%s%s", word,
                   near ? ": did you mean `" : "", near ? near : "", near ? "`?" : "; see --help");
}

static bool number(const char *text, const char *name, uint64_t *ret, struct qs_err *err)
{
    char *end;
    errno = 0;
    unsigned long long v = strtoull(text, &end, 0);
    if (errno != 0 || end == text || *end != '\0' || strchr(text, '-'))
        return qs_fail(err, QS_E_USAGE, "%s needs a whole number from 0 to 2^64-1, not `%s`", name, text);
    *ret = v;
    return true;
}

static bool set(struct qs_options *o, const struct option *opt, const char *value, struct qs_err *err)
{
    char *at = (char *)o + opt->offset;
    switch (opt->kind) {
    case FLAG:
        *(bool *)(void *)at = true;
        return true;
    case TEXT:
        *(const char **)(void *)at = value;
        return true;
    case NUMBER:
        return number(value, opt->name, (uint64_t *)(void *)at, err);
    case LEVEL:
        return qs_log_level_read(value, (enum qs_log_level *)(void *)at) ||
               qs_fail(err, QS_E_USAGE, "%s must be error, warn, info or debug, not `%s`", opt->name, value);
    }
    return true;
}

bool qs_options_parse(int argc, char **argv, struct qs_options *ret, struct qs_err *err)
{
    *ret = (struct qs_options){.seed = 1, .log_level = QS_LOG_INFO};
    for (int i = 1; i < argc; i++) {
        size_t bytes = strcspn(argv[i], "=");
        const struct option *opt = find(argv[i], bytes);
        const char *value = argv[i][bytes] ? argv[i] + bytes + 1 : NULL;
        if (!opt)
            return unknown(argv[i], err);
        if (opt->kind == FLAG && value)
            return qs_fail(err, QS_E_USAGE, "%s takes no value", opt->name);
        if (opt->kind != FLAG && !value) {
            if (i + 1 >= argc)
                return qs_fail(err, QS_E_USAGE, "%s wants a value: %s %s", opt->name, opt->name, opt->value);
            value = argv[++i];
        }
        if (!set(ret, opt, value, err))
            return false;
    }
    if (ret->embedded && ret->reading)
        return qs_fail(err, QS_E_USAGE,
                       "--embedded owns the database and --reading does not: give one of them");
    if (ret->simulate && !ret->job)
        return qs_fail(err, QS_E_USAGE, "--simulate needs a job: --job FILE");
    if (!ret->simulate && (ret->job || ret->event_log))
        return qs_fail(
            err, QS_E_USAGE,
            "--job and --event-log belong to --simulate FARM.yaml; submit a job with `quiesce submit FILE`");
    return true;
}

void qs_options_help(struct qs_buf *out)
{
    qs_buf_str(
        out,
        "Usage: quiesced [OPTIONS]\n\n"
        "The host's daemon: owns devices, runs jobs on them, keeps every iteration, answers the API.\n\n");
    for (size_t i = 0; i < COUNT; i++)
        qs_buf_fmt(out, "  %-14s %-6s %s\n", table[i].name, table[i].value ? table[i].value : "",
                   table[i].help);
    qs_buf_str(out, "\nExamples:\n"
                    "  quiesced                             this machine, no configuration\n"
                    "  quiesced --config farm.yaml          the devices of a file\n"
                    "  quiesced --check-config farm.yaml    what is wrong with the file\n"
                    "  quiesced --simulate farm.yaml --job job.yaml --seed 7 --event-log events.jsonl\n");
}

char *qs_path_socket(qs_getenv_fn *env, unsigned uid)
{
    const char *runtime = env("XDG_RUNTIME_DIR");
    if (runtime && runtime[0] == '/')
        return qs_asprintf("%s/quiesce/api.sock", runtime);
    return qs_asprintf("/tmp/quiesce-%u/api.sock", uid);
}
