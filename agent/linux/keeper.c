#include "linux/keeper.h"

#include "linux/io.h"
#include "proto/names.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#define HAND_NS     INT64_C(2000000000) /* for one file of a driver */
#define PATIENCE_NS INT64_C(5000000000) /* with an agent that should say that it lives */

/* An entry's turn, while everything is put back. */
enum { FRESH, LATER, TRIED };

/* What the text says: without the blanks around it, and of "low [middle] high" the chosen word, which is what
 * such a file is given. False: it is too long to be put back. */
static bool understand(const struct qs_hand_result *said, char ret[QS_JOURNAL_TEXT_BYTES])
{
    const char *from = said->text;
    const char *end = from + said->n;
    const char *open = memchr(from, '[', said->n);
    const char *shut = open ? memchr(open, ']', (size_t)(end - open)) : NULL;
    bool chosen = shut && shut > open + 1 && !memchr(open, ' ', (size_t)(shut - open)) &&
                  !memchr(shut, '[', (size_t)(end - shut)) &&
                  (open == from || isspace((unsigned char)open[-1])) &&
                  (shut + 1 == end || isspace((unsigned char)shut[1]));
    from = chosen ? open + 1 : from;
    end = chosen ? shut : end;
    while (from < end && isspace((unsigned char)*from)) {
        from++;
    }
    while (end > from && isspace((unsigned char)end[-1])) {
        end--;
    }
    size_t n = (size_t)(end - from);
    if (said->n == QS_HAND_TEXT_BYTES || n >= QS_JOURNAL_TEXT_BYTES || memchr(from, '\0', n)) {
        return false;
    }
    memcpy(ret, from, n);
    ret[n] = '\0';
    return true;
}

static bool is_number(const char *text, long long *value)
{
    char *end;
    errno = 0;
    *value = strtoll(text, &end, 10);
    return end != text && *end == '\0' && errno == 0;
}

/* The same text, or the same number. */
static bool same(const char *a, const char *b)
{
    long long x;
    long long y;
    return strcmp(a, b) == 0 || (is_number(a, &x) && is_number(b, &y) && x == y);
}

static void say(char text[QS_PORT_SAID_BYTES], const char *value)
{
    snprintf(text, QS_PORT_SAID_BYTES, "%.*s", QS_PORT_SAID_BYTES - 1, value);
}

static uint8_t outcome_of(const struct qs_hand_result *r, enum qs_tune_outcome failed)
{
    static const uint8_t outcomes[] = {[QS_HAND_DONE] = QS_TUNE_SET,
                                       [QS_HAND_MISSING] = QS_TUNE_MISSING,
                                       [QS_HAND_OUTSIDE] = QS_TUNE_FORBIDDEN,
                                       [QS_HAND_LATE] = QS_TUNE_TIMEOUT};
    return r->end == QS_HAND_FAILED ? (uint8_t)failed : outcomes[r->end];
}

/* Reads the file into value. False: *file says why. */
static bool look_at(struct qs_keeper *k, const char *path, char value[QS_JOURNAL_TEXT_BYTES],
                    struct qs_port_controlled *file)
{
    qs_hand_read(&k->hand, path, &k->result);
    file->outcome = outcome_of(&k->result, QS_TUNE_UNREADABLE);
    file->error = k->result.error;
    if (k->result.end == QS_HAND_DONE && !understand(&k->result, value)) {
        file->outcome = QS_TUNE_UNREADABLE;
        file->error = E2BIG;
    }
    return file->outcome == QS_TUNE_SET;
}

static bool write_to(struct qs_keeper *k, const char *path, const char *value,
                     struct qs_port_controlled *file)
{
    qs_hand_write(&k->hand, path, value, &k->result);
    file->outcome = outcome_of(&k->result, QS_TUNE_REFUSED);
    file->error = k->result.error;
    return file->outcome == QS_TUNE_SET;
}

/* What is there behind a write. A file that cannot be read any more does not say what it should. */
static void read_back(struct qs_keeper *k, const char *path, const char *value,
                      struct qs_port_controlled *file)
{
    char now[QS_JOURNAL_TEXT_BYTES];
    if (look_at(k, path, now, file)) {
        say(file->after, now);
        file->outcome = same(now, value) ? QS_TUNE_SET : QS_TUNE_SLIPPED;
    } else if (file->outcome != QS_TUNE_TIMEOUT) {
        file->outcome = QS_TUNE_SLIPPED;
    }
}

