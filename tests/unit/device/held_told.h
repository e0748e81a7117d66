/* What a kept window says of itself, as a line. */
#ifndef QS_TEST_HELD_TOLD_H
#define QS_TEST_HELD_TOLD_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/buf.h"
#include "proto/msg.h"
#include "store/store.h"

/* What is told of it besides its iterations. */
static inline void tell_window(struct qs_buf *log, const struct qs_window_row *w)
{
    qs_buf_fmt(log, "%s, %s, taint %u, %u bytes", w->phase == QS_PHASE_WARMUP ? "warm-up" : "measure", w->how,
               w->taint & ~(uint32_t)QS_TAINT_INTERRUPTED, (unsigned)w->output_bytes);
    assert_int_equal(w->silence, QS_SILENCE_NONE); /* nobody watched it */
    if (w->output)
        qs_buf_fmt(log, " `%s`", w->output);
    if (w->gate->polls > 0)
        qs_buf_fmt(log, ", gate %s %lld-%lld polls %u busiest %s", w->gate->outcome,
                   (long long)w->gate->began_ns, (long long)w->gate->decided_ns, w->gate->polls,
                   w->gate->busiest);
    for (size_t i = 0; i < w->gate->deciding_count; i++)
        qs_buf_fmt(log, ", %s %u %lld %lld", w->gate->deciding[i].sensor, w->gate->deciding[i].status,
                   (long long)w->gate->deciding[i].value, (long long)w->gate->deciding[i].age_ns);
    for (size_t i = 0; i < w->evidence_count; i++)
        qs_buf_fmt(log, ", %s %d %lld %lld", w->evidence[i].kind, w->evidence[i].present,
                   (long long)w->evidence[i].before, (long long)w->evidence[i].after);
    for (size_t i = 0; i < w->taint_count; i++)
        qs_buf_fmt(log, ", %d %s %lld %lld", w->taints[i].i, w->taints[i].code, (long long)w->taints[i].value,
                   (long long)w->taints[i].bound);
    qs_buf_str(log, ": ");
}

#endif
