#include <jansson.h>

#include "ctl/client/api.h"

static const struct qs_opt options[] = {{0}};

static int print_tables(struct qs_ctl *ctl)
{
    json_auto_t *list = json_array();
    for (size_t i = 0; qs_commands[i] != NULL; i++) {
        json_t *names = json_array();
        for (const struct qs_opt *o = qs_commands[i]->options; o->name != NULL; o++)
            json_array_append_new(names, json_string(o->name));
        json_array_append_new(list, json_pack("{s:s, s:s, s:o}", "name", qs_commands[i]->name, "summary",
                                              qs_commands[i]->summary, "options", names));
    }
    json_dumpf(list, ctl->out, JSON_INDENT(2));
    fputc('\n', ctl->out);
    return QS_EXIT_OK;
}

static int run(struct qs_ctl *ctl)
{
    int code = QS_EXIT_OK;
    if (ctl->json)
        return print_tables(ctl);
    QS_BUF(out);
    if (ctl->args->word_count == 0) {
        qs_help_overview(&ctl->face, &out);
    } else {
        size_t arg = ctl->args->word[0];
        const struct qs_command *c = qs_command_find(ctl->args->argv[arg]);
        if (c != NULL) {
            qs_help_command(&ctl->face, c, &out);
        } else {
            qs_args_fail(ctl->args, &out, arg, 0, "`quiesce help` lists the commands",
                         "there is no command `%s`", ctl->args->argv[arg]);
            code = QS_EXIT_USAGE;
        }
    }
    qs_ctl_print(code == QS_EXIT_OK ? ctl->out : ctl->err, &out);
    return code;
}

const struct qs_command qs_command_help = {.name = "help",
                                           .summary = "Show the commands, or the help of one",
                                           .usage = "[COMMAND]",
                                           .options = options,
                                           .examples = "quiesce help\nquiesce help run",
                                           .most_words = 1,
                                           .run = run};
