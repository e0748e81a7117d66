#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "base/text.h"
#include "ctl/run/run.h"

enum { NAME_BYTES = 90 };

json_t *qs_run_words_json(const struct qs_run_line *line, const struct qs_words *words)
{
    json_t *list = json_array();
    QS_BUF(text);
    for (size_t i = 0; list != NULL && i < words->count; i++) {
        qs_buf_clear(&text);
        qs_run_template(line, words->at[i], &text);
        if (json_array_append_new(list, json_string(text.data)) != 0) {
            json_decref(list);
            list = NULL;
        }
    }
    return list;
}

static json_t *not_utf8(const struct qs_args *args, struct qs_buf *problem, size_t arg)
{
    qs_args_fail(args, problem, arg, 0, "a job is JSON, which is UTF-8", "this is not UTF-8 text");
    return NULL;
}

/* What `quiesce jobs` shows and under which results are kept: the commands, as much as fits a name. */
static char *job_name(const struct qs_run_line *line)
{
    QS_BUF(all);
    QS_BUF(name);
    for (size_t i = 0; i < line->command_count; i++)
        qs_buf_fmt(&all, "%s%s", i > 0 ? " vs " : "", line->commands[i].text);
    for (size_t i = 0; i < all.len;) {
        bool valid = false;
        size_t n = qs_utf8_next(all.data + i, all.len - i, &valid);
        if (name.len + n + 3 > NAME_BYTES) {
            qs_buf_str(&name, "...");
            break;
        }
        if (valid && (unsigned char)all.data[i] >= 0x20 && all.data[i] != 0x7f)
            qs_buf_add(&name, all.data + i, n);
        else
            qs_buf_char(&name, ' ');
        i += n;
    }
    return qs_buf_take(&name);
}

/* Variables that JSON cannot carry are left out: a program that needs them is rare, one that breaks on a
 * changed byte is worse. `_` names whoever started us. */
static void put_env(json_t *map, const struct qs_run_line *line, const char *pair)
{
    const char *eq = strchr(pair, '=');
    if (eq == NULL || eq == pair || (eq - pair == 1 && pair[0] == '_'))
        return;
    QS_FREED char *name = qs_strndup(pair, (size_t)(eq - pair));
    QS_BUF(value);
    qs_run_template(line, eq + 1, &value);
    json_object_set_new(map, name, json_string(value.data));
}

/* Somebody else's programs get the path and the locale: what is in ours is not theirs. */
static json_t *own_env(const struct qs_args *args, char *const *env)
{
    static const char *const shared[] = {"PATH=", "LANG=", "LC_ALL="};
    json_t *map = json_object();
    const struct qs_run_line no_params = {0};
    bool all = qs_args_text(args, "user", NULL) == NULL;
    for (; *env != NULL; env++) {
        bool put = all;
        for (size_t i = 0; i < sizeof(shared) / sizeof(shared[0]); i++)
            put = put || strncmp(*env, shared[i], strlen(shared[i])) == 0;
        if (put)
            put_env(map, &no_params, *env);
    }
    return map;
}

/* What --env sets belongs to the arms: comparisons tell what was set on purpose from what our own environment
 * happens to be. */
static bool add_given_env(const struct qs_args *args, const struct qs_run_line *line, json_t *arms,
                          struct qs_buf *problem)
{
    const char *name;
    json_t *arm, *map = json_object();
    bool ok = true;
    for (size_t i = 0; i < args->use_count && ok; i++) {
        const struct qs_opt_use *use = &args->use[i];
        if (strcmp(use->opt->name, "env") != 0)
            continue;
        const char *eq = strchr(use->value[0], '=');
        if (eq == NULL || eq == use->value[0])
            ok = qs_args_fail(args, problem, use->at[0], use->skip, "write NAME=VALUE",
                              "--env: `%s` has no name and `=`", use->value[0]);
        else
            put_env(map, line, use->value[0]);
    }
    json_object_foreach(arms, name, arm)
    {
        if (json_object_size(map) > 0)
            json_object_set(arm, "env", map);
    }
    json_decref(map);
    return ok;
}

