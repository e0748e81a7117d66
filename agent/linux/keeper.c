#include "linux/keeper.h"

#include "core/print.h"
#include "linux/io.h"
#include "linux/knob.h"
#include "linux/tool.h"
#include "proto/msg_control.h"
#include "proto/names.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#define HAND_NS     INT64_C(2000000000) /* for one file of a driver */
#define READ_NS     INT64_C(500000000)  /* only to be read, while the host waits for many */
#define PATIENCE_NS INT64_C(5000000000) /* with an agent that should say that it lives */
#define RETRY_NS    INT64_C(1000000000) /* until what was left is tried again; then twice that */

enum { TRIES_MAX = 8 }; /* four minutes in all */

/* An entry's turn, while everything is put back. */
enum { FRESH, LATER, TRIED };

/* Whether a hand may still write it, whatever is put there meanwhile. */
static bool is_stuck(struct qs_journal_entry *e)
{
    if (e->stuck_fd >= 0 && !qs_hand_is_stuck(e->stuck_fd, 0)) {
        qs_io_close(&e->stuck_fd);
    }
    return e->stuck_fd >= 0;
}

/* It could not be put back, and says something else since: somebody has set it. A limit that comes nearer to
 * what it should be is being let go of by the device. */
static bool is_anothers(const struct qs_keeper *k, const struct qs_journal_entry *e, const char *now)
{
    long long seen;
    long long says;
    long long value;
    bool numbers =
        qs_knob_number(e->seen, &seen) && qs_knob_number(now, &says) && qs_knob_number(e->value, &value);
    bool nearer = numbers && (seen < value ? seen < says && says < value : value < says && says < seen);
    return e->looked && !(nearer && k->tries < TRIES_MAX) && !qs_knob_same(now, e->seen) &&
           !qs_knob_same(now, e->value);
}

/* What was not written because it said so already is no change, and in no journal. Should it have to be
 * written later, it may by then say what is nobody's wish, such as a limit that heat sets. */
static void note_same(struct qs_keeper *k, const char *path, const char *value)
{
    size_t i = 0;
    while (i < k->same_count && strcmp(k->same[i].path, path) != 0) {
        i++;
    }
    if (i == k->same_count && i < QS_JOURNAL_ENTRIES) {
        qs_print(k->same[i].path, sizeof k->same[i].path, "%s", path);
        qs_print(k->same[i].value, sizeof k->same[i].value, "%s", value);
        k->same_count++;
    }
}

static const char *at_first(const struct qs_keeper *k, const char *path, const char *value)
{
    for (size_t i = 0; i < k->same_count; i++) {
        value = strcmp(k->same[i].path, path) == 0 ? k->same[i].value : value;
    }
    return value;
}

static void tune(struct qs_keeper *k, const struct qs_keeper_order *order, struct qs_port_controlled *file)
{
    char value[QS_JOURNAL_TEXT_BYTES];
    struct qs_journal_entry *e = k->on ? qs_journal_find(&k->journal, order->path) : NULL;
    if (e && is_stuck(e)) {
        file->outcome = QS_TUNE_TIMEOUT;
        file->error = ETIMEDOUT;
        return;
    }
    if (qs_knob_freezes_us(order->path, order->value)) {
        file->outcome = QS_TUNE_FORBIDDEN;
        return;
    }
    bool transient = order->flags & QS_TUNE_TRANSIENT;
    bool read = qs_knob_look(&k->hand, order->path, value, file);
    if (!read && !(transient && file->outcome == QS_TUNE_UNREADABLE)) {
        return;
    }
    qs_knob_say(file->before, read ? value : "");
    const char *first = at_first(k, order->path, value);
    if (e && read && is_anothers(k, e, value)) { /* what was there before that is nobody's wish any more */
        qs_journal_release(&k->journal, (size_t)(e - k->journal.state.entries));
        first = value;
    }
    bool blind = qs_tool_is_blind(order->path);
    bool done = blind ? e && !e->looked && strcmp(e->seen, order->value) == 0
                      : read && qs_knob_same(value, order->value);
    if (done) { /* what nothing tells is set once: an app that is stopped again and again only starts more */
        file->outcome = QS_TUNE_SAME;
        note_same(k, order->path, value);
    } else if (k->on && transient && !e) { /* one that was to be put back before still is */
        int stuck_fd;
        qs_knob_write(&k->hand, order->path, order->value, file, &stuck_fd);
        qs_io_close(&stuck_fd);
    } else if (!k->on || !qs_journal_keep(&k->journal, order->path, first, order->flags)) {
        file->outcome = QS_TUNE_UNJOURNALLED;
        file->error = k->on ? errno : ENOTDIR;
    } else {
        e = qs_journal_find(&k->journal, order->path);
        e->looked = false;
        qs_print(e->seen, sizeof e->seen, "%s", order->value);
        qs_knob_write(&k->hand, order->path, order->value, file, &e->stuck_fd);
    }
}

