/* `--on`: the files of this machine that the command line names, which go along by content. They lie in the
 * run's directory on the device, where the commands run, so that a word that names one by a path below here
 * stays as it is; any other becomes its name there. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/text.h"
#include "ctl/layout/layout.h"
#include "ctl/run/run.h"
#include "ctl/submit.h"
#include "proto/auth.h"

enum { LABEL_NAME_BYTES = 40, LABEL_SUM_BYTES = 12 };
static const size_t ALL = SIZE_MAX; /* commands */

static bool is_file(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

/* The path as a name below the run's directory; NULL: it leads elsewhere. */
static const char *inside(const char *path)
{
    while (strncmp(path, "./", 2) == 0)
        path += 2;
    for (const char *part = path;; part++) {
        size_t n = strcspn(part, "/");
        if (n == 0 || (n == 1 && part[0] == '.') || (n == 2 && memcmp(part, "..", 2) == 0))
            return NULL;
        part += n;
        if (*part == '\0')
            return path;
    }
}

static bool is_taken(const struct qs_run_line *line, const char *name, const struct qs_run_push *by)
{
    for (size_t i = 0; i < line->push_count; i++) {
        const struct qs_run_push *p = &line->pushes[i];
        bool together = !p->executable || !by->executable || p->command == by->command || p->command == ALL ||
                        by->command == ALL;
        if (together && strcmp(p->name, name) == 0 && strcmp(p->path, by->path) != 0)
            return true;
    }
    return false;
}

static char *name_of(const struct qs_run_line *line, const struct qs_run_push *push)
{
    const char *slash = strrchr(push->path, '/');
    const char *name = inside(push->path) != NULL ? inside(push->path)
                       : slash != NULL            ? slash + 1
                                                  : push->path;
    char *free_one = qs_strdup(name);
    for (size_t n = 2; is_taken(line, free_one, push); n++) {
        free(free_one);
        free_one = qs_asprintf("%zu/%s", n, name);
    }
    return free_one;
}

static const struct qs_run_push *find(const struct qs_run_line *line, const struct qs_run_push *like)
{
    for (size_t i = 0; i < line->push_count; i++) {
        const struct qs_run_push *p = &line->pushes[i];
        if (strcmp(p->path, like->path) == 0 && p->executable == like->executable &&
            (!p->executable || p->command == like->command || p->command == ALL))
            return p;
    }
    return NULL;
}

/* Its name there; NULL: it cannot be read. */
static const char *add(struct qs_run_line *line, const char *path, bool executable, size_t command,
                       struct qs_err *err)
{
    struct stat st;
    struct qs_run_push push = {.path = (char *)(uintptr_t)path, .executable = executable, .command = command};
    const struct qs_run_push *there = find(line, &push);
    if (there != NULL)
        return there->name;
    if (!qs_submit_hash(path, push.sha256, err))
        return NULL;
    push.bytes = stat(path, &st) == 0 ? (int64_t)st.st_size : 0;
    push.name = name_of(line, &push);
    push.path = qs_strdup(path);
    line->pushes = qs_grow(line->pushes, line->push_count, sizeof *line->pushes);
    line->pushes[line->push_count++] = push;
    return push.name;
}

/* A program without a slash in its name is the device's own. */
static bool add_word(const struct qs_args *args, struct qs_run_line *line, size_t command, size_t at,
                     struct qs_buf *problem)
{
    struct qs_run_command *c = &line->commands[command];
    char **word = &c->argv.at[at];
    struct qs_err err = QS_ERR_INIT;
    if ((at == 0 && strchr(*word, '/') == NULL) || !is_file(*word))
        return true;
    const char *name = add(line, *word, at == 0 || access(*word, X_OK) == 0, command, &err);
    if (name == NULL)
        return qs_args_fail(args, problem, c->arg, c->skip, "--no-push sends no files", "%s", err.text);
    const char *own = inside(*word);
    if (own == NULL || strcmp(own, name) != 0) {
        bool plain = at == 0 && strchr(name, '/') == NULL;
        free(*word);
        *word = qs_asprintf("%s%s", plain ? "./" : "", name);
    }
    return true;
}

static bool add_option(const struct qs_args *args, struct qs_run_line *line, const struct qs_opt_use *use,
                       struct qs_buf *problem)
{
    const char *path = use->value[0];
    struct qs_err err = QS_ERR_INIT;
    bool input = strcmp(use->opt->name, "input") == 0;
    errno = 0;
    if (input && !is_file(path))
        return true; /* the device's */
    return add(line, path, !input && access(path, X_OK) == 0, ALL, &err) != NULL ||
           qs_args_fail(args, problem, use->at[0], use->skip, NULL, "--%s: %s: %s", use->opt->name, path,
                        is_file(path) ? err.text
                        : errno != 0  ? strerror(errno)
                                      : "it is no regular file");
}

static bool check_options(const struct qs_args *args, const struct qs_run_line *line, struct qs_buf *problem)
{
    static const char *const names[] = {"push", "no-push"};
    for (size_t i = 0; i < 2 && !line->on; i++) {
        const struct qs_opt_use *use = qs_args_last(args, names[i]);
        if (use != NULL)
            return qs_args_fail(args, problem, use->arg, 0, "add --on DEVICE, or leave it out",
                                "--%s is for another device than this machine", names[i]);
    }
    const struct qs_opt_use *push = qs_args_last(args, "push");
    return push == NULL || !qs_args_has(args, "no-push") ||
           qs_args_fail(args, problem, push->arg, 0, "keep one of them",
                        "--push names a file to send, and --no-push sends none");
}

bool qs_run_read_pushes(const struct qs_args *args, struct qs_run_line *line, struct qs_buf *problem)
{
    if (!check_options(args, line, problem) || !line->on || qs_args_has(args, "no-push"))
        return problem->len == 0;
    for (size_t i = 0; i < args->use_count; i++) {
        const char *name = args->use[i].opt->name;
        if ((strcmp(name, "push") == 0 || strcmp(name, "input") == 0) &&
            !add_option(args, line, &args->use[i], problem))
            return false;
    }
    for (size_t i = 0; i < line->command_count && !line->shell; i++)
        for (size_t k = 0; k < line->commands[i].argv.count; k++)
            if (!add_word(args, line, i, k, problem))
                return false;
    const struct qs_opt_use *dir = qs_args_last(args, "dir");
    return dir == NULL || line->push_count == 0 ||
           qs_args_fail(args, problem, dir->arg, 0, "leave --dir out, or add --no-push",
                        "with --on the commands run in a directory of their own, where %s is",
                        line->pushes[0].name);
}

void qs_run_pushes_done(struct qs_run_line *line)
{
    for (size_t i = 0; i < line->push_count; i++) {
        free(line->pushes[i].path);
        free(line->pushes[i].name);
    }
    free(line->pushes);
    line->pushes = NULL;
    line->push_count = 0;
}

const char *qs_run_pushed(const struct qs_run_line *line, const char *path)
{
    for (size_t i = 0; i < line->push_count; i++)
        if (strcmp(line->pushes[i].path, path) == 0)
            return line->pushes[i].name;
    return path;
}

/* ---- in the job ---- */

/* The program's name and what all its files are: one label never stands for two contents. */
static json_t *label_of(const struct qs_run_line *line, size_t command)
{
    struct qs_sha256 sum;
    uint8_t digest[QS_SHA256_BYTES];
    char hex[2 * QS_SHA256_BYTES + 1];
    const char *first = NULL;
    QS_BUF(label);
    qs_sha256_init(&sum);
    for (size_t i = 0; i < line->push_count; i++) {
        const struct qs_run_push *p = &line->pushes[i];
        if (!p->executable || (p->command != command && p->command != ALL))
            continue;
        qs_sha256_add(&sum, p->name, strlen(p->name) + 1);
        qs_sha256_add(&sum, p->sha256, sizeof p->sha256);
        first = first == NULL || p->command == command ? p->name : first;
    }
    qs_sha256_final(&sum, digest);
    qs_hex(digest, sizeof digest, hex);
    const char *slash = strrchr(first, '/');
    const char *name = slash != NULL ? slash + 1 : first;
    for (size_t i = 0; name[i] != '\0' && i < LABEL_NAME_BYTES; i++) {
        bool plain =
            (name[i] >= '0' && name[i] <= '9') || ((name[i] | 0x20) >= 'a' && (name[i] | 0x20) <= 'z');
        qs_buf_char(&label, plain || (i > 0 && strchr("._-", name[i]) != NULL) ? name[i] : i > 0 ? '-' : 'x');
    }
    qs_buf_fmt(&label, "-%.*s", LABEL_SUM_BYTES, hex);
    return json_string(label.data);
}

static bool add_build(const struct qs_run_line *line, size_t command, json_t *arm)
{
    json_t *files = json_object();
    bool ok = true;
    for (size_t i = 0; i < line->push_count; i++) {
        const struct qs_run_push *p = &line->pushes[i];
        if (p->executable && (p->command == command || p->command == ALL))
            ok = ok && json_object_set_new(files, p->name, json_string(p->path)) == 0;
    }
    if (json_object_size(files) > 0)
        json_object_set_new(arm, "build",
                            json_pack("{s:o, s:O}", "label", label_of(line, command), "files", files));
    json_decref(files);
    return ok;
}

bool qs_run_add_pushes(const struct qs_run_line *line, json_t *benchmark, json_t *arms)
{
    json_t *inputs = json_object(), *arm;
    const char *name;
    size_t at = 0;
    bool ok = true;
    for (size_t i = 0; i < line->push_count; i++)
        if (!line->pushes[i].executable)
            ok = ok &&
                 json_object_set_new(inputs, line->pushes[i].name, json_string(line->pushes[i].path)) == 0;
    if (json_object_size(inputs) > 0)
        json_object_set(benchmark, "inputs", inputs);
    json_decref(inputs);
    json_object_foreach(arms, name, arm)
    {
        ok = add_build(line, line->command_count == 1 ? 0 : at, arm) && ok;
        at++;
    }
    return ok;
}

json_t *qs_run_push_list(const struct qs_run_line *line)
{
    json_t *files = json_array();
    for (size_t i = 0; i < line->push_count; i++)
        json_array_append_new(files, json_pack("{s:s}", "path", line->pushes[i].path));
    return json_pack("{s:o}", "files", files);
}

void qs_run_say_pushes(const struct qs_run_line *line, struct qs_buf *out)
{
    for (size_t i = 0; i < line->push_count; i++) {
        char size[32];
        bool again = false;
        for (size_t k = 0; k < i; k++)
            again = again || strcmp(line->pushes[k].path, line->pushes[i].path) == 0;
        qs_layout_bytes(size, (double)line->pushes[i].bytes);
        if (!again)
            qs_buf_fmt(out, "%s%s (%s)", i == 0 ? "takes along " : ", ", line->pushes[i].path, size);
    }
}
