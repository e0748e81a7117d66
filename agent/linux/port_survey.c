/* The port's operations on files that say what a device is and does. What a driver has not said before is
 * read by the supervisor's hand, which can be given up; the agent's loop cannot. */
#include "linux/port.h"
#include "linux/survey.h"
#include "proto/msg_control.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

static void look_into(struct qs_linux *os, struct qs_port_found *found)
{
    struct qs_hand_result said;
    if (!qs_control_read(&os->control, found->path, &said)) {
        qs_survey_read(os->probe.sysfs, found);
        return;
    }
    if (said.end == QS_HAND_LATE) {
        qs_probe_shun(&os->probe, found->path);
    }
    found->error = said.end == QS_HAND_OUTSIDE ? EXDEV : said.end == QS_HAND_DONE ? 0 : said.error;
    found->n = said.end == QS_HAND_DONE ? said.n : 0;
    memcpy(found->value, said.text, found->n);
}

static bool op_find(void *ctx, const char *pattern, const char *after, struct qs_port_found *found)
{
    struct qs_linux *os = ctx;
    bool ret = qs_survey_find(os->probe.sysfs, pattern, after, found);
    if (ret) {
        look_into(os, found);
    }
    return ret;
}

static void op_bind(void *ctx, const struct qs_binding *binding)
{
    struct qs_linux *os = ctx;
    struct qs_hand_result said;
    char path[QS_CONTROL_PATH_MAX_BYTES + 1];
    qs_probe_bind(&os->probe, binding);
    if (!binding || (binding->flags & QS_BIND_COMMAND)) {
        return;
    }
    qs_text_copy(binding->path, path, sizeof path);
    path[strcspn(path, "\n")] = '\0';
    if (qs_control_read(&os->control, path, &said) && said.end == QS_HAND_LATE) {
        qs_probe_shun(&os->probe, path);
    }
}

void qs_linux_try_sensors(struct qs_linux *os)
{
    char root[PATH_MAX];
    struct qs_hand_result said;
    size_t n = realpath(os->probe.sysfs, root) ? strlen(root) : 0;
    for (size_t i = 0; n > 0 && i < os->probe.own; i++) {
        char path[PATH_MAX];
        bool below =
            qs_probe_file(&os->probe.sources[i], path) && strncmp(path, root, n) == 0 && path[n] == '/';
        if (below && qs_control_read(&os->control, path + n + 1, &said) && said.end == QS_HAND_LATE) {
            qs_probe_shun(&os->probe, path + n + 1);
        }
    }
}

const struct qs_port_survey qs_linux_survey_port = {.find = op_find, .bind = op_bind, .counters = true};
