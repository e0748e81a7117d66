/* Every option of every command as its table has it: without its value, with values at and beyond its bounds,
 * with a word that it has and one that it has not, twice, and misspelt; what is said then.
 * tests/golden/ctl/options.txt, written anew with QS_GOLDEN_WRITE=1. */
#include "cm.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/commands/command.h"
#include "pages.h"

static const char *folder; /* argv[1] */

/* One line: the words, and `= number` where they are read, or the problem's lines. */
static void add_case(const struct qs_command *c, const char *const *words, size_t n, struct qs_buf *out)
{
    const char *argv[8] = {"quiesce", c->name};
    struct qs_buf problem;
    bool help = false;
    qs_buf_init(&problem);
    qs_buf_fmt(out, "$ %s", c->name);
    for (size_t i = 0; i < n; i++) {
        argv[2 + i] = words[i];
        qs_buf_fmt(out, " %s", words[i]);
    }
    struct qs_args args = {.argv = argv, .argc = 2 + n, .command = c->name};
    if (qs_args_read(&args, 2, c->options, qs_common_options, &help, &problem)) {
        const struct qs_opt_use *use = args.use_count > 0 ? &args.use[args.use_count - 1] : NULL;
        qs_buf_fmt(out, " = %s %" PRId64 "\n", use != NULL && use->value[0] != NULL ? use->value[0] : "-",
                   use != NULL ? use->number : 0);
    } else {
        qs_buf_fmt(out, "\n%s", problem.data);
    }
    qs_args_done(&args);
    qs_buf_done(&problem);
}

static void try_one(const struct qs_command *c, const char *option, const char *value, struct qs_buf *out)
{
    const char *words[] = {option, value};
    add_case(c, words, value != NULL ? 2 : 1, out);
}

static void number_text(const struct qs_opt *o, int64_t n, char text[40])
{
    if (o->kind == QS_OPT_RATIO)
        snprintf(text, 40, "%" PRId64 ".%04d%%", n / 10000, (int)(n % 10000));
    else
        snprintf(text, 40, "%" PRId64 "%s", n, o->kind == QS_OPT_TIME ? "ns" : "");
}

static void try_bounds(const struct qs_command *c, const struct qs_opt *o, const char *name,
                       struct qs_buf *out)
{
    const int64_t above = o->max < INT64_MAX ? o->max + 1 : -1,
                  numbers[] = {o->min - 1, o->min, o->max, above};
    for (size_t i = 0; i < 4; i++) {
        char text[40];
        number_text(o, numbers[i], text);
        if (numbers[i] >= 0)
            try_one(c, name, text, out);
    }
    try_one(c, name, "7x", out);
}

/* Of an option with one value. */
static void try_values(const struct qs_command *c, const struct qs_opt *o, const char *name,
                       struct qs_buf *out)
{
    if (o->kind == QS_OPT_WORD) {
        char near[40];
        snprintf(near, sizeof(near), "%sx", o->words[0]);
        try_one(c, name, o->words[0], out);
        try_one(c, name, near, out);
        try_one(c, name, "zzzzzzzz", out);
    } else if (o->kind == QS_OPT_NUMBER) {
        try_one(c, name, "1.5", out);
        try_one(c, name, "one", out);
    } else if (o->kind != QS_OPT_TEXT) {
        try_bounds(c, o, name, out);
    }
}

static void try_option(const struct qs_command *c, const struct qs_opt *o, struct qs_buf *out)
{
    char name[64], misspelt[64], valued[64];
    const char *twice[] = {name, name};
    snprintf(name, sizeof(name), "--%s", o->letters ? "q" : o->name);
    snprintf(misspelt, sizeof(misspelt), "--%sx", o->name);
    snprintf(valued, sizeof(valued), "--%s=v", o->name);
    try_one(c, name, NULL, out);
    try_one(c, misspelt, NULL, out);
    if (o->values == NULL || o->optional)
        add_case(c, twice, 2, out);
    if (o->values == NULL)
        try_one(c, valued, NULL, out);
    else if (strchr(o->values, ' ') == NULL && !o->optional)
        try_values(c, o, name, out);
    if (o->letter != '\0') {
        snprintf(name, sizeof(name), "-%c", o->letter);
        try_one(c, name, NULL, out);
    }
}

static void every_option_says_what_it_takes(void **state)
{
    struct qs_buf out;
    (void)state;
    qs_buf_init(&out);
    for (size_t i = 0; qs_commands[i] != NULL; i++)
        for (const struct qs_opt *o = qs_commands[i]->options; o->name != NULL; o++)
            try_option(qs_commands[i], o, &out);
    for (const struct qs_opt *o = qs_common_options; o->name != NULL; o++)
        try_option(&qs_command_jobs, o, &out);
    check_golden(folder, "options.txt", &out);
    qs_buf_done(&out);
}

/* The help of each command, as wide as screens are, in colour and plain. */
static void every_help_is_laid_out(void **state)
{
    static const struct qs_face faces[] = {
        {.width = 40, .utf8 = true}, {.width = 80, .utf8 = true, .color = true}, {.width = 160}};
    struct qs_buf out;
    (void)state;
    qs_buf_init(&out);
    for (size_t f = 0; f < 3; f++) {
        qs_help_overview(&faces[f], &out);
        for (size_t i = 0; qs_commands[i] != NULL && (f == 1 || i < 2); i++)
            qs_help_command(&faces[f], qs_commands[i], &out);
    }
    check_golden(folder, "help.txt", &out);
    qs_buf_done(&out);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_option_says_what_it_takes),
                                       cmocka_unit_test(every_help_is_laid_out)};
    if (argc != 2)
        return 2;
    folder = argv[1];
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    return getenv("QS_GOLDEN_WRITE") != NULL ? 1 : failed;
}
