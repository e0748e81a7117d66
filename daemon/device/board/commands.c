/* Sensors that are commands on the device: which of the profiles' it may have, and what it says of them. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "device/board/impl.h"

enum { LOW_MC = -30000, HIGH_MC = 130000, THOUSANDTHS = 1000 };

static void add_command(struct qs_work *w, const struct qs_profile_command *p)
{
    static const int64_t factors[QS_READS_UNITS] = {
        [QS_READS_MC] = 1, [QS_READS_DC] = 100, [QS_READS_C] = 1000, [QS_READS_COUNT] = 1};
    struct qs_board *b = w->board;
    bool counts = p->unit == QS_READS_COUNT;
    bool nonzero = p->watch == QS_WATCH_NONZERO;
    struct qs_board_sensor s = {.name = qs_strdup(p->name),
                                .type = qs_strdup(p->key),
                                .role = p->role != QS_ROLE_UNSET ? p->role : QS_ROLE_OTHER,
                                .unit = p->unit,
                                .mul = p->mask > 0 ? p->mask : factors[p->unit],
                                .div = p->mask > 0 ? (p->mask & -p->mask) : THOUSANDTHS,
                                .lo = nonzero  ? 0
                                      : counts ? INT32_MIN
                                               : LOW_MC,
                                .hi = nonzero  ? (int64_t)p->up_to
                                      : counts ? INT32_MAX
                                               : HIGH_MC,
                                .bits = p->mask > 0,
                                .watch = p->watch != QS_WATCH_UNSET ? p->watch : QS_WATCH_NEVER,
                                .command = qs_strdup(p->asks),
                                .mend = p->mend != NULL ? qs_strdup(p->mend) : NULL};
    QS_BUF(path);
    for (size_t i = 0; i < p->command.count; i++)
        qs_buf_fmt(&path, "%s%s", i > 0 ? " " : "", p->command.at[i]);
    s.path = qs_buf_take(&path);
    b->sensors.at = qs_grow(b->sensors.at, b->sensors.count, sizeof *b->sensors.at);
    b->sensors.at[b->sensors.count++] = s;
}

void qs_work_commands(struct qs_work *w)
{
    QS_SCOPED(qs_strings_done) struct qs_strings keys = {0};
    for (size_t l = 0; l < w->layer_count; l++)
        for (size_t i = 0; i < w->layers[l]->command_count; i++) {
            const struct qs_profile_command *p = &w->layers[l]->commands[i];
            if (!qs_work_seen(&keys, p->key) && p->asks != NULL &&
                qs_board_sensor(w->board, p->name) == NULL && w->board->sensors.count < QS_BOARD_SENSORS_MAX)
                add_command(w, p);
        }
}

static void drop(struct qs_board *board, size_t i)
{
    struct qs_board_sensor *s = &board->sensors.at[i];
    char *const texts[] = {s->name, s->type, s->path, s->command, s->mend, s->said, s->why};
    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++)
        free(texts[k]);
    memmove(s, s + 1, (--board->sensors.count - i) * sizeof *s);
}

void qs_board_drop_commands(struct qs_board *board)
{
    for (size_t i = board->sensors.count; i-- > 0;)
        if (board->sensors.at[i].command != NULL)
            drop(board, i);
}

void qs_board_take_command(struct qs_board *board, const char *name, enum qs_reading_status status,
                           int64_t value)
{
    size_t i = 0;
    while (i < board->sensors.count && strcmp(board->sensors.at[i].name, name) != 0)
        i++;
    if (i == board->sensors.count)
        return;
    struct qs_board_sensor *s = &board->sensors.at[i];
    if (status == QS_READING_MISSING) {
        drop(board, i);
        return;
    }
    s->value = status == QS_READING_OK ? value : 0;
    s->status = status == QS_READING_OK       ? QS_SENSOR_OK
                : status == QS_READING_SPOILT ? QS_SENSOR_SPOILT
                                              : QS_SENSOR_UNREADABLE;
    if (status == QS_READING_SPOILT)
        s->why =
            qs_asprintf("somebody has overridden what `%s` says%s%s%s", s->path, s->mend != NULL ? "; `" : "",
                        s->mend != NULL ? s->mend : "", s->mend != NULL ? "` on the device ends that" : "");
    else if (status != QS_READING_OK)
        s->why = qs_asprintf("`%s` failed, or says nothing plausible of it", s->path);
}
