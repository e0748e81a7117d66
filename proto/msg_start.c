#include "proto/msg_start.h"

bool qs_start_given(const struct qs_start *s)
{
    return s->sched != QS_SCHED_KEPT || s->flags != 0;
}

bool qs_start_fits(const struct qs_start *s)
{
    bool fits = s->sched == QS_SCHED_FIFO   ? s->value >= QS_FIFO_MIN && s->value <= QS_FIFO_MAX
                : s->sched == QS_SCHED_NICE ? s->value >= QS_NICE_MIN && s->value <= QS_NICE_MAX
                                            : s->sched == QS_SCHED_KEPT && s->value == 0;
    return fits && (s->flags & ~(unsigned)QS_START_FLAGS) == 0;
}

void qs_start_put(struct qs_writer *w, const struct qs_start *s)
{
    qs_put_u8(w, (uint8_t)s->sched);
    qs_put_i32(w, s->value);
    qs_put_u8(w, s->flags);
}

void qs_start_get(struct qs_wire_reader *r, struct qs_start *s)
{
    s->sched = (enum qs_sched)qs_get_u8(r);
    s->value = qs_get_i32(r);
    s->flags = qs_get_u8(r);
}
