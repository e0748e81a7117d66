#include <errno.h>
#include <poll.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "ctl/commands/command.h"

const struct qs_command *const qs_commands[] = {&qs_command_run,
                                                &qs_command_submit,
                                                &qs_command_jobs,
                                                &qs_command_show,
                                                &qs_command_watch,
                                                &qs_command_cancel,
                                                &qs_command_builds,
                                                &qs_command_compare,
                                                &qs_command_analyze,
                                                &qs_command_history,
                                                &qs_command_reproduce,
                                                &qs_command_devices,
                                                &qs_command_characterize,
                                                &qs_command_ablate,
                                                &qs_command_version,
                                                &qs_command_help,
                                                NULL};
enum { COMMANDS = sizeof(qs_commands) / sizeof(qs_commands[0]) - 1 };

const char *const qs_style_words[] = {"auto", "plain", "color", "none", "basic", "full", "nocolor", NULL};
const char *const qs_unit_words[] = {"auto",       "ns",          "us",          "ms",     "s",
                                     "nanosecond", "microsecond", "millisecond", "second", NULL};
const char *const qs_sort_words[] = {"auto", "command", "median", "mean-time", NULL};
const char *const qs_fail_words[] = {"never", "regression", NULL};

const struct qs_opt qs_common_options[] = {
    {.name = "json", .help = "Print JSON, as the daemon sent it.", .heading = "General"},
    {.name = "socket",
     .values = "PATH",
     .help = "The daemon's socket (QUIESCE_SOCKET, else $XDG_RUNTIME_DIR/quiesce/api.sock). Where no daemon "
             "answers, run, submit and reproduce start one; commands that only read need none."},
    {.name = "style",
     .values = "STYLE",
     .kind = QS_OPT_WORD,
     .words = qs_style_words,
     .help = "auto; plain or basic (no colour, no redrawn line); color; nocolor; full (colour and redrawn "
             "line, even where the output is not a terminal); none: run, submit and watch print only what "
             "--json and --export-* ask for."},
    {.name = "help", .letter = 'h', .help = "Show this."},
    {0}};

const struct qs_command *qs_command_find(const char *name)
{
    if (strcmp(name, "device") == 0) /* what people write who mean one */
        name = "devices";
    for (size_t i = 0; i < COMMANDS; i++)
        if (strcmp(qs_commands[i]->name, name) == 0)
            return qs_commands[i];
    return NULL;
}

static bool unknown_command(const struct qs_args *args, struct qs_buf *problem)
{
    const char *names[COMMANDS];
    const char *word = args->argv[1];
    QS_BUF(advice);
    for (size_t i = 0; i < COMMANDS; i++)
        names[i] = qs_commands[i]->name;
    const char *near = qs_nearest(word, names, COMMANDS);
    if (near != NULL)
        qs_buf_fmt(&advice, "did you mean `quiesce %s`?", near);
    else
        qs_buf_str(&advice, "to measure a command: quiesce run -- COMMAND; `quiesce help` lists the rest");
    qs_args_fail(args, problem, 1, 0, advice.data,
                 word[0] == '-' ? "an option comes after the command: `%s`" : "there is no command `%s`",
                 word);
    return false;
}

/* Words in front of "--" and what follows it, against what the command takes. */
static bool check_words(const struct qs_args *args, const struct qs_command *c, struct qs_buf *problem)
{
    bool ok = true;
    QS_BUF(usage);
    qs_buf_fmt(&usage, "usage: quiesce %s %.*s", c->name, (int)strcspn(c->usage, "\n"), c->usage);
    if (c->most_words >= 0 && args->word_count > (size_t)c->most_words)
        ok = qs_args_fail(args, problem, args->word[c->most_words], 0, usage.data, "one argument too many");
    else if (args->word_count < (size_t)c->least_words)
        ok = qs_args_fail(args, problem, args->argc, 0, usage.data, "an argument is missing");
    else if (!c->takes_rest && args->rest < args->argc)
        ok = qs_args_fail(args, problem, args->rest, 0, usage.data, "nothing follows `--` here");
    return ok;
}

static void print(FILE *to, struct qs_buf *text)
{
    fwrite(text->data, 1, text->len, to);
    fflush(to);
}

static int print_help(struct qs_ctl *ctl, const struct qs_command *command)
{
    QS_BUF(out);
    if (command != NULL)
        qs_help_command(&ctl->face, command, &out);
    else
        qs_help_overview(&ctl->face, &out);
    print(ctl->out, &out);
    return QS_EXIT_OK;
}

static int start(struct qs_ctl *ctl, struct qs_args *args, struct qs_buf *problem)
{
    bool help = false;
    ctl->args = args;
    args->command = ctl->command->name;
    if (!qs_args_read(args, 2, ctl->command->options, qs_common_options, &help, problem))
        return QS_EXIT_USAGE;
    if (help)
        return print_help(ctl, ctl->command);
    if (!check_words(args, ctl->command, problem))
        return QS_EXIT_USAGE;
    const char *style = qs_args_text(args, "style", "auto");
    qs_face_of(&ctl->face, fileno(ctl->out), style);
    qs_face_of(&ctl->err_face, fileno(ctl->err), style);
    ctl->json = qs_args_has(args, "json");
    ctl->live = strcmp(style, "full") == 0 || (isatty(fileno(ctl->err)) == 1 &&
                                               (strcmp(style, "auto") == 0 || strcmp(style, "nocolor") == 0));
    return ctl->command->run(ctl);
}

/* A result that did not arrive is no success. Who closed the pipe has read enough. */
static int end(FILE *out, FILE *err, int code)
{
    struct pollfd reader = {.fd = fileno(out), .events = POLLOUT};
    errno = 0;
    if (fflush(out) == 0 && ferror(out) == 0)
        return code;
    const char *why =
        errno != 0 ? strerror(errno) : "the output could not be written completely; is the disk full?";
    if (poll(&reader, 1, 0) == 1 && (reader.revents & POLLERR) != 0)
        return code;
    fprintf(err, "quiesce: standard output: %s\n", why);
    return QS_EXIT_INFRASTRUCTURE;
}

int qs_ctl_main(int argc, char **argv, FILE *out, FILE *err)
{
    struct qs_ctl ctl = {.self = argv[0], .out = out, .err = err};
    struct qs_args args = {.argv = (const char *const *)argv, .argc = (size_t)argc};
    int code = QS_EXIT_USAGE;
    QS_BUF(problem);
    qs_face_of(&ctl.face, fileno(out), "auto");
    qs_face_of(&ctl.err_face, fileno(err), "auto");
    const char *word = argc > 1 ? argv[1] : "--help";
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
        print_help(&ctl, NULL);
        code = argc > 1 ? QS_EXIT_OK : QS_EXIT_USAGE;
    } else {
        bool version = strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0;
        ctl.command = qs_command_find(version ? "version" : word);
        if (ctl.command == NULL)
            unknown_command(&args, &problem);
        else
            code = start(&ctl, &args, &problem);
    }
    print(err, &problem);
    qs_args_done(&args);
    return end(out, err, code);
}
