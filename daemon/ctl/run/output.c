/* Where `quiesce run` lets the commands print to: hyperfine's words, and those of a job file. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "ctl/run/run.h"

/* The absolute path of a file that is there and may be written, or that its folder takes; NULL with errno.
 * The folder's own: the file may be a link, and is to stay one. */
static char *writable(const char *path)
{
    const char *slash = strrchr(path, '/');
    char folder[PATH_MAX], *upper = qs_strndup(path, (size_t)(slash - path) + 1), *full = NULL;
    struct stat st;
    if (slash[1] == '\0')
        errno = EISDIR;
    else if (realpath(upper, folder) != NULL)
        full = qs_asprintf("%s/%s", strcmp(folder, "/") == 0 ? "" : folder, slash + 1);
    free(upper);
    if (full == NULL)
        return NULL;
    bool there = stat(full, &st) == 0;
    if (there && S_ISDIR(st.st_mode))
        errno = EISDIR;
    else if (there ? access(full, W_OK) == 0 : errno == ENOENT && access(folder, W_OK | X_OK) == 0)
        return full;
    int error = errno;
    free(full);
    errno = error;
    return NULL;
}

/* A file has a slash in its name, as with hyperfine: words may be added. That of another device is for it to
 * say. */
static json_t *read_where(const struct qs_args *args, const struct qs_opt_use *use, bool on,
                          struct qs_buf *problem)
{
    static const char *const kept[] = {"pipe", "capture", "inherit"}, *const lost[] = {"null", "discard"};
    const char *where = use->value[0];
    for (size_t i = 0; i < 3; i++)
        if (strcmp(where, kept[i]) == 0)
            return json_string("capture");
    for (size_t i = 0; i < 2; i++)
        if (strcmp(where, lost[i]) == 0)
            return json_string("discard");
    if (strchr(where, '/') == NULL) {
        qs_args_fail(args, problem, use->at[0], use->skip,
                     "write null, pipe or inherit; or ./NAME for a file",
                     "--output: `%s` is not one of its values", where);
        return NULL;
    }
    QS_FREED char *path = on ? qs_strdup(where) : writable(where);
    json_t *file = path != NULL ? json_pack("{s:s}", "file", path) : NULL;
    if (path == NULL)
        qs_args_fail(args, problem, use->at[0], use->skip, NULL, "--output: cannot write %s: %s", where,
                     strerror(errno));
    else if (file == NULL)
        qs_args_fail(args, problem, use->at[0], use->skip, "a job is JSON, which is UTF-8",
                     "this is not UTF-8 text");
    return file;
}

bool qs_run_add_output(const struct qs_args *args, const struct qs_run_line *line, json_t *b,
                       struct qs_buf *problem)
{
    const struct qs_opt_use *first = NULL, *show = qs_args_last(args, "show-output");
    json_t *where = NULL;
    bool ok = true;
    for (size_t i = 0; i < args->use_count && ok; i++) {
        const struct qs_opt_use *use = &args->use[i];
        if (strcmp(use->opt->name, "output") != 0)
            continue;
        json_decref(where);
        where = read_where(args, use, line->on, problem);
        ok = where != NULL;
        if (ok && first != NULL && strcmp(first->value[0], use->value[0]) != 0)
            ok = qs_args_fail(args, problem, use->arg, 0,
                              "give one for all commands; for a file each, --shell default 'COMMAND > FILE'",
                              "arms whose output goes to different places are not compared");
        first = first != NULL ? first : use;
    }
    if (ok && show != NULL && json_is_object(where))
        ok = qs_args_fail(args, problem, show->arg, 0, "keep one of them",
                          "what goes to a file is not kept, and cannot be shown");
    if (ok && (show != NULL || where == NULL)) {
        json_decref(where);
        where = json_string(show != NULL ? "capture" : "discard");
    }
    if (ok && !qs_args_has(args, "stream"))
        json_object_set(b, "output", where);
    json_decref(where);
    return ok;
}