static void tune(struct qs_keeper *k, const struct qs_keeper_order *order, struct qs_port_controlled *file)
{
    char value[QS_JOURNAL_TEXT_BYTES];
    if (!look_at(k, order->path, value, file)) {
        return;
    }
    say(file->before, value);
    if (same(value, order->value)) {
        file->outcome = QS_TUNE_SAME;
    } else if (!k->on || !qs_journal_keep(&k->journal, order->path, value, order->flags)) {
        file->outcome = QS_TUNE_UNJOURNALLED;
        file->error = k->on ? errno : ENOTDIR;
    } else {
        write_to(k, order->path, order->value, file);
    }
}

/* True: it stands there again. */
static bool put_back(struct qs_keeper *k, const struct qs_journal_entry *e, struct qs_port_controlled *file)
{
    char now[QS_JOURNAL_TEXT_BYTES];
    *file = (struct qs_port_controlled){.end = false};
    snprintf(file->path, sizeof file->path, "%s", e->path);
    say(file->before, e->value);
    bool read = look_at(k, e->path, now, file);
    if (read) {
        say(file->after, now);
        file->outcome = same(now, e->value) ? QS_TUNE_SAME : QS_TUNE_SLIPPED;
    }
    if ((file->outcome == QS_TUNE_SLIPPED || file->outcome == QS_TUNE_UNREADABLE) &&
        write_to(k, e->path, e->value, file)) {
        read_back(k, e->path, e->value, file); /* it was read once, or it would never have been changed */
    }
    return file->outcome == QS_TUNE_SET || file->outcome == QS_TUNE_SAME;
}

/* The last entry that has this turn; count: none. */
static size_t last_of(const struct qs_journal_state *s, uint8_t turn)
{
    for (size_t i = s->count; i-- > 0;) {
        if (s->entries[i].turn == turn) {
            return i;
        }
    }
    return s->count;
}

static void begin_restore(struct qs_keeper *k)
{
    for (size_t i = 0; i < k->journal.state.count; i++) {
        k->journal.state.entries[i].turn = FRESH;
    }
}

/* One that is refused may be waiting for another one (a lower limit above the upper one): it has a second
 * turn behind all others. False: each has had its turns. */
static bool restore_next(struct qs_keeper *k, struct qs_port_controlled *file)
{
    struct qs_journal_state *s = &k->journal.state;
    for (;;) {
        bool fresh = last_of(s, FRESH) < s->count;
        size_t i = last_of(s, fresh ? FRESH : LATER);
        if (i == s->count) {
            return false;
        }
        bool done = put_back(k, &s->entries[i], file);
        bool waits = file->outcome == QS_TUNE_REFUSED || file->outcome == QS_TUNE_SLIPPED;
        s->entries[i].turn = fresh && waits && s->count > 1 ? LATER : TRIED;
        if (done) {
            qs_journal_release(&k->journal, i);
        }
        if (done || s->entries[i].turn == TRIED) {
            return true;
        }
    }
}

static void note_journal(struct qs_keeper *k, const char *state)
{
    char text[QS_JOURNAL_TEXT_BYTES + 64];
    const struct qs_journal_state *s = &k->journal.state;
    char *note = k->notes.journal;
    if (state) {
        snprintf(note, QS_KEEPER_NOTE_BYTES, "%.400s/control.journal%s", state,
                 s->damaged
                     ? ": damaged: what could be read of it was put back; look at the settings of this "
                       "device, or restart it"
                     : "");
    }
    char *open = strstr(note, "; not put back: ");
    if (open) {
        *open = '\0';
    }
    for (size_t i = s->count; i-- > 0;) {
        snprintf(text, sizeof text, "%s%s", i + 1 == s->count ? "; not put back: " : ", ",
                 s->entries[i].path);
        qs_io_append(note, QS_KEEPER_NOTE_BYTES, text);
    }
}

/* Behind the last one. */
static void end_restore(struct qs_keeper *k)
{
    k->lease_end_ns = 0;
    qs_hand_close(&k->hand);
    note_journal(k, NULL);
}

void qs_keeper_restore(struct qs_keeper *k, const char *why)
{
    struct qs_port_controlled file;
    char part[2 * QS_JOURNAL_TEXT_BYTES + 64];
    char list[QS_KEEPER_NOTE_BYTES] = "";
    unsigned done = 0;
    unsigned all = 0;
    k->lease_end_ns = 0;
    if (!k->on || k->journal.state.count == 0) {
        return;
    }
    begin_restore(k);
    while (restore_next(k, &file)) {
        bool stands = file.outcome == QS_TUNE_SET || file.outcome == QS_TUNE_SAME;
        snprintf(part, sizeof part, "%s%s%s=%s", all ? ", " : ": ", stands ? "" : "not ", file.path,
                 file.before);
        qs_io_append(list, sizeof list, part);
        if (!stands) {
            snprintf(part, sizeof part, " (%s%s%s)", qs_tune_outcome_name((enum qs_tune_outcome)file.outcome),
                     file.error ? ": " : "", file.error ? strerror(file.error) : "");
            qs_io_append(list, sizeof list, part);
        }
        done += stands;
        all++;
    }
    snprintf(k->notes.restored, sizeof k->notes.restored, "%u of %u, because %s", done, all, why);
    qs_io_append(k->notes.restored, sizeof k->notes.restored, list);
    end_restore(k);
}

