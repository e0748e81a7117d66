/* Files of the board that are changed for a while, as a supervisor does it for the agent: what stood there is
 * kept first (in memory: this device's disk), and put back on request, when the lease ends, or after a
 * reboot. */
#include "sim/impl.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/msg_control.h"
#include "proto/names.h"

#define MS_NS INT64_C(1000000)

enum { ANSWER_NS = 100000, HAND_MS = 2000 /* for one file of a driver */ };
/* An entry's turn, while everything is put back. */
enum { FRESH, LATER, TRIED };

static struct qs_sim_bed *bed_of(void *ctx)
{
    return ((struct qs_sim *)ctx)->options.bed;
}

static int64_t slow_ms(struct qs_sim *sim, const char *path)
{
    char whole[QS_PORT_KNOB_BYTES + 8];
    snprintf(whole, sizeof whole, "sys/%s", path);
    return qs_vboard_slow_ms(qs_sim_board(sim), whole);
}

static void ask(struct qs_sim *sim, enum qs_sim_asked what, const char *path, const char *value)
{
    struct qs_sim_question *q = &bed_of(sim)->question;
    int64_t ms = path[0] ? slow_ms(sim, path) : 0;
    q->what = what;
    q->due_ns = sim->now_ns + ANSWER_NS + (ms < HAND_MS ? ms : HAND_MS) * MS_NS;
    snprintf(q->path, sizeof q->path, "%s", path);
    snprintf(q->value, sizeof q->value, "%s", value);
}

static void op_tune(void *ctx, const char *path, const char *value, uint8_t flags)
{
    bed_of(ctx)->question.flags = flags;
    ask(ctx, QS_SIM_TUNE, path, value);
}

static void op_look(void *ctx, const char *path, const char *value)
{
    ask(ctx, QS_SIM_LOOK, path, value);
}

static void op_restore(void *ctx, bool first)
{
    bed_of(ctx)->question.first = first;
    ask(ctx, QS_SIM_RESTORE, "", "");
}

static void op_lease(void *ctx, uint32_t id, int64_t ns)
{
    struct qs_sim *sim = ctx;
    bed_of(sim)->grant = id;
    bed_of(sim)->lease_end_ns = ns > 0 ? sim->now_ns + ns : INT64_MAX;
}

const struct qs_port_control qs_sim_control_port = {
    .tune = op_tune, .look = op_look, .restore = op_restore, .lease = op_lease};

/* The same text, or the same number. */
static bool same(const char *a, const char *b)
{
    char *a_end;
    char *b_end;
    long long x = strtoll(a, &a_end, 10);
    long long y = strtoll(b, &b_end, 10);
    bool numbers = a_end != a && *a_end == '\0' && b_end != b && *b_end == '\0';
    return strcmp(a, b) == 0 || (numbers && x == y);
}

static bool stands(const struct qs_port_controlled *file)
{
    return file->outcome == QS_TUNE_SET || file->outcome == QS_TUNE_SAME;
}

static void say(char text[QS_PORT_SAID_BYTES], const char *value)
{
    snprintf(text, QS_PORT_SAID_BYTES, "%.*s", QS_PORT_SAID_BYTES - 1, value);
}

/* False: *file says why. Of "low [middle] high" it is the chosen word, which is what such a file is given. */
static bool look_at(struct qs_sim *sim, const char *path, char value[QS_PORT_KNOB_BYTES],
                    struct qs_port_controlled *file)
{
    int n = qs_sim_file_read(sim, path, value, QS_PORT_KNOB_BYTES);
    bool late = slow_ms(sim, path) >= HAND_MS;
    file->error = n < 0 && !late ? -n : 0;
    file->outcome = (uint8_t)(late           ? QS_TUNE_TIMEOUT
                              : n >= 0       ? QS_TUNE_SET
                              : n == -ENOENT ? QS_TUNE_MISSING
                                             : QS_TUNE_UNREADABLE);
    char *open = n < 0 ? NULL : strchr(value, '[');
    char *shut = open ? strchr(open, ']') : NULL;
    if (shut) {
        memmove(value, open + 1, (size_t)(shut - open - 1));
        value[shut - open - 1] = '\0';
    }
    return file->outcome == QS_TUNE_SET;
}

static bool write_to(struct qs_sim *sim, const char *path, const char *value, struct qs_port_controlled *file)
{
    char whole[QS_PORT_KNOB_BYTES + 8];
    snprintf(whole, sizeof whole, "sys/%s", path);
    int error = qs_vboard_write(qs_sim_board(sim), whole, 0, value, strlen(value));
    file->error = -error;
    file->outcome = (uint8_t)(error == 0 ? QS_TUNE_SET : QS_TUNE_REFUSED);
    return error == 0;
}

