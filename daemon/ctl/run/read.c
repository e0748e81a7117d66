#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "ctl/run/run.h"

static bool is_shell(const char *program)
{
    static const char *const shells[] = {"ash",   "bash",  "busybox", "csh",    "dash",  "elvish", "fish",
                                         "ksh",   "ksh93", "mksh",    "nu",     "oksh",  "posh",   "pwsh",
                                         "rbash", "sh",    "tcsh",    "toybox", "xonsh", "yash",   "zsh"};
    const char *slash = strrchr(program, '/');
    for (size_t i = 0; i < sizeof(shells) / sizeof(shells[0]); i++)
        if (strcmp(shells[i], slash != NULL ? slash + 1 : program) == 0)
            return true;
    return false;
}

/* The option takes the next argument, whatever that is. A command that landed there would be handed all
 * others as its arguments, so a word of its own must be a shell that is known. */
static bool read_shell(const struct qs_args *args, struct qs_run_line *line, struct qs_buf *problem)
{
    const struct qs_opt_use *use = qs_args_last(args, "shell");
    const char *name = use != NULL ? use->value[0] : "none";
    struct qs_split_why why = {0};
    line->shell = strcmp(name, "none") != 0;
    if (use != NULL && qs_args_has(args, "no-shell"))
        return qs_args_fail(args, problem, qs_args_last(args, "no-shell")->arg, 0, "keep one of them",
                            "--shell asks for a shell, and --no-shell for none");
    if (strcmp(name, "default") == 0)
        name = "/bin/sh";
    bool split = !line->shell || qs_split(name, &line->shell_argv, &why);
    if (!line->shell || (split && (use->skip > 0 || is_shell(line->shell_argv.at[0]))))
        return true;
    if (use->skip > 0)
        return qs_args_fail(args, problem, use->at[0], use->skip + why.offset, NULL, "--shell: %s", why.what);
    return qs_args_fail(args, problem, use->at[0], 0,
                        "--shell default takes /bin/sh, and the commands follow it; =SHELL takes any program",
                        "--shell takes the name of a shell, and `%s` is not a known one", name);
}

static struct qs_run_command *add_command(struct qs_run_line *line, const char *text, size_t arg, size_t skip)
{
    line->commands = qs_grow(line->commands, line->command_count, sizeof(*line->commands));
    struct qs_run_command *c = &line->commands[line->command_count++];
    *c = (struct qs_run_command){.text = qs_strdup(text), .arg = arg, .skip = skip};
    return c;
}

/* --reference CMD is one more command, in front of all others. */
static bool read_reference(const struct qs_args *args, struct qs_run_line *line, struct qs_buf *problem)
{
    const struct qs_opt_use *use = qs_args_last(args, "reference"),
                            *name = qs_args_last(args, "reference-name");
    const struct qs_opt_use *baseline = qs_args_last(args, "baseline");
    if (use == NULL)
        return name == NULL || qs_args_fail(args, problem, name->arg, 0, "add --reference CMD",
                                            "--reference-name is for --reference");
    if (baseline != NULL)
        return qs_args_fail(args, problem, baseline->arg, 0, "keep one of them",
                            "--reference is already what the others are compared with");
    if (args->rest < args->argc)
        return qs_args_fail(
            args, problem, args->rest, 0, "quote each command",
            "with --reference there are several commands, but what follows `--` is a single one");
    add_command(line, use->value[0], use->at[0], use->skip)->name =
        qs_strdup(name != NULL ? name->value[0] : "reference");
    line->reference = true;
    return true;
}

/* Everything after "--" is one command, a word each. */
static bool read_rest(const struct qs_args *args, struct qs_run_line *line, struct qs_buf *problem)
{
    if (args->rest >= args->argc)
        return true;
    if (line->command_count > 0)
        return qs_args_fail(args, problem, args->rest, 0,
                            "quote each command, or give a single one after `--`",
                            "there are commands before `--` and one after it");
    QS_BUF(text);
    for (size_t i = args->rest; i < args->argc; i++)
        qs_buf_fmt(&text, "%s%s", i > args->rest ? " " : "", args->argv[i]);
    struct qs_run_command *c = add_command(line, text.data, args->rest, 0);
    c->words = true;
    for (size_t i = args->rest; i < args->argc && !line->shell; i++)
        qs_words_add(&c->argv, args->argv[i], strlen(args->argv[i]));
    return true;
}