static bool stands(const struct qs_port_controlled *file)
{
    return file->outcome == QS_TUNE_SET || file->outcome == QS_TUNE_SAME;
}

/* What the file says is no reason not to write it: a limit reads back lower while the device throttles. True:
 * there is nothing more to do for it, it stands there again or is somebody else's. */
static bool put_back(struct qs_keeper *k, struct qs_journal_entry *e, struct qs_port_controlled *file)
{
    char now[QS_JOURNAL_TEXT_BYTES];
    *file = (struct qs_port_controlled){.end = false};
    qs_print(file->path, sizeof file->path, "%s", e->path);
    qs_knob_say(file->before, e->value);
    if (is_stuck(e)) {
        file->outcome = QS_TUNE_TIMEOUT;
        file->error = ETIMEDOUT;
        return false;
    }
    bool read = e->turn == FRESH && e->looked && qs_knob_look(&k->hand, e->path, now, file);
    qs_knob_say(file->after, read ? now : "");
    if (read && !qs_knob_same(file->after, e->seen)) {
        file->outcome = qs_knob_same(now, e->value) ? QS_TUNE_SAME : QS_TUNE_SLIPPED;
        return stands(file) || is_anothers(k, e, now);
    }
    bool written = qs_knob_write(&k->hand, e->path, e->value, file, &e->stuck_fd);
    if (written || file->outcome == QS_TUNE_REFUSED) {
        struct qs_port_controlled back = *file;
        qs_knob_read_back(&k->hand, e->path, e->value, &back);
        e->looked = written && back.error == 0; /* what refuses ours and moves is still ours to put back */
        memcpy(e->seen, back.after, sizeof back.after);
        memcpy(file->after, back.after, sizeof back.after);
        if (written) {
            *file = back;
        } else if (stands(&back)) {
            file->outcome = QS_TUNE_SAME;
            file->error = 0;
        }
    }
    return stands(file);
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
    k->retry_at_ns = 0;
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

/* For people. */
static const char *name_of(const char *path, char name[QS_JOURNAL_TEXT_BYTES])
{
    qs_print(name, QS_JOURNAL_TEXT_BYTES, "%s", path);
    if (qs_tool_is(path)) {
        qs_tool_name(path, name, QS_JOURNAL_TEXT_BYTES);
    }
    return name;
}

static void note_journal(struct qs_keeper *k, const char *state)
{
    char name[QS_JOURNAL_TEXT_BYTES];
    char text[QS_JOURNAL_TEXT_BYTES + 80];
    struct qs_journal_state *s = &k->journal.state;
    char *note = k->notes.journal;
    if (state) {
        qs_print(note, QS_KEEPER_NOTE_BYTES, "%.400s/control.journal%s", state,
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
        qs_print(text, sizeof text, "%s%s%s", i + 1 == s->count ? "; not put back: " : ", ",
                 name_of(s->entries[i].path, name),
                 is_stuck(&s->entries[i]) ? " (its driver holds back a write that may still be done)" : "");
        qs_io_append(note, QS_KEEPER_NOTE_BYTES, text);
    }
}

/* Behind the last one. */
static void end_restore(struct qs_keeper *k)
{
    k->lease_end_ns = 0;
    k->same_count = 0;
    k->asked = false;
    if (k->on && k->journal.state.count > 0 && k->tries < TRIES_MAX) {
        k->retry_at_ns = qs_io_now_ns(CLOCK_MONOTONIC) + (k->retry_ns << k->tries++);
    }
    qs_hand_close(&k->hand);
    note_journal(k, NULL);
}

/* "max=1800000", or why not. */
static void note_file(struct qs_keeper *k, const struct qs_port_controlled *file, const char *before,
                      char list[QS_KEEPER_NOTE_BYTES])
{
    char name[QS_JOURNAL_TEXT_BYTES];
    char part[2 * QS_JOURNAL_TEXT_BYTES + 64];
    qs_print(part, sizeof part, "%s%s%s=%s", before, stands(file) ? "" : "not ", name_of(file->path, name),
             file->before);
    qs_io_append(list, QS_KEEPER_NOTE_BYTES, part);
    if (!stands(file) && !qs_journal_find(&k->journal, file->path)) {
        qs_print(part, sizeof part, " (somebody has set it to %s since)", file->after);
        qs_io_append(list, QS_KEEPER_NOTE_BYTES, part);
    } else if (!stands(file)) {
        qs_print(part, sizeof part, " (%s%s%s)", qs_tune_outcome_name((enum qs_tune_outcome)file->outcome),
                 file->error ? ": " : "", file->error ? strerror(file->error) : "");
        qs_io_append(list, QS_KEEPER_NOTE_BYTES, part);
    }
}

/* Everything that can be put back is; list: what became of each. */
static unsigned restore_all(struct qs_keeper *k, unsigned *all, char list[QS_KEEPER_NOTE_BYTES])
{
    struct qs_port_controlled file;
    unsigned done = 0;
    list[0] = '\0';
    *all = 0;
    begin_restore(k);
    while (restore_next(k, &file)) {
        note_file(k, &file, *all > 0 ? ", " : ": ", list);
        done += stands(&file);
        (*all)++;
    }
    end_restore(k);
    return done;
}

void qs_keeper_restore(struct qs_keeper *k, const char *why)
{
    char list[QS_KEEPER_NOTE_BYTES];
    unsigned all;
    k->lease_end_ns = 0;
    if (!k->on || k->journal.state.count == 0) {
        return;
    }
    k->tries = 0;
    unsigned done = restore_all(k, &all, list);
    qs_print(k->notes.restored, sizeof k->notes.restored, "%u of %u, because %s", done, all, why);
    qs_io_append(k->notes.restored, sizeof k->notes.restored, list);
}

/* What was left is tried once more. True: there is something to tell of it. */
static bool try_again(struct qs_keeper *k)
{
    char list[QS_KEEPER_NOTE_BYTES];
    char head[64];
    unsigned all;
    size_t before = k->journal.state.count;
    unsigned done = restore_all(k, &all, list);
    if (k->journal.state.count == before) {
        return false;
    }
    bool first = strcmp(k->notes.restored, "none") == 0;
    qs_print(head, sizeof head, "%s%u of %u", first ? "" : "; later ", done, all);
    k->notes.restored[first ? 0 : strlen(k->notes.restored)] = '\0';
    qs_io_append(k->notes.restored, sizeof k->notes.restored, head);
    qs_io_append(k->notes.restored, sizeof k->notes.restored, first ? ", which could not be before" : "");
    qs_io_append(k->notes.restored, sizeof k->notes.restored, list);
    return true;
}

/* A hand whose driver has kept it until now has ended. */
static bool is_let_go(struct qs_keeper *k)
{
    bool ret = false;
    for (size_t i = 0; i < k->journal.state.count; i++) {
        struct qs_journal_entry *e = &k->journal.state.entries[i];
        ret = (e->stuck_fd >= 0 && !is_stuck(e)) || ret;
    }
    return ret;
}

void qs_keeper_open(struct qs_keeper *k, const char *state, const char *sysfs)
{
    char boot[QS_JOURNAL_BOOT_BYTES];
    char error[QS_JOURNAL_ERROR_BYTES];
    k->same_count = 0;
    k->agent_fd = -1;
    k->lease_end_ns = k->answer_by_ns = 0;
    k->patience_ns = PATIENCE_NS;
    k->asked = false;
    k->tries = 0;
    k->retry_at_ns = 0;
    k->retry_ns = RETRY_NS;
    qs_hand_init(&k->hand, sysfs, HAND_NS);
    qs_print(k->notes.restored, sizeof k->notes.restored, "none");
    qs_print(k->notes.journal, sizeof k->notes.journal, "none");
    if (!qs_io_line("/proc/sys/kernel/random/boot_id", boot, sizeof boot)) {
        qs_print(boot, sizeof boot, "unknown");
    }
    k->on = state && qs_journal_open(&k->journal, state, boot, sysfs, error);
    if (!k->on) {
        if (state) {
            qs_print(k->notes.journal, sizeof k->notes.journal, "none: %s", error);
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
    for (size_t i = 0; k->on && i < k->journal.state.count; i++) {
        qs_io_close(&k->journal.state.entries[i].stuck_fd);
    }
    if (k->on) {
        qs_journal_close(&k->journal);
    }
}

/* One that does not read is stuck. */
static void send_answer(const struct qs_keeper *k, const struct qs_keeper_answer *a)
{
    (void)!send(k->agent_fd, a, sizeof *a, MSG_DONTWAIT | MSG_NOSIGNAL);
}

static void answer(struct qs_keeper *k, uint32_t id, const struct qs_port_controlled *file)
{
    send_answer(k, &(struct qs_keeper_answer){.id = id, .file = *file, .notes = k->notes});
}

static void read_one(struct qs_keeper *k, const struct qs_keeper_order *order)
{
    struct qs_keeper_answer a = {.id = order->id, .notes = k->notes, .read = {.end = QS_HAND_OUTSIDE}};
    int64_t limit_ns = k->hand.limit_ns;
    if (!qs_tool_is(order->path)) {
        k->hand.limit_ns = limit_ns < READ_NS ? limit_ns : READ_NS;
        qs_hand_read(&k->hand, order->path, &a.read);
        k->hand.limit_ns = limit_ns;
    }
    send_answer(k, &a);
}

static void obey(struct qs_keeper *k, const struct qs_keeper_order *order)
{
    struct qs_port_controlled file = {.end = false};
    switch ((enum qs_keeper_what)order->what) {
    case QS_KEEPER_TUNE:
        qs_print(k->notes.restored, sizeof k->notes.restored, "none"); /* a new story begins */
        tune(k, order, &file);
        break;
    case QS_KEEPER_LOOK:
        qs_knob_read_back(&k->hand, order->path, order->value, &file);
        break;
    case QS_KEEPER_READ:
        read_one(k, order);
        return;
    case QS_KEEPER_RESTORE:
        if (order->flags) {
            begin_restore(k);
            k->tries = 0;
            k->asked = true;
        }
        file.end = !k->on || !restore_next(k, &file);
        if (file.end) {
            end_restore(k);
        }
        break;
    case QS_KEEPER_LEASE:
        k->grant = order->id;
        k->lease_end_ns = order->lease_ns > 0 ? qs_io_now_ns(CLOCK_MONOTONIC) + order->lease_ns : 0;
        k->retry_at_ns = order->lease_ns > 0 ? 0 : k->retry_at_ns;
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
        qs_io_close(&k->agent_fd); /* it is about to end, or else it is stuck in that */
        k->answer_by_ns = qs_io_now_ns(CLOCK_MONOTONIC) + k->patience_ns;
    }
    if (n == (ssize_t)sizeof order) {
        order.path[sizeof order.path - 1] = order.value[sizeof order.value - 1] = '\0';
        k->answer_by_ns = 0;
        obey(k, &order);
    }
}

static int64_t sooner(int64_t at_ns, int64_t other_ns)
{
    return other_ns != 0 && other_ns < at_ns ? other_ns : at_ns;
}

int64_t qs_keeper_deadline_ns(const struct qs_keeper *k)
{
    return sooner(sooner(sooner(INT64_MAX, k->lease_end_ns), k->answer_by_ns), k->retry_at_ns);
}

static void tell_news(struct qs_keeper *k, uint32_t grant)
{
    send_answer(k, &(struct qs_keeper_answer){.id = 0, .grant = grant, .notes = k->notes});
}

bool qs_keeper_on_time(struct qs_keeper *k)
{
    int64_t now = qs_io_now_ns(CLOCK_MONOTONIC);
    if (k->on && k->lease_end_ns == 0 && !k->asked &&
        (is_let_go(k) || (k->retry_at_ns != 0 && now >= k->retry_at_ns)) && try_again(k)) {
        tell_news(k, 0);
    }
    bool ended = k->lease_end_ns != 0 && now >= k->lease_end_ns;
    k->lease_end_ns = ended ? 0 : k->lease_end_ns;
    if (ended && k->on && k->journal.state.count > 0) {
        qs_keeper_restore(k, "the host was not heard for as long as its lease");
        tell_news(k, k->grant);
        k->answer_by_ns = qs_io_now_ns(CLOCK_MONOTONIC) + k->patience_ns;
    }
    if (k->answer_by_ns == 0 || now < k->answer_by_ns) {
        return true;
    }
    k->answer_by_ns = 0;
    return false;
}