static void read_back(struct qs_sim *sim, const char *path, const char *value,
                      struct qs_port_controlled *file)
{
    char now[QS_PORT_KNOB_BYTES];
    if (look_at(sim, path, now, file)) {
        say(file->after, now);
        file->outcome = same(now, value) ? QS_TUNE_SET : QS_TUNE_SLIPPED;
    } else if (file->outcome != QS_TUNE_TIMEOUT) {
        file->outcome = QS_TUNE_SLIPPED;
    }
}

/* What said at first what it was to say was not written, and is kept only in case it has to be: by then it
 * may say something that is nobody's wish, such as a limit that heat sets. */
static void note_same(struct qs_sim_bed *bed, const char *path, const char *value)
{
    size_t i = 0;
    while (i < bed->same_count && strcmp(bed->same[i].path, path) != 0) {
        i++;
    }
    if (i == bed->same_count && i < QS_SIM_KNOBS_MAX) {
        snprintf(bed->same[i].path, sizeof bed->same[i].path, "%s", path);
        snprintf(bed->same[i].value, sizeof bed->same[i].value, "%s", value);
        bed->same_count++;
    }
}

static const char *at_first(const struct qs_sim_bed *bed, const char *path, const char *value)
{
    for (size_t i = 0; i < bed->same_count; i++) {
        value = strcmp(bed->same[i].path, path) == 0 ? bed->same[i].value : value;
    }
    return value;
}

/* False: there is no room for it. The first value of a path stays. */
static bool keep(struct qs_sim_bed *bed, const char *path, const char *value, uint8_t flags)
{
    size_t i = 0;
    while (i < bed->knob_count && strcmp(bed->knobs[i].path, path) != 0) {
        i++;
    }
    if (i == QS_SIM_KNOBS_MAX) {
        return false;
    }
    struct qs_sim_knob *knob = &bed->knobs[i];
    if (i == bed->knob_count) {
        *knob = (struct qs_sim_knob){.turn = FRESH};
        snprintf(knob->path, sizeof knob->path, "%s", path);
        snprintf(knob->value, sizeof knob->value, "%s", value);
        bed->knob_count++;
    }
    knob->flags |= flags;
    return true;
}

static void release(struct qs_sim_bed *bed, size_t i)
{
    bed->knob_count--;
    memmove(&bed->knobs[i], &bed->knobs[i + 1], (bed->knob_count - i) * sizeof bed->knobs[i]);
}

static void tune(struct qs_sim *sim, const struct qs_sim_question *q, struct qs_port_controlled *file)
{
    char value[QS_PORT_KNOB_BYTES];
    struct qs_sim_bed *bed = bed_of(sim);
    snprintf(bed->restored, sizeof bed->restored, "none"); /* a new story begins */
    if (!look_at(sim, q->path, value, file)) {
        return;
    }
    say(file->before, value);
    if (same(value, q->value)) {
        file->outcome = QS_TUNE_SAME;
        note_same(bed, q->path, value);
    } else if (!(q->flags & QS_TUNE_TRANSIENT) &&
               !keep(bed, q->path, at_first(bed, q->path, value), q->flags)) {
        file->outcome = QS_TUNE_UNJOURNALLED;
        file->error = ENOSPC;
    } else {
        write_to(sim, q->path, q->value, file);
    }
}

static void put_back(struct qs_sim *sim, const struct qs_sim_knob *knob, struct qs_port_controlled *file)
{
    char now[QS_PORT_KNOB_BYTES];
    *file = (struct qs_port_controlled){.end = false};
    snprintf(file->path, sizeof file->path, "%s", knob->path);
    say(file->before, knob->value);
    if (look_at(sim, knob->path, now, file)) {
        say(file->after, now);
        file->outcome = same(now, knob->value) ? QS_TUNE_SAME : QS_TUNE_SLIPPED;
    }
    if ((file->outcome == QS_TUNE_SLIPPED || file->outcome == QS_TUNE_UNREADABLE) &&
        write_to(sim, knob->path, knob->value, file)) {
        read_back(sim, knob->path, knob->value, file);
    }
}

static size_t last_of(const struct qs_sim_bed *bed, uint8_t turn)
{
    size_t i = bed->knob_count;
    while (i > 0 && bed->knobs[i - 1].turn != turn) {
        i--;
    }
    return i;
}

