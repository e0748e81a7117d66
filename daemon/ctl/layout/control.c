/* What a session changed on its device, file by file, and whether it was put back. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "ctl/client/api.h"
#include "ctl/layout/layout.h"

struct file {
    const json_t *first;   /* that set it, since it was last put back; borrowed, as the next two */
    const json_t *set;     /* the last that did; NULL, as the first: none */
    const json_t *restore; /* that put it back after it, or NULL */
};
struct files {
    struct file *at; /* owned */
    size_t count, changed, back;
    bool runs; /* the session has not ended */
};

static const char *said(const json_t *change, const char *key)
{
    return qs_json_get_text(change, key, "");
}

static bool is(const json_t *change, const char *outcome)
{
    return strcmp(said(change, "outcome"), outcome) == 0;
}

/* It may say something else than before: of a driver that did not answer nobody knows. */
static bool has_changed(const struct file *f)
{
    return f->set == NULL || is(f->set, "set") || is(f->set, "slipped") || is(f->set, "timeout") ||
           f->restore != NULL;
}

static bool is_back(const struct file *f)
{
    return f->restore != NULL && (is(f->restore, "set") || is(f->restore, "same"));
}

static struct file *file_of(struct files *files, const char *path)
{
    for (size_t i = 0; i < files->count; i++) {
        const struct file *f = &files->at[i];
        if (strcmp(said(f->set != NULL ? f->set : f->restore, "path"), path) == 0)
            return &files->at[i];
    }
    files->at = qs_grow(files->at, files->count, sizeof(*files->at));
    files->at[files->count] = (struct file){0};
    return &files->at[files->count++];
}

/* What was set again after it was put back stands; what said so already was not changed by that, and no less
 * changed than before. */
static void take(struct file *f, const json_t *change)
{
    if (strcmp(said(change, "kind"), "restore") == 0) {
        f->restore = change;
        return;
    }
    bool again = f->set != NULL && f->restore == NULL;
    if (again && has_changed(f) && is(change, "same"))
        return;
    f->first = again ? f->first : change;
    f->set = change;
    f->restore = NULL;
}

static struct files gather(const json_t *control)
{
    struct files files = {.runs = qs_json_get_int(control, "ended_wall_ns", 0) <= 0};
    size_t i;
    const json_t *change;
    json_array_foreach(json_object_get(control, "changes"), i, change)
    {
        take(file_of(&files, said(change, "path")), change);
    }
    for (i = 0; i < files.count; i++) {
        files.changed += has_changed(&files.at[i]) ? 1 : 0;
        files.back += has_changed(&files.at[i]) && is_back(&files.at[i]) ? 1 : 0;
    }
    return files;
}

static const char *path_of(const struct file *f)
{
    return said(f->set != NULL ? f->set : f->restore, "path");
}

/* What it said before the session. */
static const char *old_of(const struct file *f)
{
    return f->first != NULL ? said(f->first, "before") : said(f->restore, "wanted");
}

static const char *result_of(const struct files *files, const struct file *f)
{
    if (!has_changed(f))
        return is(f->set, "same") ? "was so already" : "left as it was";
    if (is_back(f))
        return "put back";
    if (f->restore != NULL)
        return "NOT put back";
    return files->runs ? "stands" : "not seen put back";
}

/* The last two parts of a path tell a file for people: all of it where there are no more. */
static const char *tail(const char *path)
{
    const char *last = strrchr(path, '/'), *from = last;
    while (from != NULL && from > path && from[-1] != '/')
        from--;
    return from != NULL ? from : path;
}

static void print_files(const struct qs_layout *layout, const struct files *files, struct qs_buf *out)
{
    enum { NARROW_CELLS = 60 };
    static const struct qs_grid_column columns[] = {{.title = "file", .most = 48},
                                                    {.title = "was", .keep = 2, .most = 24},
                                                    {.title = "wanted", .keep = 1, .most = 24},
                                                    {.title = "result"}};
    bool wide = layout->face.width >= NARROW_CELLS;
    QS_SCOPED(qs_grid_done) struct qs_grid grid = {0};
    qs_grid_init(&grid, columns, sizeof(columns) / sizeof(columns[0]));
    for (size_t i = 0; i < files->count; i++) {
        const struct file *f = &files->at[i];
        QS_BUF(text);
        qs_buf_fmt(&text, "%s: %s", tail(path_of(f)), result_of(files, f));
        qs_grid_cell(&grid, tail(path_of(f)));
        qs_grid_cell(&grid, old_of(f));
        qs_grid_cell(&grid, f->set != NULL ? said(f->set, "wanted") : "");
        qs_grid_cell(&grid, result_of(files, f));
        if (!wide)
            qs_face_wrap(&layout->face, out, "  ", text.data, QS_INK_PLAIN);
    }
    if (wide)
        qs_grid_print(&grid, &layout->face, "  ", out);
}

