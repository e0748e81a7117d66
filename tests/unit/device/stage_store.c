/* The store's half of the stage: the symbols of store/store.h that a job run uses. */
#include "stage.h"
#include "stage_actions.h"
#include "stage_control.h"
#include "stage_impl.h"
#include "store/control.h"
#include "store/knob.h"
#include "store/model.h"
#include "store/read/shown.h"

struct answer {
    struct stage *s;
    qs_store_done_fn *done;
    void *user;
    struct qs_err err;
};

static void on_answer(void *user)
{
    struct answer *a = user;
    stage_strike_now(a->s);
    a->done(a->err.code ? &a->err : NULL, 0, a->user);
    free(a);
}

static bool answer(struct stage *s, const char *kind, qs_store_done_fn *done, void *user)
{
    struct answer *a = qs_calloc(1, sizeof *a);
    *a = (struct answer){.s = s, .done = done, .user = user};
    bool fails = s->fail_kind && strcmp(kind, s->fail_kind) == 0 && ++s->kind_seen == s->fail_nth;
    fails = fails || (strcmp(kind, "session_end") == 0 && s->sessions_ended == s->sessions);
    if (fails)
        qs_fail(&a->err, QS_E_STORE, "the disk is full (%s)", kind);
    qs_timer_start(s->loop, STAGE_STEP_NS, on_answer, a);
    return !fails;
}

static struct stage_run *find(struct stage *s, const uint8_t uid[16])
{
    for (size_t i = 0; i < s->run_count; i++) {
        if (memcmp(s->runs[i].uid, uid, 16) == 0)
            return &s->runs[i];
    }
    return NULL;
}

struct stage_run *stage_find(struct stage *s, const struct qs_uid *uid)
{
    return find(s, uid->b);
}

static struct stage *of(struct qs_store *store)
{
    return (struct stage *)(void *)store;
}

void qs_store_artifact(struct qs_store *store, const struct qs_artifact_row *a, qs_store_done_fn *done,
                       void *user)
{
    struct stage *s = of(store);
    assert_non_null(find(s, a->run_uid));
    qs_buf_fmt(&s->left, "%u %s %s %zu of %lld %s\n", (unsigned)a->idx, a->kind, a->name, a->n,
               (long long)a->total_bytes, a->why ? a->why : "");
    answer(s, "artifact", done, user);
}

void qs_store_hold(struct qs_store *store)
{
    of(store)->holds++;
}

void qs_store_release(struct qs_store *store)
{
    assert_true(of(store)->holds > 0);
    of(store)->holds--;
}

bool qs_store_log_is_full(const struct qs_store *store)
{
    struct stage *s = of((struct qs_store *)(uintptr_t)store);
    assert_true(s->full_log == 0 || !s->silent ||
                s->holds == 0); /* in a silence it would never become less */
    return s->full_log > 0 && s->full_log-- > 0;
}

bool qs_store_is_busy(const struct qs_store *store)
{
    struct stage *s = of((struct qs_store *)(uintptr_t)store);
    bool busy = s->busy_store;
    s->busy_store = false;
    return busy;
}

void qs_store_session_begin(struct qs_store *store, const struct qs_session_row *session,
                            qs_store_done_fn *done, void *user)
{
    assert_non_null(session->boot_uuid);
    stage_record_session(of(store), session);
    of(store)->sessions += answer(of(store), "session", done, user) ? 1 : 0;
}

void qs_store_session_end(struct qs_store *store, const uint8_t uid[16], int64_t at_ns, const char *reason,
                          qs_store_done_fn *done, void *user)
{
    (void)uid;
    (void)at_ns;
    (void)reason;
    stage_note_end(of(store));
    of(store)->sessions_ended += answer(of(store), "session_end", done, user) ? 1 : 0;
}

void qs_store_session_env(struct qs_store *store, const uint8_t uid[16], const char *env_json,
                          qs_store_done_fn *done, void *user)
{
    (void)uid;
    qs_buf_fmt(&of(store)->left, "environment %s\n", env_json);
    answer(of(store), "session_env", done, user);
}

void qs_store_run_begin(struct qs_store *store, const struct qs_run_row *run, qs_store_done_fn *done,
                        void *user)
{
    struct stage *s = of(store);
    stage_record_run(s, run);
    if (!answer(s, "run", done, user))
        return;
    assert_true(s->run_count < STAGE_RUNS);
    struct stage_run *r = &s->runs[s->run_count++];
    *r = (struct stage_run){.arm = run->arm,
                            .point = run->point,
                            .block = run->block,
                            .pos = run->pos,
                            .attempt = run->attempt,
                            .state = QS_RUN_RUNNING};
    memcpy(r->uid, run->uid, sizeof r->uid);
    memcpy(r->session, run->session_uid, sizeof r->session);
}

void qs_store_window(struct qs_store *store, const struct qs_window_row *window, qs_store_done_fn *done,
                     void *user)
{
    struct stage *s = of(store);
    struct stage_run *r = find(s, window->run_uid);
    assert_non_null(r);
    assert_int_equal(window->first_seq, r->iterations); /* no gap, nothing twice */
    assert_int_equal(window->ord, r->windows);
    stage_record_window(s, window);
    if (!answer(s, "window", done, user))
        return;
    r->windows++;
    r->iterations += (uint32_t)window->n;
    r->numbered += window->device_n > 0 ? window->device_n : (uint32_t)window->n;
    r->phase = window->phase;
    r->evals = window->evals;
    r->scans += window->phase == QS_PHASE_TUNE;
    if (window->phase != QS_PHASE_TRACED)
        r->taint |= window->taint;
}

