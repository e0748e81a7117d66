#include "stage_record.h"

#include <inttypes.h>

#include "stage_impl.h"

static const char *or_none(const char *text)
{
    return text ? text : "-";
}

static struct qs_buf *begin(struct stage *s, const char *what)
{
    if (s->record.out)
        qs_buf_fmt(s->record.out, "%s", what);
    return s->record.out;
}

static void add_text(struct qs_buf *out, const char *key, struct qs_text t)
{
    qs_buf_fmt(out, "%s=%.*s", key, (int)t.n, t.p ? t.p : "");
}

static void add_texts(struct qs_buf *out, const char *key, const struct qs_list *list)
{
    struct qs_iter it = qs_list_iter(list);
    struct qs_text word;
    qs_buf_fmt(out, "\n  %s:", key);
    while (qs_list_text(&it, &word))
        qs_buf_fmt(out, " %.*s", (int)word.n, word.p);
}

void stage_record_state(struct stage *s, const char *from, const char *input, const char *to)
{
    struct qs_buf *out = begin(s, "state");
    if (out)
        qs_buf_fmt(out, " %s, %s: %s\n", from, input, to);
}

void stage_record_event(struct stage *s, const char *kind, const char *body_json, bool of_run)
{
    struct qs_buf *out = begin(s, "news");
    if (out)
        qs_buf_fmt(out, "%s %s %s\n", of_run ? " of run" : "", kind, body_json);
}

static void add_mode(struct qs_buf *out, const struct qs_msg_run_begin *m)
{
    const struct qs_harness *h = &m->harness;
    if (m->mode == QS_RUN_HARNESS) {
        add_text(out, "\n  harness", h->benchmark);
        qs_buf_fmt(out, " capacity=%u seed=%" PRIu64 " environment=%u stack=%u heap=%u", h->capacity, h->seed,
                   h->environment_bytes, h->stack_bytes, h->heap_bytes);
        add_texts(out, "params", &h->params);
    } else if (m->mode == QS_RUN_STREAM) {
        qs_buf_fmt(out, "\n  stream=%d most=%u", (int)m->stream.source, m->stream.document_max_bytes);
        add_text(out, " path", m->stream.path);
    }
}

void stage_record_run_begin(struct stage *s, const struct qs_msg_run_begin *m)
{
    struct qs_buf *out = begin(s, "RUN_BEGIN");
    int32_t code = 0;
    if (!out)
        return;
    struct qs_iter codes = qs_list_iter(&m->exit_codes);
    add_text(out, " cwd", m->cwd);
    qs_buf_fmt(out, " stdin=%d", (int)m->stdin_kind);
    add_text(out, " path", m->stdin_path);
    qs_buf_fmt(out, " output=%d most=%u limit=%" PRId64 " exit=%d", (int)m->output_kind, m->output_max_bytes,
               m->iteration_limit_ns, (int)m->exit_rule);
    while (qs_list_i32(&codes, &code))
        qs_buf_fmt(out, " code=%d", code);
    add_text(out, " cpus", m->cpus);
    add_text(out, " user", m->user);
    qs_buf_fmt(out, " hook_limit=%" PRId64, m->hook_limit_ns);
    add_texts(out, "argv", &m->argv);
    add_texts(out, "env", &m->env);
    add_texts(out, "prepare", &m->prepare);
    add_texts(out, "conclude", &m->conclude);
    add_mode(out, m);
    qs_buf_char(out, '\n');
}

void stage_record_hook(struct stage *s, const struct qs_msg_hook *m)
{
    struct qs_buf *out = begin(s, "HOOK");
    if (!out)
        return;
    add_text(out, " cwd", m->cwd);
    add_text(out, " user", m->user);
    qs_buf_fmt(out, " limit=%" PRId64 " most=%u", m->limit_ns, m->output_max_bytes);
    add_texts(out, "argv", &m->argv);
    add_texts(out, "env", &m->env);
    qs_buf_char(out, '\n');
}

void stage_record_open(struct stage *s, const struct qs_msg_open *m)
{
    struct qs_buf *out = begin(s, "OPEN");
    struct qs_expectation e;
    struct qs_bound b;
    if (!out)
        return;
    struct qs_iter gate = qs_list_iter(&m->gate), bounds = qs_list_iter(&m->bounds);
    qs_buf_fmt(out,
               " window=%u phase=%d seq=%" PRIu64 " n=%u evals=%u max=%" PRId64 " lead=%" PRId64
               " lease=%" PRId64,
               m->window, (int)m->phase, m->first_seq, m->iterations, m->evals, m->max_ns, m->quiet_lead_ns,
               m->lease_ns);
    while (qs_list_expectation(&gate, &e)) {
        add_text(out, "\n  gate", e.sensor);
        qs_buf_fmt(out,
                   " flags=%d lo=%" PRId64 " hi=%" PRId64 " dwell=%" PRId64 " timeout=%" PRId64 " then=%d",
                   e.flags, e.lo, e.hi, e.dwell_ns, e.timeout_ns, (int)e.on_timeout);
    }
    while (qs_list_bound(&bounds, &b)) {
        add_text(out, "\n  bound", b.kind);
        qs_buf_fmt(out, " %" PRId64, b.bound);
    }
    qs_buf_char(out, '\n');
}

