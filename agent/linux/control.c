#include "linux/control.h"

#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

void qs_control_init(struct qs_control *control, const struct qs_keeper *keeper)
{
    *control = (struct qs_control){.fd = -1, .on = keeper && keeper->on};
    if (keeper) {
        control->notes = keeper->notes;
        return;
    }
    snprintf(control->notes.restored, sizeof control->notes.restored, "none");
    snprintf(control->notes.journal, sizeof control->notes.journal, "none");
}

/* Where it cannot be sent the supervisor is gone, and the agent is about to end. */
static void order(struct qs_control *control, const struct qs_keeper_order *what)
{
    (void)!send(control->fd, what, sizeof *what, MSG_NOSIGNAL);
}

static void ask(struct qs_control *control, struct qs_keeper_order *what, const char *path, const char *value)
{
    snprintf(what->path, sizeof what->path, "%s", path);
    snprintf(what->value, sizeof what->value, "%s", value);
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

enum qs_control_news qs_control_hear(struct qs_control *control, struct qs_port_controlled *ret,
                                     uint32_t *grant)
{
    const struct qs_keeper_order alive = {.what = QS_KEEPER_ALIVE};
    struct qs_keeper_answer answer;
    ssize_t n = recv(control->fd, &answer, sizeof answer, MSG_DONTWAIT);
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
