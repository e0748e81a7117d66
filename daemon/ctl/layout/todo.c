/* What to do about what a device lacks: each thing once, with what it is for. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "ctl/client/api.h"
#include "ctl/layout/layout.h"

struct todo {
    const struct qs_layout *layout;
    const char *name; /* of the device */
    struct qs_buf out;
    size_t count;
};

static const char *text_of(const json_t *object, const char *key)
{
    return qs_json_get_text(object, key, "");
}

static bool is(const json_t *object, const char *key, const char *value)
{
    return strcmp(text_of(object, key), value) == 0;
}

static void add(struct todo *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void add(struct todo *t, const char *fmt, ...)
{
    va_list ap;
    QS_BUF(text);
    va_start(ap, fmt);
    qs_buf_vfmt(&text, fmt, ap);
    va_end(ap);
    qs_face_wrap(&t->layout->face, &t->out, "- ", text.data, QS_INK_PLAIN);
    t->count++;
}

/* "policy0, policy4 and 3 more": what a thing is for. */
struct names {
    struct qs_buf text;
    size_t count;
};
enum { NAMES_MOST = 4 };

static void name(struct names *names, const char *one)
{
    names->count++;
    if (names->count <= NAMES_MOST)
        qs_buf_fmt(&names->text, "%s%s", names->count > 1 ? ", " : "", one);
}

static const char *all_of(struct names *names)
{
    if (names->count > NAMES_MOST)
        qs_buf_fmt(&names->text, " and %zu more", names->count - NAMES_MOST);
    return names->text.data;
}

/* ---- what may not be written, or read ---- */

static void name_denied(const json_t *board, struct names *written, struct names *read)
{
    size_t i, switches = 0;
    const json_t *one;
    char text[40];
    json_array_foreach(json_object_get(board, "domains"), i, one)
    {
        if (is(one, "hold", "denied"))
            name(written, text_of(one, "name"));
    }
    json_array_foreach(json_object_get(board, "switches"), i, one) switches +=
        qs_json_get_true(one, "writable") ? 0 : 1;
    snprintf(text, sizeof(text), "%zu %s", switches, switches == 1 ? "switch" : "switches");
    if (switches > 0)
        name(written, text);
    json_array_foreach(json_object_get(board, "sensors"), i, one)
    {
        if (is(one, "status", "unreadable") && strstr(text_of(one, "why"), "Permission denied") != NULL)
            name(read, text_of(one, "name"));
    }
}

/* Root, or less than that: a rule for the files alone. */
static void about_rights(struct todo *t, const json_t *device, const json_t *board)
{
    struct names written = {.count = 0}, read = {.count = 0};
    const json_t *facts = json_object_get(device, "facts");
    bool root = is(facts, "uid", "0"),
         phone = is(facts, "os", "Android") || text_of(facts, "fingerprint")[0] != '\0';
    qs_buf_init(&written.text);
    qs_buf_init(&read.text);
    name_denied(board, &written, &read);
    if (written.count + read.count > 0 && root)
        add(t, "Its agent is root, and yet some files are closed to it, by their mode or by SELinux: %s%s%s",
            written.count > 0 ? all_of(&written) : "", written.count > 0 && read.count > 0 ? ", " : "",
            read.count > 0 ? all_of(&read) : "");
    else if (written.count + read.count > 0)
        add(t, "Run its agent as root (%s)%s%s%s%s%s",
            phone ? "`adb root` before `adb shell`, or `su` on a phone that has it"
                  : "start it as root; or let a udev rule give its files to a group that the agent's user is "
                    "in: "
                    "RUN+=\"/bin/chgrp -R GROUP /sys%p\", and chmod g+w",
            written.count > 0 ? ", to set " : "", written.count > 0 ? all_of(&written) : "",
            written.count > 0 && read.count > 0 ? "," : "", read.count > 0 ? " to read " : "",
            read.count > 0 ? all_of(&read) : "");
    qs_buf_done(&written.text);
    qs_buf_done(&read.text);
}

/* ---- what a profile would have to say ---- */

static void about_clocks(struct todo *t, const json_t *board)
{
    size_t i;
    const json_t *one;
    json_array_foreach(json_object_get(board, "domains"), i, one)
    {
        if (!is(one, "hold", "ok") && !is(one, "hold", "denied") && !is(one, "hold", "avoided"))
            add(t, "Say in a profile how %s is held (`quiesce devices add %s` writes one to begin with): %s",
                text_of(one, "name"), t->name, text_of(one, "why"));
    }
}

static void about_sensors(struct todo *t, const json_t *device, const json_t *board)
{
    struct names bad = {.count = 0};
    size_t i;
    const json_t *one;
    qs_buf_init(&bad.text);
    json_array_foreach(json_object_get(board, "sensors"), i, one)
    {
        if (!is(one, "status", "ok") && !is(one, "status", "not-temperature") &&
            !is(one, "status", "unreadable"))
            name(&bad, text_of(one, "name"));
    }
    json_array_foreach(json_object_get(device, "models"), i, one)
    {
        if (is(one, "kind", "sensor") && !is(one, "says", "ok"))
            name(&bad, text_of(one, "sensor"));
    }
    if (bad.count > 0)
        add(t,
            "Reject in a profile what is no temperature, or declare its unit (`quiesce devices add %s` has "
            "the rows): %s",
            t->name, all_of(&bad));
    qs_buf_done(&bad.text);
}

/* ---- what nobody has found yet ---- */

static void about_findings(struct todo *t, const json_t *device)
{
    const json_t *knobs = json_object_get(device, "knobs"), *one;
    const char *fingerprint = text_of(device, "fingerprint");
    size_t i;
    bool cools = false, off = false;
    json_array_foreach(json_object_get(device, "models"), i, one) cools = cools || is(one, "kind", "cools");
    json_array_foreach(json_object_get(device, "refits"), i, one) off =
        off || text_of(one, "characterized")[0] != '\0';
    if (!json_is_object(knobs) || !is(knobs, "fingerprint", fingerprint))
        add(t,
            "Find out what stays as it is written: quiesce devices probe %s (the first job that changes "
            "something "
            "does it, too, unless the farm says `probe: never`)",
            t->name);
    if (!cools)
        add(t,
            "Find out how it warms up and cools down, for forecasts of gates and `frequency: sustained`: "
            "quiesce "
            "characterize %s",
            t->name);
    else if (off)
        add(t, "Find out anew how it cools down: quiesce characterize --again %s", t->name);
}

static void about_knobs(struct todo *t, const json_t *device)
{
    struct names bad = {.count = 0};
    size_t i;
    const json_t *one;
    qs_buf_init(&bad.text);
    json_array_foreach(json_object_get(json_object_get(device, "knobs"), "rows"), i, one)
    {
        bool untried = is(one, "sticks", "untried"),
             well = is(one, "sticks", "yes") || is(one, "sticks", "late");
        if (!untried && (!well || is(one, "effect", "no") || is(one, "effect", "claimed")))
            name(&bad, text_of(one, "name"));
    }
    if (bad.count > 0)
        add(t,
            "Leave these out of `conditions`, or stop the service that sets them again (on a phone the "
            "vendor's "
            "thermal or performance service), and probe again: %s",
            all_of(&bad));
    qs_buf_done(&bad.text);
}

static void on_left(const char *path, const char *before, void *user)
{
    add(user, "Write %s into /sys/%s, or restart the device",
        before[0] != '\0' ? before : "what it said before", path);
}

void qs_layout_todo(const struct qs_layout *layout, const json_t *device, struct qs_buf *out)
{
    struct todo t = {.layout = layout, .name = qs_json_get_text(device, "name", "DEVICE")};
    const json_t *board = json_object_get(device, "board");
    qs_buf_init(&t.out);
    qs_layout_left(json_object_get(device, "control"), on_left, &t);
    if (json_is_object(board)) {
        about_rights(&t, device, board);
        about_knobs(&t, device);
        about_clocks(&t, board);
        about_sensors(&t, device, board);
        about_findings(&t, device);
    }
    if (t.count > 0) {
        qs_buf_char(out, '\n');
        qs_face_wrap(&layout->face, out, "", "What to do", QS_INK_BOLD);
        qs_buf_add(out, t.out.data, t.out.len);
    }
    qs_buf_done(&t.out);
}