void stage_record_session(struct stage *s, const struct qs_session_row *row)
{
    struct qs_buf *out = begin(s, "session");
    if (out)
        qs_buf_fmt(out, " job=%" PRId64 " device=%s boot=%s env=%s\n", row->job, row->device, row->boot_uuid,
                   row->env_json);
}

void stage_record_run(struct stage *s, const struct qs_run_row *row)
{
    struct qs_buf *out = begin(s, "run");
    if (out)
        qs_buf_fmt(out, " job=%" PRId64 " arm=%u point=%u block=%u pos=%u attempt=%u harness=%s stream=%s\n",
                   row->job, row->arm, row->point, row->block, row->pos, row->attempt,
                   or_none(row->harness_json), or_none(row->stream_json));
}

static void add_values(struct qs_buf *out, const struct qs_window_row *row)
{
    for (size_t m = 0; m < row->metric_count; m++)
        qs_buf_fmt(out, "\n  metric %s in %s%s%s", row->metrics[m],
                   or_none(row->kinds ? row->kinds[m].unit : NULL),
                   row->kinds && row->kinds[m].higher_is_better ? ", higher is better" : "",
                   row->kinds && row->kinds[m].deterministic ? ", deterministic" : "");
    for (size_t i = 0; i < row->n; i++) {
        const struct qs_iteration_row *v = &row->iterations[i];
        qs_buf_fmt(out, "\n  %" PRId64 " ns from %" PRId64 " taint=%x status=%d", v->duration_ns,
                   v->start_off_ns, v->taint, v->status);
        for (size_t m = 0; m < row->metric_count; m++)
            qs_buf_fmt(out, " %" PRId64, v->values[m]);
    }
}

static void add_facts(struct qs_buf *out, const struct qs_window_row *row)
{
    for (size_t i = 0; i < row->gate->deciding_count; i++) {
        const struct qs_reading_row *r = &row->gate->deciding[i];
        qs_buf_fmt(out, "\n  reading %s status=%d %" PRId64 " age=%" PRId64, r->sensor, r->status, r->value,
                   r->age_ns);
    }
    for (size_t i = 0; i < row->evidence_count; i++) {
        const struct qs_evidence_row *e = &row->evidence[i];
        qs_buf_fmt(out, "\n  evidence %s present=%d %" PRId64 " to %" PRId64 "%s%s", e->kind, e->present,
                   e->before, e->after, e->is_metric ? " metric" : "", e->higher_is_better ? " up" : "");
    }
    for (size_t i = 0; i < row->taint_count; i++) {
        const struct qs_taint_row *t = &row->taints[i];
        qs_buf_fmt(out, "\n  taint %d %s %" PRId64 " over %" PRId64, t->i, t->code, t->value, t->bound);
    }
}

void stage_record_window(struct stage *s, const struct qs_window_row *row)
{
    struct qs_buf *out = begin(s, "window");
    if (!out)
        return;
    qs_buf_fmt(out,
               " %u attempt=%u phase=%d seq=%" PRIu64 " from %" PRId64 " to %" PRId64
               " evals=%u silence=%d taint=%x %s %s",
               row->ord, row->attempt, (int)row->phase, row->first_seq, row->opened_ns, row->closed_ns,
               row->evals, (int)row->silence, row->taint, row->how, or_none(row->failure));
    qs_buf_fmt(out, "\n  output=%s of %" PRIu64 " device_n=%u", or_none(row->output), row->output_bytes,
               row->device_n);
    qs_buf_fmt(out, "\n  gate %s from %" PRId64 " to %" PRId64 " polls=%u busiest=%s%s", row->gate->outcome,
               row->gate->began_ns, row->gate->decided_ns, row->gate->polls, row->gate->busiest,
               row->gate->trace);
    add_facts(out, row);
    add_values(out, row);
    if (row->document)
        qs_buf_fmt(out, "\n  document %s %.*s of %" PRId64 " %s", or_none(row->document->name),
                   (int)row->document->n, (const char *)row->document->bytes, row->document->total_bytes,
                   or_none(row->document->why));
    qs_buf_char(out, '\n');
}

void stage_record_run_end(struct stage *s, const struct qs_run_end_row *row)
{
    struct qs_buf *out = begin(s, "run_end");
    if (out)
        qs_buf_fmt(out, " %s stop=%s warmup=%u taint=%x error=%s: %s exe=%s %s harness=%s\n",
                   qs_run_state_name(row->state), or_none(row->stop_reason), row->warmup_n, row->taint,
                   or_none(row->error_slug), or_none(row->error_text), or_none(row->exe_path),
                   or_none(row->exe_sha256), or_none(row->harness_json));
}