static void begin_restore(struct qs_sim_bed *bed)
{
    for (size_t i = 0; i < bed->knob_count; i++) {
        bed->knobs[i].turn = FRESH;
    }
}

/* The newest first; one that is refused has a second turn behind all others, since it may wait for one of
 * them. False: each has had its turns. */
static bool restore_next(struct qs_sim *sim, struct qs_port_controlled *file)
{
    struct qs_sim_bed *bed = bed_of(sim);
    for (;;) {
        size_t i = last_of(bed, FRESH);
        bool fresh = i > 0;
        i = fresh ? i : last_of(bed, LATER);
        if (i == 0) {
            return false;
        }
        struct qs_sim_knob *knob = &bed->knobs[i - 1];
        put_back(sim, knob, file);
        bool waits = file->outcome == QS_TUNE_REFUSED || file->outcome == QS_TUNE_SLIPPED;
        knob->turn = fresh && waits && bed->knob_count > 1 ? LATER : TRIED;
        bool over = knob->turn == TRIED;
        if (stands(file)) {
            release(bed, i - 1);
        }
        if (over) {
            return true;
        }
    }
}

void qs_sim_knobs_answer(struct qs_sim *sim)
{
    struct qs_sim_bed *bed = bed_of(sim);
    struct qs_sim_question *q = &bed->question;
    q->due_ns = INT64_MAX;
    bed->answer = (struct qs_port_controlled){.end = false};
    if (q->what == QS_SIM_TUNE) {
        tune(sim, q, &bed->answer);
    } else if (q->what == QS_SIM_LOOK) {
        read_back(sim, q->path, q->value, &bed->answer);
    } else {
        if (q->first) {
            begin_restore(bed);
        }
        bed->answer.end = !restore_next(sim, &bed->answer);
        bed->lease_end_ns = bed->answer.end ? INT64_MAX : bed->lease_end_ns;
        bed->same_count = bed->answer.end ? 0 : bed->same_count;
    }
    qs_agent_on_control(&sim->agent, &bed->answer);
}

static void append(char *note, const char *text)
{
    size_t n = strlen(note);
    snprintf(note + n, QS_SIM_NOTE_BYTES - n, "%s", text);
}

/* All of it, unasked. */
static void restore_all(struct qs_sim *sim, const char *why)
{
    struct qs_sim_bed *bed = bed_of(sim);
    struct qs_port_controlled file;
    char list[QS_SIM_NOTE_BYTES] = "";
    unsigned done = 0;
    unsigned all = 0;
    bed->lease_end_ns = INT64_MAX;
    bed->same_count = 0;
    if (bed->knob_count == 0) {
        return;
    }
    begin_restore(bed);
    while (restore_next(sim, &file)) {
        char part[2 * QS_PORT_KNOB_BYTES];
        bool back = stands(&file);
        snprintf(part, sizeof part, "%s%s%s=%s%s%s%s", all ? ", " : ": ", back ? "" : "not ", file.path,
                 file.before, back ? "" : " (",
                 back ? "" : qs_tune_outcome_name((enum qs_tune_outcome)file.outcome), back ? "" : ")");
        append(list, part);
        done += back;
        all++;
    }
    snprintf(bed->restored, sizeof bed->restored, "%u of %u, because %s", done, all, why);
    append(bed->restored, list);
}

void qs_sim_knobs_lease_end(struct qs_sim *sim)
{
    restore_all(sim, "the host was not heard for as long as its lease");
    qs_agent_on_lease_end(&sim->agent, bed_of(sim)->grant);
}

/* What a reboot does not undo still stands, and is put back; all else has gone by itself. */
void qs_sim_knobs_reboot(struct qs_sim *sim)
{
    struct qs_sim_bed *bed = bed_of(sim);
    char stood[QS_SIM_KNOBS_MAX][QS_PORT_KNOB_BYTES];
    struct qs_port_controlled file;
    size_t n = 0;
    for (size_t i = 0; i < bed->knob_count; i++) {
        if ((bed->knobs[i].flags & QS_TUNE_PERSISTENT) && look_at(sim, bed->knobs[i].path, stood[n], &file)) {
            bed->knobs[n++] = bed->knobs[i];
        }
    }
    bed->knob_count = n;
    bed->question.due_ns = INT64_MAX;
    qs_vboard_restart(qs_sim_board(sim), &bed->at_boot);
    for (size_t i = 0; i < n; i++) {
        write_to(sim, bed->knobs[i].path, stood[i], &file);
    }
    restore_all(sim, "the device was restarted before the agent could do it");
}