void qs_keeper_open(struct qs_keeper *k, const char *state, const char *sysfs)
{
    char boot[QS_JOURNAL_BOOT_BYTES];
    char error[QS_JOURNAL_ERROR_BYTES];
    k->agent_fd = -1;
    k->lease_end_ns = k->answer_by_ns = 0;
    k->patience_ns = PATIENCE_NS;
    qs_hand_init(&k->hand, sysfs, HAND_NS);
    snprintf(k->notes.restored, sizeof k->notes.restored, "none");
    snprintf(k->notes.journal, sizeof k->notes.journal, "none");
    if (!qs_io_line("/proc/sys/kernel/random/boot_id", boot, sizeof boot)) {
        snprintf(boot, sizeof boot, "unknown");
    }
    k->on = state && qs_journal_open(&k->journal, state, boot, sysfs, error);
    if (!k->on) {
        if (state) {
            snprintf(k->notes.journal, sizeof k->notes.journal, "none: %s", error);
        }
        return;
    }
    note_journal(k, state);
    qs_keeper_restore(k, k->journal.rebooted ? "the device was restarted before the agent could do it"
                                             : "the agent before was killed together with its supervisor");
}

void qs_keeper_close(struct qs_keeper *k)
{
    qs_hand_close(&k->hand);
    qs_io_close(&k->agent_fd);
    if (k->on) {
        qs_journal_close(&k->journal);
    }
}

static void answer(struct qs_keeper *k, uint32_t id, const struct qs_port_controlled *file)
{
    struct qs_keeper_answer a = {.id = id, .file = *file, .notes = k->notes};
    (void)!send(k->agent_fd, &a, sizeof a, MSG_DONTWAIT | MSG_NOSIGNAL); /* one that does not read is stuck */
}

static void obey(struct qs_keeper *k, const struct qs_keeper_order *order)
{
    struct qs_port_controlled file = {.end = false};
    switch ((enum qs_keeper_what)order->what) {
    case QS_KEEPER_TUNE:
        snprintf(k->notes.restored, sizeof k->notes.restored, "none"); /* a new story begins */
        tune(k, order, &file);
        break;
    case QS_KEEPER_LOOK:
        read_back(k, order->path, order->value, &file);
        break;
    case QS_KEEPER_RESTORE:
        if (order->flags) {
            begin_restore(k);
        }
        file.end = !k->on || !restore_next(k, &file);
        if (file.end) {
            end_restore(k);
        }
        break;
    case QS_KEEPER_LEASE:
        k->lease_end_ns = order->lease_ns > 0 ? qs_io_now_ns(CLOCK_MONOTONIC) + order->lease_ns : 0;
        return;
    case QS_KEEPER_ALIVE:
        return;
    }
    answer(k, order->id, &file);
}

void qs_keeper_hear(struct qs_keeper *k)
{
    struct qs_keeper_order order;
    ssize_t n = recv(k->agent_fd, &order, sizeof order, MSG_DONTWAIT);
    if (n == 0) {
        qs_io_close(&k->agent_fd); /* it is about to end */
    }
    if (n == (ssize_t)sizeof order) {
        order.path[sizeof order.path - 1] = order.value[sizeof order.value - 1] = '\0';
        k->answer_by_ns = 0;
        obey(k, &order);
    }
}

int64_t qs_keeper_deadline_ns(const struct qs_keeper *k)
{
    int64_t at = k->lease_end_ns != 0 ? k->lease_end_ns : INT64_MAX;
    return k->answer_by_ns != 0 && k->answer_by_ns < at ? k->answer_by_ns : at;
}

bool qs_keeper_on_time(struct qs_keeper *k)
{
    const struct qs_port_controlled news = {.end = false};
    int64_t now = qs_io_now_ns(CLOCK_MONOTONIC);
    bool ended = k->lease_end_ns != 0 && now >= k->lease_end_ns;
    k->lease_end_ns = ended ? 0 : k->lease_end_ns;
    if (ended && k->on && k->journal.state.count > 0) {
        qs_keeper_restore(k, "the host was not heard for as long as its lease");
        answer(k, 0, &news);
        k->answer_by_ns = qs_io_now_ns(CLOCK_MONOTONIC) + k->patience_ns;
    }
    if (k->answer_by_ns == 0 || now < k->answer_by_ns) {
        return true;
    }
    k->answer_by_ns = 0;
    return false;
}
