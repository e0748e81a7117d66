/* Tracers of the stage's agent. */
#include "stage_impl.h"

void stage_check_phase(struct stage *s, const struct qs_msg_open *m)
{
    const struct stage_run *run = stage_find(s, &s->run);
    bool tunes = m->phase == QS_PHASE_TUNE && s->mode == QS_RUN_HARNESS;
    enum qs_phase pilot = tunes ? QS_PHASE_TUNE : QS_PHASE_WARMUP;
    enum qs_phase untraced = run->block == 0 ? pilot : QS_PHASE_MEASURE;
    assert_int_equal(m->phase, s->tracing ? QS_PHASE_TRACED : untraced);
    if (s->tracing) { /* nothing of it is judged */
        assert_int_equal(m->gate.count, 0);
        assert_int_equal(m->bounds.count, 0);
    }
    s->traced_windows += s->tracing;
}

static void tell(struct stage *s, enum qs_trace_status status, const char *why)
{
    s->session = SESSION_OPEN;
    if (s->trace_errors == (status == QS_TRACE_RUNS ? 1U : 2U)) {
        struct qs_err err = QS_ERR_INIT;
        qs_fail(&err, s->refusal, "tracers are not for you");
        s->tracing = false;
        stage_refuse(s, &err);
        return;
    }
    const struct qs_msg_traced m = {.id = s->trace_id,
                                    .status = why ? QS_TRACE_MISSING : status,
                                    .started_ns = 5,
                                    .stopped_ns = status == QS_TRACE_RUNS ? 0 : 9,
                                    .total_bytes = why ? 0 : 7,
                                    .why = qs_text_of(why)};
    s->tracing = !why && status == QS_TRACE_RUNS;
    stage_reply(s, &(union qs_msg){.traced = m});
}

static void tell_begun(struct stage *s)
{
    tell(s, QS_TRACE_RUNS, s->no_trace_start);
}

static void tell_over(struct stage *s)
{
    tell(s, QS_TRACE_STOPPED, s->no_trace_end);
}

bool stage_ask_trace(struct stage *s, const void *message, struct qs_err *err)
{
    const struct qs_msg_trace *m = message;
    if (!stage_may(s, SESSION_OPEN, "trace", err))
        return false;
    assert_true(qs_uid_equal(&m->run, &s->run));
    assert_false(s->tracing);
    s->trace_id = m->id;
    s->traces++;
    s->session = SESSION_TRACING;
    s->operation++;
    stage_later(s, STAGE_STEP_NS, tell_begun);
    return true;
}

bool stage_ask_trace_stop(struct stage *s, const void *message, struct qs_err *err)
{
    const struct qs_msg_trace_stop *m = message;
    if (!stage_may(s, SESSION_OPEN, "trace_stop", err))
        return false;
    assert_true(qs_uid_equal(&m->run, &s->run));
    assert_int_equal(m->id, s->trace_id);
    assert_true(s->tracing);
    s->session = SESSION_TRACING;
    s->operation++;
    stage_later(s, STAGE_STEP_NS, tell_over);
    return true;
}
