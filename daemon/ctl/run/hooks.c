/* Commands around the measured ones. They are not timed, so a line that needs a shell gets one: nothing that
 * is measured changes by it. */
#include <string.h>

#include "base/mem.h"
#include "ctl/run/run.h"

static json_t *hook_json(const struct qs_run_line *line, const char *text)
{
    struct qs_words words = {0};
    struct qs_split_why why;
    QS_BUF(script);
    json_t *json = NULL;
    if (line->shell && line->shell_argv.count > 0) {
        for (size_t i = 0; i < line->shell_argv.count; i++)
            qs_words_add(&words, line->shell_argv.at[i], strlen(line->shell_argv.at[i]));
        qs_words_add(&words, "-c", 2);
        qs_words_add(&words, text, strlen(text));
        json = qs_run_words_json(line, &words);
    } else if (qs_split(text, &words, &why) && !qs_run_is_builtin(words.at[0])) {
        json = qs_run_words_json(line, &words);
    } else {
        qs_run_template(line, text, &script);
        json = json_pack("{s:s}", "shell", script.data);
    }
    qs_words_done(&words);
    return json;
}

static bool add_one(const struct qs_args *args, const struct qs_run_line *line, const struct qs_opt_use *use,
                    json_t *to, struct qs_buf *problem)
{
    const char *text = use->value[0];
    if (text[strspn(text, " \t\n")] == '\0')
        return true; /* an empty hook is none: `--prepare ''` for an arm that needs nothing */
    struct qs_words words = {0};
    struct qs_split_why why;
    bool plain = qs_split(text, &words, &why);
    qs_words_done(&words);
    if (!plain && !why.shell)
        return qs_args_fail(args, problem, use->at[0], use->skip + why.offset, NULL, "--%s: %s",
                            use->opt->name, why.what);
    if (json_object_set_new(to, use->opt->name, hook_json(line, text)) != 0)
        return qs_args_fail(args, problem, use->at[0], 0, "a job is JSON, which is UTF-8",
                            "--%s: this is not UTF-8 text", use->opt->name);
    return true;
}

/* Given once it is for all arms, given as often as there are commands it is one for each. */
static bool add_kind(const struct qs_args *args, const struct qs_run_line *line, const char *name,
                     json_t *benchmark, json_t *arms, struct qs_buf *problem)
{
    size_t count = qs_args_count(args, name), at = 0;
    if (count > 1 && count != line->command_count) {
        const struct qs_opt_use *last = qs_args_last(args, name);
        return qs_args_fail(args, problem, last->arg, 0, "give it once for all, or once for each command",
                            "--%s is given %zu times for %zu commands", name, count, line->command_count);
    }
    for (size_t i = 0; i < args->use_count; i++) {
        if (strcmp(args->use[i].opt->name, name) != 0)
            continue;
        json_t *to = count == 1 ? benchmark : json_object_get(arms, line->commands[at].name);
        at++;
        if (!add_one(args, line, &args->use[i], to, problem))
            return false;
    }
    return true;
}

bool qs_run_add_hooks(const struct qs_args *args, const struct qs_run_line *line, json_t *benchmark,
                      json_t *arms, struct qs_buf *problem)
{
    static const char *const names[] = {"setup", "prepare", "conclude", "cleanup"};
    for (size_t i = 0; i < 4; i++)
        if (!add_kind(args, line, names[i], benchmark, arms, problem))
            return false;
    return true;
}