static int by_place(const void *a, const void *b)
{
    const struct qs_run_command *x = a, *y = b;
    return x->arg < y->arg ? -1 : x->arg > y->arg;
}

/* --a CMD and plain arguments, in the order given. */
static bool read_commands(const struct qs_args *args, struct qs_run_line *line, struct qs_buf *problem)
{
    size_t first = line->command_count; /* after the reference */
    for (size_t i = 0; i < args->word_count; i++)
        add_command(line, args->argv[args->word[i]], args->word[i], 0);
    for (size_t i = 0; i < args->use_count; i++) {
        const struct qs_opt_use *use = &args->use[i];
        if (!use->opt->letters)
            continue;
        char name[2] = {use->letter, '\0'};
        for (size_t k = 0; k < line->command_count; k++)
            if (line->commands[k].name != NULL && strcmp(line->commands[k].name, name) == 0)
                return qs_args_fail(args, problem, use->arg, 0, "give each arm its own letter",
                                    "--%s is given twice", name);
        add_command(line, use->value[0], use->at[0], use->skip)->name = qs_strdup(name);
    }
    if (line->command_count > first + 1)
        qsort(line->commands + first, line->command_count - first, sizeof(*line->commands), by_place);
    if (!read_rest(args, line, problem))
        return false;
    if (line->command_count == first)
        return qs_args_fail(args, problem, args->argc, 0,
                            "quiesce run -- COMMAND [ARGUMENTS], or quiesce run 'COMMAND' 'COMMAND'",
                            "there is no command to measure");
    if (line->command_count > QS_RUN_ARMS_MAX)
        return qs_args_fail(args, problem, line->commands[QS_RUN_ARMS_MAX].arg, 0, NULL,
                            "more than %d commands", QS_RUN_ARMS_MAX);
    return true;
}

static bool say_split(const struct qs_args *args, const struct qs_run_command *c,
                      const struct qs_split_why *why, struct qs_buf *problem)
{
    const char *advice = why->assigns ? "write --env NAME=VALUE instead, or add --shell default"
                         : why->shell
                             ? "commands are split without a shell: quote the sign, or add --shell default"
                             : NULL;
    return qs_args_fail(args, problem, c->arg, c->skip + why->offset, advice, "%s", why->what);
}

static bool split_commands(const struct qs_args *args, struct qs_run_line *line, struct qs_buf *problem)
{
    for (size_t i = 0; i < line->command_count; i++) {
        struct qs_run_command *c = &line->commands[i];
        struct qs_split_why why;
        if (line->shell) {
            for (size_t k = 0; k < line->shell_argv.count; k++)
                qs_words_add(&c->argv, line->shell_argv.at[k], strlen(line->shell_argv.at[k]));
            qs_words_add(&c->argv, "-c", 2);
            qs_words_add(&c->argv, c->text, strlen(c->text));
        } else if (!c->words && !qs_split(c->text, &c->argv, &why)) {
            return say_split(args, c, &why, problem);
        }
    }
    return true;
}

bool qs_run_is_builtin(const char *name)
{
    static const char *const builtins[] = {"cd",     "export", "source", ".",    "alias", "set", "unset",
                                           "ulimit", "umask",  "eval",   "exec", "exit",  "if",  "for",
                                           "while",  "until",  "case",   "time", "{"};
    for (size_t i = 0; i < sizeof(builtins) / sizeof(builtins[0]); i++)
        if (strcmp(builtins[i], name) == 0)
            return true;
    return false;
}

/* Whether execvp would find it. A name that a parameter fills in is left to the agent, and so is everything
 * where --env PATH or --dir change where to look. */
static bool is_found(const struct qs_args *args, const char *name)
{
    struct stat st;
    const char *dirs = getenv("PATH");
    bool found =
        strchr(name, '{') != NULL || strchr(name, '/') != NULL || qs_args_has(args, "env") || dirs == NULL;
    QS_BUF(path);
    while (!found && *dirs != '\0') {
        size_t n = strcspn(dirs, ":");
        qs_buf_clear(&path);
        qs_buf_fmt(&path, "%.*s/%s", n > 0 ? (int)n : 1, n > 0 ? dirs : ".", name);
        found = stat(path.data, &st) == 0 && S_ISREG(st.st_mode) && access(path.data, X_OK) == 0;
        dirs += n + (dirs[n] == ':');
    }
    return found;
}

