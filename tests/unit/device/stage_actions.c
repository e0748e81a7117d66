#include "stage_actions.h"

#include <stdarg.h>
#include <string.h>

#include "stage_impl.h"

static struct {
    uint32_t id;
    enum qs_load_outcome outcome;
    enum stage_session back;
} asked;

void stage_act_note(struct stage *s, const char *fmt, ...)
{
    struct stage_acting *a = s->acting;
    va_list ap;
    if (!a)
        return;
    va_start(ap, fmt);
    qs_buf_vfmt(&a->log, fmt, ap);
    va_end(ap);
    qs_buf_char(&a->log, '\n');
}

/* In ready and in an open run, between its windows. */
static bool begin(struct stage *s, const char *what, uint32_t id, struct qs_err *err)
{
    assert_non_null(s->acting);
    enum stage_session now =
        s->session == SESSION_OPEN && !s->acting->not_amid ? SESSION_OPEN : SESSION_READY;
    if (!stage_may(s, now, what, err))
        return false;
    asked.id = id;
    asked.back = now;
    s->session = SESSION_FILES;
    s->operation++;
    return true;
}

static void tell_readings(struct stage *s)
{
    uint8_t memory[256];
    struct qs_build list;
    struct stage_acting *a = s->acting;
    struct qs_reading busy = {.sensor = qs_text_of("cpu.busy_ratio_ppm"), .value = 31250};
    struct qs_reading heat = {.sensor = qs_text_of("thermal:cpu-thermal"), .value = 42000};
    qs_build_init(&list, memory, sizeof memory);
    if (a->says)
        heat.value = a->says(s, a->reads - 1, &heat.status);
    assert_true(qs_build_reading(&list, &busy));
    if (heat.status != QS_READING_MISSING)
        assert_true(qs_build_reading(&list, &heat));
    s->session = asked.back;
    stage_reply(s, &(union qs_msg){.readings = {.id = asked.id, .readings = qs_build_list(&list)}});
}

bool stage_ask_read(struct stage *s, const void *message, struct qs_err *err)
{
    const struct qs_msg_read *m = message;
    if (!begin(s, "read", m->id, err))
        return false;
    struct qs_buf *log = &s->acting->log;
    s->acting->reads++;
    if (log->len < 5 || strcmp(log->data + log->len - 5, "read\n") != 0)
        stage_act_note(s, "read");
    stage_later(s, STAGE_STEP_NS, tell_readings);
    return true;
}

static void tell_loaded(struct stage *s)
{
    s->session = asked.back;
    stage_reply(s, &(union qs_msg){.loaded = {.id = asked.id, .outcome = asked.outcome}});
}

bool stage_ask_load(struct stage *s, const void *message, struct qs_err *err)
{
    const struct qs_msg_load *m = message;
    struct stage_acting *a = s->acting;
    if (!begin(s, "load", m->id, err))
        return false;
    assert_in_range(m->for_ms, 0, QS_LOAD_MAX_MS);
    asked.outcome = m->for_ms > 0   ? a->no_load ? a->no_load : QS_LOAD_ON
                    : a->load_stays ? QS_LOAD_FAILED
                                    : QS_LOAD_OFF;
    a->loaded = asked.outcome == QS_LOAD_ON;
    a->loads += m->for_ms > 0 ? 1 : 0;
    if (m->for_ms > 0)
        stage_act_note(s, "load %.*s %u", (int)m->cpus.n, m->cpus.p, (unsigned)m->for_ms);
    else
        stage_act_note(s, "unload");
    stage_later(s, STAGE_STEP_NS, tell_loaded);
    return true;
}

void scene_begin(struct scene *t, const char *job)
{
    stage_control_begin(&t->s, &t->c, job);
    t->a = (struct stage_acting){.reads_nothing = false};
    qs_buf_init(&t->a.log);
    t->s.acting = &t->a;
}

void scene_end(struct scene *t)
{
    assert_false(t->a.loaded);
    qs_buf_done(&t->a.log);
    stage_control_end(&t->s);
}

void scene_goes_well(struct scene *t)
{
    stage_go(&t->s);
    if (t->s.result.end != QS_END_DONE)
        fail_msg("%s", t->s.result.err.text);
}

void scene_fails(struct scene *t, const char *text)
{
    stage_go(&t->s);
    assert_int_equal(t->s.result.end, QS_END_FAILED);
    if (!strstr(t->s.result.err.text, text))
        fail_msg("`%s` lacks `%s`", t->s.result.err.text, text);
}

int64_t scene_stays(struct stage *s, unsigned n, enum qs_reading_status *status)
{
    (void)s;
    (void)n;
    (void)status;
    return 60000;
}

int64_t scene_is_missing(struct stage *s, unsigned n, enum qs_reading_status *status)
{
    (void)s;
    (void)n;
    *status = QS_READING_MISSING;
    return 0;
}