/* The absolute path of an option's file or folder; NULL with a usage error. */
static char *absolute(const struct qs_args *args, const char *option, bool folder, struct qs_buf *problem)
{
    const struct qs_opt_use *use = qs_args_last(args, option);
    char path[PATH_MAX];
    struct stat st;
    if (realpath(use->value[0], path) == NULL || stat(path, &st) != 0) {
        qs_args_fail(args, problem, use->at[0], use->skip, NULL, "--%s: %s: %s", option, use->value[0],
                     strerror(errno));
        return NULL;
    }
    if (folder != S_ISDIR(st.st_mode)) {
        qs_args_fail(args, problem, use->at[0], use->skip, NULL, "--%s: %s is %s folder", option,
                     use->value[0], folder ? "not a" : "a");
        return NULL;
    }
    return qs_strdup(path);
}

/* Of another device: its own directory for the run, and files that are there or go along. */
static bool add_places_there(const struct qs_args *args, const struct qs_run_line *line, json_t *b)
{
    const char *input = qs_args_text(args, "input", "null");
    if (qs_args_has(args, "dir"))
        json_object_set_new(b, "dir", json_string(qs_args_text(args, "dir", "")));
    if (qs_args_has(args, "user"))
        json_object_set_new(b, "user", json_string(qs_args_text(args, "user", "")));
    if (strcmp(input, "null") != 0)
        json_object_set_new(b, "stdin", json_string(qs_run_pushed(line, input)));
    return true;
}

static bool add_places(const struct qs_args *args, const struct qs_run_line *line, json_t *b, const char *dir,
                       struct qs_buf *problem)
{
    if (line->on)
        return add_places_there(args, line, b);
    char *path = NULL;
    if (qs_args_has(args, "dir") && (path = absolute(args, "dir", true, problem)) == NULL)
        return false;
    json_object_set_new(b, "dir", json_string(path != NULL ? path : dir));
    if (qs_args_has(args, "user"))
        json_object_set_new(b, "user", json_string(qs_args_text(args, "user", "")));
    free(path);
    path = NULL;
    const char *input = qs_args_text(args, "input", "null");
    if (strcmp(input, "null") == 0 || strcmp(input, "/dev/null") == 0)
        return true;
    path = absolute(args, "input", false, problem);
    if (path == NULL)
        return false;
    json_object_set_new(b, "stdin", json_string(path));
    free(path);
    return true;
}

/* --ignore-failure, =all-non-zero, or =1,2: those and 0. */
static bool add_ignored(const struct qs_args *args, const struct qs_opt_use *use, json_t *b,
                        struct qs_buf *problem)
{
    const char *text = use->value[0];
    if (text == NULL || strcmp(text, "all-non-zero") == 0)
        return json_object_set_new(b, "exit", json_string("any")) == 0;
    json_t *list = json_pack("[i]", 0);
    json_object_set_new(b, "exit", list);
    for (const char *s = text;; s++) {
        int64_t code = 0;
        char why[160], *word = qs_strndup(s, strcspn(s, ","));
        bool ok = qs_opt_read_whole(word, 1, 255, &code, why);
        free(word);
        if (!ok)
            return qs_args_fail(args, problem, use->arg, use->skip + (size_t)(s - text),
                                "write exit codes with commas, =1,2, or nothing for all",
                                "--ignore-failure: %s", why);
        json_array_append_new(list, json_integer(code));
        s += strcspn(s, ",");
        if (*s == '\0')
            return true;
    }
}

static bool add_exit(const struct qs_args *args, json_t *b, struct qs_buf *problem)
{
    const struct qs_opt_use *code = qs_args_last(args, "exit-code");
    const struct qs_opt_use *ignored = qs_args_last(args, "ignore-failure");
    if (code != NULL && ignored != NULL)
        return qs_args_fail(args, problem, code->arg, 0, "keep one of them",
                            "--ignore-failure already says which exit codes are accepted");
    if (ignored != NULL)
        return add_ignored(args, ignored, b, problem);
    if (code == NULL)
        return true;
    json_t *list = json_array();
    for (size_t i = 0; i < args->use_count; i++)
        if (strcmp(args->use[i].opt->name, "exit-code") == 0)
            json_array_append_new(list, json_integer(args->use[i].number));
    json_object_set_new(b, "exit", list);
    return true;
}