static bool check_programs(const struct qs_args *args, const struct qs_run_line *line, struct qs_buf *problem)
{
    for (size_t i = 0; i < line->command_count && !line->shell && !line->on; i++) {
        const struct qs_run_command *c = &line->commands[i];
        if (is_found(args, c->argv.at[0]))
            continue;
        const char *advice = qs_run_is_builtin(c->argv.at[0]) ? "this is a shell builtin: add --shell default"
                             : c->words                       ? NULL
                                        : "each argument before `--` is a whole command: quote it, "
                                          "or write it after `--`";
        return qs_args_fail(args, problem, c->arg, c->skip, advice, "there is no program `%s` in PATH",
                            c->argv.at[0]);
    }
    return true;
}

static char *default_name(const struct qs_run_line *line, size_t i)
{
    const struct qs_run_command *c = &line->commands[i];
    i -= line->reference ? 1 : 0;
    if (line->command_count > 1)
        return i < 26 ? qs_asprintf("%c", (int)('a' + (int)i)) : qs_asprintf("arm%zu", i + 1);
    const char *program = line->shell ? c->text : c->argv.at[0];
    const char *slash = strrchr(program, '/');
    if (line->shell)
        return qs_strdup("command");
    return qs_strndup(slash != NULL && slash[1] != '\0' ? slash + 1 : program, 40);
}

static bool name_arms(const struct qs_args *args, struct qs_run_line *line, struct qs_buf *problem)
{
    size_t given = line->reference ? 1 : 0;
    bool of_values = line->command_count == 1 && line->param_count > 0; /* its values are the arms: doc.c */
    for (size_t i = 0; i < args->use_count && !of_values; i++) {
        const struct qs_opt_use *use = &args->use[i];
        if (strcmp(use->opt->name, "name") != 0)
            continue;
        if (given >= line->command_count)
            return qs_args_fail(args, problem, use->at[0], use->skip,
                                "give one name for each command, in order",
                                "there are more names than commands");
        if (use->value[0][0] == '\0' || strlen(use->value[0]) > 100)
            return qs_args_fail(args, problem, use->at[0], use->skip, NULL, "a name has 1 to 100 bytes");
        free(line->commands[given].name);
        line->commands[given++].name = qs_strdup(use->value[0]);
    }
    for (size_t i = 0; i < line->command_count; i++) {
        if (line->commands[i].name == NULL)
            line->commands[i].name = default_name(line, i);
        for (size_t k = 0; k < i; k++)
            if (strcmp(line->commands[k].name, line->commands[i].name) == 0)
                return qs_args_fail(args, problem, line->commands[i].arg, line->commands[i].skip,
                                    "give each its own with --name", "two arms have the name `%s`",
                                    line->commands[i].name);
    }
    return true;
}

/* A command that landed there would be taken for a device. */
static bool read_on(const struct qs_args *args, struct qs_buf *problem)
{
    const struct qs_opt_use *use = qs_args_last(args, "on");
    return use == NULL || use->value[0] == NULL ||
           (use->value[0][0] != '\0' && strchr(use->value[0], '/') == NULL) ||
           qs_args_fail(args, problem, use->at[0], use->skip,
                        "write --on DEVICE, or --on behind the commands for the only device that there is",
                        "--on takes a device, and `%s` is none", use->value[0]);
}

bool qs_run_read(const struct qs_args *args, struct qs_run_line *line, struct qs_buf *problem)
{
    *line = (struct qs_run_line){.on = qs_args_has(args, "on")};
    return read_on(args, problem) && read_shell(args, line, problem) && read_reference(args, line, problem) &&
           read_commands(args, line, problem) && split_commands(args, line, problem) &&
           qs_run_read_params(args, line, problem) && check_programs(args, line, problem) &&
           name_arms(args, line, problem) && qs_run_read_pushes(args, line, problem);
}

void qs_run_done(struct qs_run_line *line)
{
    for (size_t i = 0; i < line->command_count; i++) {
        free(line->commands[i].name);
        free(line->commands[i].text);
        qs_words_done(&line->commands[i].argv);
    }
    free(line->commands);
    for (size_t i = 0; i < line->param_count; i++) {
        free(line->params[i].name);
        qs_words_done(&line->params[i].values);
    }
    qs_words_done(&line->shell_argv);
    qs_run_pushes_done(line);
    *line = (struct qs_run_line){0};
}
