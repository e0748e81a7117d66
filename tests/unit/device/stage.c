#include "stage_actions.h"
#include "stage_impl.h"

static const char two_arms[] = "quiesce: 1\n"
                               "benchmarks: [{name: work, argv: [work]}]\n"
                               "arms: {a: {argv: [a]}, b: {argv: [b]}}\n"
                               "plan:\n"
                               "  seed: 1\n"
                               "  blocks: {min: 3, max: 6}\n"
                               "  until: {interval: 0%}\n"
                               "  warmup: {iterations: 1}\n"
                               "  window: {iterations: 5}\n";

bool stage_taken[QS_JS_COUNT][QS_JI_COUNT];

const struct qs_job_run_row *__real_qs_job_run_find(enum qs_job_run_state state, enum qs_job_run_input input);
const struct qs_job_run_row *__wrap_qs_job_run_find(enum qs_job_run_state state, enum qs_job_run_input input);

/* Linked in front of the table: what the job run looks up and finds, it does. */
const struct qs_job_run_row *__wrap_qs_job_run_find(enum qs_job_run_state state, enum qs_job_run_input input)
{
    const struct qs_job_run_row *row = __real_qs_job_run_find(state, input);
    stage_taken[state][input] = stage_taken[state][input] || row;
    return row;
}

static void on_event(const char *kind, const char *body_json, const uint8_t *run_uid, void *user)
{
    struct stage *s = user;
    assert_false(s->ended); /* who has ended says nothing more */
    stage_record_event(s, kind, body_json, run_uid != NULL);
    qs_buf_fmt(&s->news, "%s %s\n", kind, body_json);
}

static void on_state(const char *from, const char *input, const char *to, void *user)
{
    stage_record_state(user, from, input, to);
}

static void on_silence(bool silent, void *user)
{
    struct stage *s = user;
    assert_true(silent != s->silent);
    s->silent = silent;
    s->silences += silent ? 1 : 0;
    s->busy_store |= silent && s->asked_always;
}

static bool is_answering(void *user)
{
    struct stage *s = user;
    assert_true(s->silent);        /* or it would never end */
    assert_int_equal(s->holds, 0); /* nothing could be answered */
    return s->served > 0 && s->served-- > 0;
}

static bool take_token(bool window, const char **why, void *user)
{
    struct stage *s = user;
    *why = "the hub is in use";
    if (!window && s->token_refusals > 0) {
        s->token_refusals--;
        return false;
    }
    if (window && s->window_refusals > 0) {
        s->window_refusals--;
        return false;
    }
    assert_int_equal(s->tokens, 0);
    s->tokens++;
    return true;
}

static void give_token(void *user)
{
    struct stage *s = user;
    assert_int_equal(s->tokens, 1);
    s->tokens--;
}

static void on_end(const struct qs_job_run_result *result, void *user)
{
    struct stage *s = user;
    s->result = *result;
    s->ended++;
    if (s->acting)
        s->acting->ended_ns = qs_loop_now_ns(s->loop);
}

static void come_back(void *user)
{
    struct stage *s = user;
    stage_session_reset(s);
    qs_job_run_on_ready(s->job, "boot-2", "{}");
}

static void tell_down(struct stage *s, const struct qs_err *why)
{
    if (s->away_ns >= 0)
        qs_timer_start(s->loop, s->away_ns, come_back, s);
    qs_job_run_on_down(s->job, why);
}

static void go_down(struct stage *s)
{
    struct qs_err why = QS_ERR_INIT;
    qs_fail(&why, QS_E_LINK, "cable pulled");
    s->generation++;
    s->session = SESSION_DOWN;
    tell_down(s, &why);
}

struct loss {
    struct stage *s;
    struct qs_err why;
};

static void on_lost(void *user)
{
    struct loss loss = *(struct loss *)user;
    free(user);
    tell_down(loss.s, &loss.why);
}

void stage_lose(struct stage *s, const struct qs_err *why)
{
    struct loss *loss = qs_malloc(sizeof *loss);
    *loss = (struct loss){.s = s, .why = *why};
    s->generation++;
    s->session = SESSION_DOWN;
    qs_timer_start(s->loop, 0, on_lost, loss);
}

void qs_session_drop(struct qs_session *session, const struct qs_err *why)
{
    struct stage *s = stage_of(session);
    if (s->session == SESSION_DOWN)
        return;
    s->drops++;
    stage_lose(s, why);
}

static void strike_lost(struct stage *s)
{
    struct qs_err again = QS_ERR_INIT;
    enum stage_strike strike = s->strike_lost;
    s->strike_lost = STRIKE_NONE;
    if (strike == STRIKE_DOWN) {
        qs_fail(&again, QS_E_LINK, "still away");
        qs_job_run_on_down(s->job, &again);
    } else if (strike == STRIKE_CANCEL) {
        qs_job_run_cancel(s->job, "nobody waits");
    } else {
        qs_job_run_abandon(s->job);
    }
}