static void add_limits(const struct qs_args *args, json_t *b)
{
    const int64_t s = 1000000000, usual_s = 600;
    char text[40];
    int64_t limit_ns = qs_args_number(args, "timeout", usual_s * s);
    snprintf(text, sizeof(text), "%" PRId64 "ns", limit_ns);
    json_object_set_new(b, "limits", json_pack("{s:s, s:s}", "iteration", text, "run", "24h"));
}

static bool add_params(const struct qs_run_line *line, json_t *b)
{
    json_t *map = json_object();
    for (size_t i = 0; i < line->param_count; i++) {
        json_t *list = json_array();
        for (size_t k = 0; k < line->params[i].values.count; k++)
            json_array_append_new(list, json_string(line->params[i].values.at[k]));
        json_object_set_new(map, line->params[i].name, list);
    }
    return json_object_set_new(b, "params", map) == 0;
}

/* A harness program is started once a run and does what belongs to an iteration itself. */
static bool add_mode(const struct qs_args *args, json_t *b, struct qs_buf *problem)
{
    static const char *const others[] = {"shell",    "input",     "prepare",
                                         "conclude", "exit-code", "ignore-failure"};
    const struct qs_opt_use *harness = qs_args_last(args, "harness");
    if (harness == NULL) {
        const struct qs_opt_use *evals = qs_args_last(args, "evals");
        json_object_set_new(b, "mode", json_string("command"));
        return evals == NULL || qs_args_fail(args, problem, evals->arg, 0, "add --harness, or leave it out",
                                             "--evals is for programs that include quiesce/bench.h");
    }
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        const struct qs_opt_use *use = qs_args_last(args, others[i]);
        if (use != NULL)
            return qs_args_fail(args, problem, use->arg, 0, "leave out this option or --harness",
                                "--%s is for commands where each process is one iteration", others[i]);
    }
    json_object_set_new(b, "mode", json_string("harness"));
    if (harness->value[0] != NULL)
        json_object_set_new(b, "benchmark", json_string(harness->value[0]));
    if (qs_args_has(args, "evals"))
        json_object_set_new(b, "evals", json_integer(qs_args_number(args, "evals", 1)));
    return true;
}

/* The nth name that was given, or NULL. */
static const struct qs_opt_use *name_at(const struct qs_args *args, size_t n)
{
    for (size_t i = 0; i < args->use_count; i++)
        if (strcmp(args->use[i].opt->name, "name") == 0 && n-- == 0)
            return &args->use[i];
    return NULL;
}

/* A name for all: each {VAR} in it is the arm's value, and where there is none the values follow it. */
static void fill_name(const char *name, const json_t *values, const char *listed, struct qs_buf *out)
{
    bool filled = false;
    for (const char *s = name; *s != '\0'; s++) {
        size_t n = *s == '{' ? strcspn(s + 1, "}") : 0;
        QS_FREED char *key = qs_strndup(s + 1, n);
        const char *value = n > 0 ? json_string_value(json_object_get(values, key)) : NULL;
        if (value != NULL)
            qs_buf_fmt(out, "%.40s", value);
        else
            qs_buf_char(out, *s);
        s += value != NULL ? n + 1 : 0;
        filled = filled || value != NULL;
    }
    if (!filled)
        qs_buf_fmt(out, " %s", listed);
}

/* --name once is for all arms, or it is there once for each. */
static bool name_values(const struct qs_args *args, size_t total, struct qs_buf *problem)
{
    size_t count = qs_args_count(args, "name");
    for (size_t i = 0; i < count; i++) {
        const struct qs_opt_use *use = name_at(args, i);
        if (use->value[0][0] == '\0' || strlen(use->value[0]) > 60)
            return qs_args_fail(args, problem, use->at[0], use->skip, NULL, "a name has 1 to 60 bytes");
    }
    return count <= 1 || count == total ||
           qs_args_fail(args, problem, name_at(args, 1)->arg, 0, "give one for all, or one for each value",
                        "there are %zu names for %zu values", count, total);
}