void qs_store_run_end(struct qs_store *store, const struct qs_run_end_row *end, qs_store_done_fn *done,
                      void *user)
{
    struct stage *s = of(store);
    struct stage_run *r = find(s, end->uid);
    stage_record_run_end(s, end);
    if (!answer(s, "run_end", done, user) || !r)
        return;
    r->state = end->state;
    r->taint |= end->taint;
    r->ended = true;
    r->warmup_n = end->warmup_n;
    snprintf(r->stop_reason, sizeof r->stop_reason, "%s", end->stop_reason ? end->stop_reason : "");
    snprintf(r->error, sizeof r->error, "%s", end->error_text ? end->error_text : r->error);
}

void qs_store_board(struct qs_store *store, const struct qs_board_row *board, qs_store_done_fn *done,
                    void *user)
{
    assert_string_equal(board->device, "local");
    answer(of(store), "board", done, user);
}

void qs_store_models(struct qs_store *store, const struct qs_model_rows *models, qs_store_done_fn *done,
                     void *user)
{
    assert_string_equal(models->device, "local");
    answer(of(store), "models", done, user);
}

void qs_store_knobs(struct qs_store *store, const struct qs_knob_rows *knobs, qs_store_done_fn *done,
                    void *user)
{
    assert_string_equal(knobs->device, "local");
    answer(of(store), "knobs", done, user);
}

bool qs_read_knobs(struct qs_store_reader *r, const char *device, qs_knob_fn *fn, void *user,
                   struct qs_err *err)
{
    struct stage *s = (struct stage *)(void *)r;
    (void)device;
    for (size_t i = 0; i < s->record.knob_count; i++)
        fn(&s->record.knobs[i], user);
    return !s->record.knobs_fail || qs_fail(err, QS_E_STORE, "the disk cannot be read");
}

/* Nothing was found before. */
bool qs_read_models(struct qs_store_reader *r, const char *device, const char *fingerprint, bool with_traces,
                    qs_model_fn *fn, void *user, struct qs_err *err)
{
    struct stage *s = (struct stage *)(void *)r;
    (void)device, (void)with_traces, (void)err;
    for (size_t i = 0; i < s->record.model_count; i++)
        fn(&(struct qs_model_info){.fingerprint = fingerprint ? fingerprint : "", .row = s->record.models[i]},
           user);
    return true;
}

bool qs_read_cooling_waits(struct qs_store_reader *r, const char *device, qs_cooling_wait_fn *fn, void *user,
                           struct qs_err *err)
{
    struct stage *s = (struct stage *)(void *)r;
    (void)device, (void)err;
    for (size_t i = 0; i < s->record.wait_count; i++)
        fn(&s->record.waits[i], user);
    return true;
}

void qs_store_control(struct qs_store *store, const struct qs_control_rows *rows, qs_store_done_fn *done,
                      void *user)
{
    assert_true(rows->count > 0);
    stage_note_stored(of(store), rows);
    answer(of(store), "control", done, user);
}

void qs_store_tuning(struct qs_store *store, const char *depends_json, const struct qs_tuning *tuning,
                     qs_store_done_fn *done, void *user)
{
    struct stage *s = of(store);
    assert_non_null(find(s, tuning->run_uid));
    if (!answer(s, "tuning", done, user))
        return;
    assert_true(s->kept_count < STAGE_KEPT);
    s->kept[s->kept_count++] = (struct stage_tuning){qs_strdup(depends_json), *tuning};
}

bool qs_read_tuning(struct qs_store_reader *r, const char *depends_json, struct qs_tuning *ret,
                    bool *ret_found, struct qs_err *err)
{
    struct stage *s = (struct stage *)(void *)r;
    *ret_found = false;
    for (size_t i = 0; i < s->kept_count; i++) {
        if (strcmp(s->kept[i].depends, depends_json) == 0) {
            *ret = s->kept[i].tuning;
            *ret_found = true;
        }
    }
    return !s->harness.look_fails || qs_fail(err, QS_E_STORE, "the disk cannot be read");
}

bool qs_read_was_prepared(struct qs_store_reader *r, int64_t job, const char *device, bool *ret,
                          struct qs_err *err)
{
    const struct stage *s = (struct stage *)(void *)r;
    assert_non_null(s->acting);
    assert_int_equal(job, s->parts.job);
    assert_string_equal(device, s->parts.device);
    *ret = s->acting->prepared;
    return !s->acting->look_fails || qs_fail(err, QS_E_STORE, "the disk cannot be read");
}

struct reading {
    struct stage *s;
    qs_store_read_fn *read;
    qs_store_after_fn *after;
    void *user;
};

static void on_read(void *user)
{
    struct reading r = *(struct reading *)user;
    struct qs_err err = QS_ERR_INIT;
    free(user);
    stage_strike_now(r.s);
    bool ok = r.read((struct qs_store_reader *)(void *)r.s, r.user, &err);
    r.after(ok ? NULL : &err, r.user);
}

void qs_store_read(struct qs_store *store, qs_store_read_fn *read, qs_store_after_fn *after, void *user)
{
    struct reading *r = qs_malloc(sizeof *r);
    *r = (struct reading){.s = of(store), .read = read, .after = after, .user = user};
    qs_timer_start(of(store)->loop, STAGE_STEP_NS, on_read, r);
}