void stage_strike_now(struct stage *s)
{
    if (s->strike_lost != STRIKE_NONE && strcmp(qs_job_run_state_name(s->job), "lost") == 0) {
        strike_lost(s);
        return;
    }
    if (s->strike == STRIKE_NONE || strcmp(qs_job_run_state_name(s->job), s->strike_state) != 0 ||
        s->answers++ < s->strike_after || s->struck >= (s->strikes ? s->strikes : 1))
        return;
    s->struck++;
    if (s->strike == STRIKE_DOWN)
        go_down(s);
    else if (s->strike == STRIKE_CANCEL)
        qs_job_run_cancel(s->job, "not needed any more");
    else if (s->strike == STRIKE_FEED)
        qs_job_run_feed(s->job, s->feed);
    else
        qs_job_run_abandon(s->job);
}

void stage_init(struct stage *s, const char *job)
{
    struct qs_problems problems;
    struct qs_doc *doc = NULL;
    const char *text = job ? job : two_arms;
    *s = (struct stage){.away_ns = 1000000000};
    qs_problems_init(&problems);
    bool ok = qs_doc_read("job", text, strlen(text), false, &doc, &problems) &&
              qs_job_from_doc(doc, &s->spec, &problems);
    if (!ok)
        fail_msg("%s", problems.count ? problems.at[0].what : "?");
    qs_doc_free(doc);
    qs_problems_done(&problems);
    s->loop = qs_loop_new_virtual(1000, 1);
    qs_buf_init(&s->news);
    qs_buf_init(&s->hooks);
    qs_buf_init(&s->left);
    qs_buf_init(&s->disk.places);
    s->parts = (struct qs_job_run_parts){.loop = s->loop,
                                         .store = (struct qs_store *)(void *)s,
                                         .session = (struct qs_session *)(void *)s,
                                         .spec = s->spec,
                                         .job = 7,
                                         .seed = 1,
                                         .device = "local",
                                         .local = true};
}

void stage_earlier(struct stage *s, const struct qs_measured_runs *earlier)
{
    s->parts.earlier = earlier;
}

void stage_play(struct stage *s)
{
    const struct qs_job_run_events events = {.on_event = on_event,
                                             .on_state = on_state,
                                             .on_silence = on_silence,
                                             .is_answering = is_answering,
                                             .take_token = take_token,
                                             .give_token = give_token,
                                             .on_end = on_end,
                                             .user = s};
    s->job = qs_job_run_new(&s->parts, &events);
    if (s->early == QS_JI_CANCEL)
        qs_job_run_cancel(s->job, "early");
    else if (s->early == QS_JI_ABANDON)
        qs_job_run_abandon(s->job);
    qs_job_run_start(s->job, "boot-1", s->facts ? s->facts : "{}");
    qs_loop_run(s->loop);
    assert_int_equal(s->ended, 1);
}

void stage_go(struct stage *s)
{
    stage_play(s);
    assert_string_equal(qs_job_run_state_name(s->job), "done");
    assert_false(s->silent);
    assert_int_equal(s->holds, 0);
    assert_int_equal(s->tokens, 0);
    assert_int_equal(s->sessions, s->sessions_ended);
    for (size_t i = 0; i < s->run_count; i++)
        assert_true(s->runs[i].ended); /* no run stays open on disk */
}

void stage_done(struct stage *s)
{
    qs_job_run_free(s->job);
    assert_int_equal(qs_loop_free(s->loop), 0);
    qs_job_free(s->spec);
    qs_buf_done(&s->news);
    qs_buf_done(&s->hooks);
    qs_buf_done(&s->left);
    qs_buf_done(&s->disk.places);
    for (size_t i = 0; i < s->kept_count; i++)
        free(s->kept[i].depends);
}

size_t stage_counted(const struct stage *s, uint32_t point, uint32_t block)
{
    uint32_t last = 0;
    size_t n = 0;
    for (size_t i = 0; i < s->run_count; i++) {
        const struct stage_run *r = &s->runs[i];
        if (r->point == point && r->block == block && r->attempt > last)
            last = r->attempt;
    }
    for (size_t i = 0; i < s->run_count; i++) {
        const struct stage_run *r = &s->runs[i];
        n += r->point == point && r->block == block && r->attempt == last && r->state == QS_RUN_DONE ? 1 : 0;
    }
    return n;
}

bool stage_told(const struct stage *s, const char *text)
{
    return strstr(s->news.data, text) != NULL;
}