/* One arm for each combination of values, the last parameter varies fastest. */
static json_t *arms_of_params(const struct qs_args *args, const struct qs_run_line *line,
                              struct qs_buf *problem)
{
    size_t total = 1;
    for (size_t i = 0; i < line->param_count; i++) {
        total *= line->params[i].values.count;
        if (total > QS_RUN_ARMS_MAX) {
            qs_args_fail(args, problem, line->params[i].arg, 0, "take fewer values, or a larger --step",
                         "these values make more than %d arms", QS_RUN_ARMS_MAX);
            return NULL;
        }
    }
    if (!name_values(args, total, problem))
        return NULL;
    json_t *arms = json_object();
    for (size_t n = 0; n < total; n++) {
        QS_BUF(name);
        json_t *values = json_object();
        size_t rest = n, below = total;
        const struct qs_opt_use *use = name_at(args, qs_args_count(args, "name") == total ? n : 0);
        QS_BUF(given);
        for (size_t i = 0; i < line->param_count; i++) {
            const struct qs_run_param *p = &line->params[i];
            below /= p->values.count;
            const char *value = p->values.at[rest / below];
            rest %= below;
            qs_buf_fmt(&name, "%s%s=%.40s", i > 0 ? " " : "", p->name, value);
            json_object_set_new(values, p->name, json_string(value));
        }
        if (use != NULL && qs_args_count(args, "name") == total)
            qs_buf_str(&given, use->value[0]);
        else if (use != NULL)
            fill_name(use->value[0], values, name.data, &given);
        json_object_set_new(arms, use != NULL ? given.data : name.data, json_pack("{s:o}", "params", values));
    }
    if (json_object_size(arms) == total)
        return arms;
    json_decref(arms);
    qs_args_fail(args, problem, name_at(args, 0)->arg, 0, "write {VAR} for every parameter, or none of them",
                 "two arms have the same name");
    return NULL;
}

static json_t *arms_of_commands(const struct qs_args *args, const struct qs_run_line *line,
                                struct qs_buf *problem)
{
    json_t *arms = json_object();
    for (size_t i = 0; i < line->command_count; i++) {
        json_t *argv = qs_run_words_json(line, &line->commands[i].argv);
        if (argv == NULL ||
            json_object_set_new(arms, line->commands[i].name, json_pack("{s:o}", "argv", argv)) != 0) {
            json_decref(arms);
            return not_utf8(args, problem, line->commands[i].arg);
        }
    }
    return arms;
}

/* One command with parameters: its values are the arms. Several: they are points. */
static json_t *add_arms(const struct qs_args *args, const struct qs_run_line *line, json_t *b,
                        struct qs_buf *problem)
{
    if (line->param_count == 0 || line->command_count > 1) {
        if (line->param_count > 0)
            add_params(line, b);
        return arms_of_commands(args, line, problem);
    }
    json_t *argv = qs_run_words_json(line, &line->commands[0].argv);
    if (argv == NULL)
        return not_utf8(args, problem, line->commands[0].arg);
    json_object_set_new(b, "argv", argv);
    return arms_of_params(args, line, problem);
}

json_t *qs_run_document(const struct qs_args *args, const struct qs_run_line *line, const char *dir,
                        char *const *env, struct qs_buf *problem)
{
    QS_FREED char *name = job_name(line);
    json_t *b = json_pack("{s:s}", "name", name);
    json_t *job = json_pack("{s:i, s:s}", "quiesce", 1, "name", name);
    json_auto_t *arms = add_arms(args, line, b, problem);
    bool ok = arms != NULL && add_given_env(args, line, arms, problem) &&
              qs_run_add_output(args, line, b, problem) && add_mode(args, b, problem) &&
              add_places(args, line, b, dir, problem) && qs_run_add_stream(args, line, b, problem) &&
              add_exit(args, b, problem) && qs_run_add_hooks(args, line, b, arms, problem) &&
              qs_run_add_plan(args, job, problem);
    if (ok && !qs_run_add_pushes(line, b, arms)) {
        not_utf8(args, problem, line->commands[0].arg);
        ok = false;
    }
    if (ok) {
        add_limits(args, b);
        json_object_set_new(b, "env_inherit", json_boolean(line->on));
        if (!line->on) /* ours means nothing there */
            json_object_set_new(b, "env", own_env(args, env));
        json_object_set_new(job, "benchmarks", json_pack("[O]", b));
        json_object_set(job, "arms", arms);
    }
    json_decref(b);
    if (ok)
        return job;
    json_decref(job);
    return NULL;
}
