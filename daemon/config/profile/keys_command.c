/* The keys of a sensor that is a command on the device, and how the agent is asked for it. */
#include <string.h>

#include "base/mem.h"
#include "config/profile/keys.h"
#include "config/profile/profile.h"
#include "proto/bind_command.h"
#include "proto/limits.h"

#define OF(field) offsetof(struct qs_profile_command, field)

enum { LIST_MAX = 16, TEXT_BYTES = 120 };

static const struct qs_word reads_words[] = {
    {"mC", QS_READS_MC}, {"dC", QS_READS_DC}, {"C", QS_READS_C}, {"count", QS_READS_COUNT}, {NULL, 0}};
static const struct qs_word role_words[] = {{"cpu", QS_ROLE_CPU},
                                            {"gpu", QS_ROLE_GPU},
                                            {"skin", QS_ROLE_SKIN},
                                            {"battery", QS_ROLE_BATTERY},
                                            {"ambient", QS_ROLE_AMBIENT},
                                            {"other", QS_ROLE_OTHER},
                                            {NULL, 0}};

static const struct qs_word watch_words[] = {
    {"never", QS_WATCH_NEVER}, {"changes", QS_WATCH_CHANGES}, {"nonzero", QS_WATCH_NONZERO}, {NULL, 0}};

static bool has_line_break(const struct qs_profile_command *c)
{
    const char *const texts[] = {c->section, c->line, c->before, c->spoilt};
    bool has = false;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        has = has || (texts[i] != NULL && strchr(texts[i], '\n') != NULL);
    for (size_t i = 0; i < c->command.count; i++)
        has = has || strchr(c->command.at[i], '\n') != NULL;
    return has;
}

static const char *or_none(const char *text)
{
    return text != NULL ? text : "";
}

/* The text of BIND, which is bounded. */
static void check(struct qs_schema_reader *r, const struct qs_node *node, void *target)
{
    struct qs_profile_command *c = target;
    struct qs_bind_command read;
    QS_BUF(text);
    qs_buf_fmt(&text, "%u\n%s\n%s\n%s\n%s", (unsigned)(c->max_age_ns / 1000000), or_none(c->section),
               or_none(c->line), or_none(c->before), or_none(c->spoilt));
    for (size_t i = 0; i < c->command.count; i++)
        qs_buf_fmt(&text, "\n%s", c->command.at[i]);
    if (c->command.count == 0 || c->command.at[0][0] == '\0')
        qs_schema_problem(r, node, "such as [dumpsys, battery]", "a command has a program and its arguments");
    else if (has_line_break(c))
        qs_schema_problem(r, node, NULL, "each of its texts is one line");
    else if (text.len > QS_CONTROL_PATH_MAX_BYTES)
        qs_schema_problem(r, node, NULL,
                          "command, section, line, before and spoilt have more than %d bytes in all",
                          QS_CONTROL_PATH_MAX_BYTES - 16);
    else if (c->before != NULL && qs_bind_command_of(qs_text_of(text.data), &read))
        c->asks = qs_buf_take(&text);
}

#define PATTERN(its_name, says)                                                                              \
    {                                                                                                        \
        .name = #its_name, .type = QS_KEY_TEXT, .offset = OF(its_name), .min = 1, .max = TEXT_BYTES,         \
        .help = says                                                                                         \
    }

static const struct qs_key command_keys[] = {
    {.name = "name",
     .type = QS_KEY_CUSTOM,
     .offset = OF(name),
     .required = true,
     .read = qs_profile_read_name,
     .form = "text",
     .help = "What it is called. Where a file's sensor has this name, the command is not used."},
    {.name = "command",
     .type = QS_KEY_STRINGS,
     .offset = OF(command),
     .max = LIST_MAX,
     .required = true,
     .help = "The program, which is looked for in the agent's PATH, and its arguments. It is run between "
             "windows, for at most 5 s."},
    PATTERN(section,
            "The line, with wildcards, below which the value is, indented deeper; without it anywhere."),
    PATTERN(line, "The line of the value, with wildcards, in upper or lower case; without it any. Of several "
                  "the highest plausible value counts."),
    {.name = "before",
     .type = QS_KEY_TEXT,
     .offset = OF(before),
     .min = 1,
     .max = TEXT_BYTES,
     .required = true,
     .help = "The text in that line before the number."},
    {.name = "unit",
     .type = QS_KEY_ENUM,
     .offset = OF(unit),
     .words = reads_words,
     .required = true,
     .help = "What it counts in, as `sensors.NAME.unit`; a fraction counts."},
    {.name = "role",
     .type = QS_KEY_ENUM,
     .offset = OF(role),
     .words = role_words,
     .help = "What it is near, else other."},
    {.name = "mask",
     .type = QS_KEY_U32,
     .offset = OF(mask),
     .max = 1000000000,
     .fallback = "0",
     .help = "The number is hexadecimal, as `sensors.NAME.mask`."},
    {.name = "taint",
     .type = QS_KEY_ENUM,
     .offset = OF(watch),
     .words = watch_words,
     .help = "What taints a window, as `sensors.NAME.taint`: it is then read after each window, too."},
    {.name = "up_to",
     .type = QS_KEY_U32,
     .offset = OF(up_to),
     .max = 1000000000,
     .fallback = "0",
     .help = "With `taint: nonzero`: readings up to this one taint nothing."},
    {.name = "max_age",
     .type = QS_KEY_DURATION,
     .offset = OF(max_age_ns),
     .min = INT64_C(1000000000),
     .max = INT64_C(86400000000000),
     .fallback = "10s",
     .help = "How long a reading is good for. Older than half of it, it is read again; older than it, a gate "
             "waits."},
    PATTERN(spoilt, "A line, with wildcards, that says that the values are made up: somebody has overridden "
                    "them. No gate opens then."),
    PATTERN(mend, "The command that ends that, for people."),
    {0}};
const struct qs_table qs_profile_command_table = {.keys = command_keys,
                                                  .size_bytes = sizeof(struct qs_profile_command),
                                                  .name_offset = OF(key),
                                                  .check = check};
