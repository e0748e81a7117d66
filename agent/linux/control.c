#include "linux/control.h"

#include "core/print.h"
#include "linux/io.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#define READ_MAX_NS INT64_C(2000000000) /* the hand's time, its end, and a busy supervisor */
#define LATE_NS     INT64_C(300000000000)

void qs_control_init(struct qs_control *control, const struct qs_keeper *keeper)
{
    *control = (struct qs_control){.fd = -1, .on = keeper && keeper->on};
    if (keeper) {
        control->notes = keeper->notes;
        return;
    }
    qs_print(control->notes.restored, sizeof control->notes.restored, "none");
    qs_print(control->notes.journal, sizeof control->notes.journal, "none");
}

/* Where it cannot be sent the supervisor is gone, and the agent is about to end. */
static void order(struct qs_control *control, const struct qs_keeper_order *what)
{
    (void)!send(control->fd, what, sizeof *what, MSG_NOSIGNAL);
}

static void ask(struct qs_control *control, struct qs_keeper_order *what, const char *path, const char *value)
{
    qs_print(what->path, sizeof what->path, "%s", path);
    qs_print(what->value, sizeof what->value, "%s", value);
    what->id = control->id = control->id == UINT32_MAX ? 1 : control->id + 1; /* 0 is news */
    control->waiting = true;
    order(control, what);
}

void qs_control_tune(struct qs_control *control, const char *path, const char *value, uint8_t flags)
{
    struct qs_keeper_order what = {.what = QS_KEEPER_TUNE, .flags = flags};
    ask(control, &what, path, value);
}

void qs_control_look(struct qs_control *control, const char *path, const char *value)
{
    struct qs_keeper_order what = {.what = QS_KEEPER_LOOK};
    ask(control, &what, path, value);
}

void qs_control_restore(struct qs_control *control, bool first)
{
    struct qs_keeper_order what = {.what = QS_KEEPER_RESTORE, .flags = first};
    ask(control, &what, "", "");
}

void qs_control_lease(struct qs_control *control, uint32_t id, int64_t ns)
{
    const struct qs_keeper_order what = {.id = id, .what = QS_KEEPER_LEASE, .lease_ns = ns};
    order(control, &what);
}

/* Each leaves a hand that cannot be killed: where there are many, no other file is asked either. */
static bool is_late(const struct qs_control *control, const char *path, int64_t now_ns)
{
    size_t late = 0;
    for (size_t i = 0; i < QS_CONTROL_LATE_MAX; i++) {
        bool still = now_ns < control->late[i].until_ns;
        if (still && strcmp(control->late[i].path, path) == 0) {
            return true;
        }
        late += still;
    }
    return late == QS_CONTROL_LATE_MAX;
}

/* There is a place whose time is over. */
static void note_late(struct qs_control *control, const char *path, int64_t now_ns)
{
    size_t i = 0;
    while (i < QS_CONTROL_LATE_MAX - 1 && now_ns < control->late[i].until_ns) {
        i++;
    }
    qs_print(control->late[i].path, sizeof control->late[i].path, "%s", path);
    control->late[i].until_ns = now_ns + LATE_NS;
}

/* The answer to what was asked; news are kept for whoever hears. False: it did not come. */
static bool wait_for_answer(struct qs_control *control, struct qs_keeper_answer *ret)
{
    int64_t end_ns = qs_io_now_ns(CLOCK_MONOTONIC) + READ_MAX_NS;
    for (int64_t left_ns = READ_MAX_NS; left_ns > 0; left_ns = end_ns - qs_io_now_ns(CLOCK_MONOTONIC)) {
        struct pollfd fd = {.fd = control->fd, .events = POLLIN};
        if (poll(&fd, 1, (int)((left_ns + 999999) / 1000000)) <= 0) {
            continue;
        }
        if (recv(control->fd, ret, sizeof *ret, MSG_DONTWAIT) != (ssize_t)sizeof *ret) {
            return false;
        }
        if (ret->id == control->id) {
            return true;
        }
        if (ret->id == 0) {
            control->early = *ret;
            control->has_early = true;
        }
    }
    return false;
}

bool qs_control_read(struct qs_control *control, const char *path, struct qs_hand_result *ret)
{
    struct qs_keeper_order what = {.what = QS_KEEPER_READ};
    struct qs_keeper_answer answer;
    int64_t now_ns = qs_io_now_ns(CLOCK_MONOTONIC);
    if (control->fd < 0) {
        return false;
    }
    *ret = (struct qs_hand_result){.end = QS_HAND_LATE, .error = ETIMEDOUT};
    if (is_late(control, path, now_ns)) {
        return true;
    }
    ask(control, &what, path, "");
    if (wait_for_answer(control, &answer)) {
        *ret = answer.read;
    }
    control->waiting = false;
    if (ret->end == QS_HAND_LATE) {
        note_late(control, path, now_ns);
    }
    return true;
}

enum qs_control_news qs_control_hear(struct qs_control *control, struct qs_port_controlled *ret,
                                     uint32_t *grant)
{
    const struct qs_keeper_order alive = {.what = QS_KEEPER_ALIVE};
    struct qs_keeper_answer answer;
    ssize_t n = sizeof answer;
    if (control->has_early) {
        answer = control->early;
        control->has_early = false;
    } else {
        n = recv(control->fd, &answer, sizeof answer, MSG_DONTWAIT);
    }
    if (n != (ssize_t)sizeof answer) {
        return n == 0 ? QS_CONTROL_GONE : QS_CONTROL_NOTHING;
    }
    control->notes = answer.notes;
    if (answer.id == 0) {
        order(control, &alive);
        *grant = answer.grant;
        return answer.grant != 0 ? QS_CONTROL_LEASE : QS_CONTROL_NOTHING;
    }
    if (answer.id != control->id || !control->waiting) {
        return QS_CONTROL_NOTHING;
    }
    control->waiting = false;
    *ret = answer.file;
    return QS_CONTROL_ANSWER;
}