/* "it cannot be written (Permission denied)" */
static void add_outcome(const json_t *change, struct qs_buf *out)
{
    static const char *const words[][2] = {
        {"refused", "it cannot be written"},     {"timeout", "its driver did not answer"},
        {"unreadable", "it cannot be read"},     {"missing", "there is no such file"},
        {"forbidden", "it is outside of sysfs"}, {"unjournalled", "the device could not note what it said"}};
    const char *text = said(change, "outcome");
    int64_t error = qs_json_get_int(change, "error", 0);
    if (is(change, "slipped")) {
        qs_buf_fmt(out, "it says %s", said(change, "now"));
        return;
    }
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        text = strcmp(text, words[i][0]) == 0 ? words[i][1] : text;
    qs_buf_str(out, text);
    if (error > 0 && error < 4096)
        qs_buf_fmt(out, " (%s)", strerror((int)error));
}

/* What did not go as it should, file by file, and what is to be done by hand. */
static void print_trouble(const struct qs_layout *layout, const struct files *files, const struct file *f,
                          struct qs_buf *out)
{
    QS_BUF(text);
    if (f->set != NULL && !is(f->set, "set") && !is(f->set, "same")) {
        qs_buf_fmt(&text, "/sys/%s did not take %s: ", path_of(f), said(f->set, "wanted"));
        add_outcome(f->set, &text);
        qs_face_wrap(&layout->face, out, "- ", text.data, QS_INK_PLAIN);
    }
    if (!has_changed(f) || is_back(f) || files->runs)
        return;
    qs_buf_clear(&text);
    qs_buf_fmt(&text, "/sys/%s was not ", path_of(f));
    qs_buf_str(&text, f->restore != NULL ? "put back: " : "seen put back");
    if (f->restore != NULL)
        add_outcome(f->restore, &text);
    qs_face_wrap(&layout->face, out, "- ", text.data, QS_INK_WARN);
}

void qs_layout_left(const json_t *control, qs_left_file *fn, void *user)
{
    struct files files = gather(control);
    for (size_t i = 0; i < files.count && !files.runs; i++)
        if (has_changed(&files.at[i]) && !is_back(&files.at[i]))
            fn(path_of(&files.at[i]), old_of(&files.at[i]), user);
    free(files.at);
}

/* What its agent has in its journal, by its own words when it came. */
static void put_journal(const struct qs_layout *layout, const json_t *device, struct qs_buf *out)
{
    static const char mark[] = "; not put back: ";
    const char *journal = said(json_object_get(device, "facts"), "control.journal");
    const char *left = strstr(journal, mark);
    QS_BUF(text);
    if (left == NULL)
        return;
    qs_buf_fmt(&text, "its agent came with this still to be put back: %s", left + sizeof(mark) - 1);
    qs_face_wrap(&layout->face, out, "- ", text.data, QS_INK_WARN);
}

void qs_layout_control(const struct qs_layout *layout, const json_t *device, struct qs_buf *out)
{
    QS_BUF(text);
    const json_t *control = json_object_get(device, "control");
    if (!json_is_object(control)) {
        qs_face_wrap(&layout->face, out, "",
                     "Nothing is changed on it right now, and no session has changed anything.", QS_INK_BOLD);
        put_journal(layout, device, out);
        return;
    }
    struct files files = gather(control);
    size_t left = files.changed - files.back;
    qs_buf_str(&text, left > 0 ? "Changed right now: job" : "Nothing is changed on it right now. Job");
    qs_buf_fmt(&text, " %" PRId64 " %s", qs_json_get_int(control, "job", 0),
               files.runs ? "has changed " : "changed ");
    qs_layout_count(&text, (int64_t)files.changed, "file", "files");
    if (files.changed > 0 && left == 0)
        qs_buf_str(&text, files.changed == 1 ? ", and it was put back" : ", all were put back");
    else if (files.changed > 0 && files.runs)
        qs_buf_fmt(&text, " and will put %s back at its end", files.changed == 1 ? "it" : "them");
    else if (left > 0)
        qs_buf_fmt(&text, ", %zu %s put back", left, left == 1 ? "was not" : "were not");
    qs_face_wrap(&layout->face, out, "", text.data, left > 0 && !files.runs ? QS_INK_BAD : QS_INK_BOLD);
    put_journal(layout, device, out);
    print_files(layout, &files, out);
    for (size_t i = 0; i < files.count; i++)
        print_trouble(layout, &files, &files.at[i], out);
    free(files.at);
}
