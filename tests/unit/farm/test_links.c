/* Trouble on the link at every frame of a job, either way: the real session, agent, job run and store, in
 * virtual time. The job is done in the end, with whole blocks and nothing counted twice. */
#include "bed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sqlite3.h>

#include "base/mem.h"
#include "farm/simulate.h"
#include "link/link_impl.h"

enum { BLOCKS = 2, ARMS = 2, STALL_S = 6 };

static const char farm_text[] = "devices: {board: {link: sim, sim_seed: 3}}\n";
static const char job_text[] =
    "quiesce: 1\n"
    "benchmarks: [{name: pretend, argv: [sim, \"1000000\"], setup: [sim], cleanup: [sim]}]\n"
    "arms: {a: {env: {A: x}}, b: {env: {A: y}}}\n"
    "plan: {seed: 5, blocks: 2, until: {interval: 0%}, window: {iterations: 2}}\n"
    "conditions: {gate: none}\n";

static char dir[64];

static struct {
    enum trouble { NO_TROUBLE, BREAKS, DAMAGED, STALLS, DAMAGED_BACK } kind;
    unsigned nth, seen; /* which frame, from 1; frames so far */
    int64_t stalls_until_ns;
    unsigned cancel_nth; /* BREAKS: the job is cancelled at which frame after that; 0: not */
    void (*cancel)(void *user);
    void *user;
} trouble;

bool __real_qs_link_send(struct qs_link *link, const uint8_t *bytes, size_t n, struct qs_err *err);
bool __wrap_qs_link_send(struct qs_link *link, const uint8_t *bytes, size_t n, struct qs_err *err);
void __real_qs_link_bytes(struct qs_link *link, const uint8_t *bytes, size_t n);
void __wrap_qs_link_bytes(struct qs_link *link, const uint8_t *bytes, size_t n);

/* The last byte belongs to the frame, and the sum at its beginning to that. */
static uint8_t *damaged(const uint8_t *bytes, size_t n)
{
    uint8_t *copy = qs_malloc(n);
    memcpy(copy, bytes, n);
    copy[n - 1] ^= 0x10;
    return copy;
}

bool __wrap_qs_link_send(struct qs_link *link, const uint8_t *bytes, size_t n, struct qs_err *err)
{
    bool strikes = trouble.kind != DAMAGED_BACK && ++trouble.seen == trouble.nth;
    if (trouble.cancel_nth > 0 && trouble.seen == trouble.nth + trouble.cancel_nth)
        qs_loop_post(link->loop, trouble.cancel, trouble.user);
    if (strikes && trouble.kind == STALLS)
        trouble.stalls_until_ns = qs_loop_now_ns(link->loop) + STALL_S * INT64_C(1000000000);
    if (qs_loop_now_ns(link->loop) < trouble.stalls_until_ns)
        return true; /* the host stands still: what it wrote lies there, and comes to nothing */
    if (strikes && trouble.kind == BREAKS) {
        struct qs_err why = QS_ERR_INIT;
        qs_fail(&why, QS_E_LINK, "broken pipe");
        qs_link_down_later(link, &why);
        return qs_fail(err, why.code, "%s", why.text);
    }
    if (!strikes || trouble.kind != DAMAGED)
        return __real_qs_link_send(link, bytes, n, err);
    uint8_t *copy = damaged(bytes, n);
    bool ok = __real_qs_link_send(link, copy, n, err);
    free(copy);
    return ok;
}

void __wrap_qs_link_bytes(struct qs_link *link, const uint8_t *bytes, size_t n)
{
    bool strikes = trouble.kind == DAMAGED_BACK && ++trouble.seen == trouble.nth;
    uint8_t *copy = damaged(bytes, n);
    __real_qs_link_bytes(link, strikes ? copy : bytes, n);
    free(copy);
}

static int64_t number(const char *db, const char *sql)
{
    sqlite3 *sqlite;
    sqlite3_stmt *stmt;
    assert_int_equal(sqlite3_open_v2(db, &sqlite, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(sqlite, sql, -1, &stmt, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(stmt), SQLITE_ROW);
    int64_t n = sqlite3_column_int64(stmt, 0);
    sqlite3_finalize(stmt);
    sqlite3_close(sqlite);
    return n;
}

static void remove_all(const char *db)
{
    static const char *const ends[] = {"", "-wal", "-shm", "-lock"};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        char *path = qs_asprintf("%s%s", db, ends[i]);
        (void)unlink(path);
        free(path);
    }
    char *files = qs_asprintf("%s.files", db);
    (void)rmdir(files);
    free(files);
}

static void check(const char *db)
{
    assert_int_equal(number(db, "SELECT count(*) FROM job WHERE state = 'done'"), 1);
    assert_int_equal(number(db, "SELECT count(*) FROM run WHERE block > 0 AND state = 'done'"),
                     BLOCKS * ARMS);
    assert_int_equal(number(db, "SELECT count(*) FROM session WHERE ended_wall_ns IS NULL"), 0);
    assert_int_equal(number(db, "SELECT count(*) FROM run WHERE state = 'running'"), 0);
    /* the last bytes of the iterations' frames: a simulated program writes nothing */
    assert_int_equal(number(db, "SELECT count(*) FROM iteration_rusage WHERE block_out <> 0"), 0);
    assert_true(number(db, "SELECT count(*) FROM iteration_rusage") >= BLOCKS * ARMS * 2);
    /* what is not tainted is there once for each arm and block */
    assert_int_equal(
        number(db, "SELECT count(DISTINCT run) FROM v_iteration WHERE block > 0 AND taint & 256 = 0"),
        BLOCKS * ARMS);
}

/* True where the frame was there to be struck. */
static bool strike(enum trouble kind, unsigned nth, struct qs_farm_config *config)
{
    struct qs_err err = QS_ERR_INIT;
    struct qs_buf out;
    char *db = qs_asprintf("%s/%d-%u.db", dir, (int)kind, nth);
    const struct qs_simulation sim = {.config = config,
                                      .job_text = job_text,
                                      .job_bytes = strlen(job_text),
                                      .job_name = "job.yaml",
                                      .db = db,
                                      .seed = 1};
    memset(&trouble, 0, sizeof trouble);
    trouble.kind = kind;
    trouble.nth = nth;
    qs_buf_init(&out);
    if (!qs_simulate(&sim, &out, &err))
        fail_msg("%s", err.text);
    check(db);
    remove_all(db);
    qs_buf_done(&out);
    free(db);
    return trouble.seen >= nth;
}

/* Each step-th one. */
static void each_frame(enum trouble kind, unsigned step)
{
    struct qs_farm_config *config = bed_farm_of(farm_text);
    unsigned nth = 1;
    while (strike(kind, nth, config))
        nth += step;
    assert_true(nth > 30);
    qs_farm_config_free(config);
}

static void test_the_link_breaks_while_the_host_writes(void **state)
{
    (void)state;
    each_frame(BREAKS, 1);
}

static void test_a_frame_is_damaged_on_its_way_to_the_agent(void **state)
{
    (void)state;
    each_frame(DAMAGED, 1);
}

static void test_a_frame_is_damaged_on_its_way_to_the_host(void **state)
{
    (void)state;
    each_frame(DAMAGED_BACK, 2);
}

static void test_the_host_stalls(void **state)
{
    (void)state;
    each_frame(STALLS, 3);
}

/* In memory where there is such a place: some hundred databases are made. */
static int make_dir(void **state)
{
    (void)state;
    snprintf(dir, sizeof dir, "%s/quiesce-test-XXXXXX", access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    return mkdtemp(dir) ? 0 : -1;
}

static int remove_dir(void **state)
{
    (void)state;
    return rmdir(dir);
}

/* ---- a job that is cancelled while its device comes back ---- */

struct comeback {
    struct bed base;
    struct qs_timer *guard;
    unsigned cancels, idle;
};

static void on_submitted(const struct qs_err *err, int64_t id, void *user)
{
    (void)id;
    (void)user;
    assert_null(err);
}

static void on_cancelled(const struct qs_err *err, int64_t id, void *user)
{
    (void)id;
    (void)user;
    assert_null(err);
}

static void cancel_first(void *user)
{
    struct comeback *c = user;
    struct qs_err err = QS_ERR_INIT;
    c->cancels += qs_farm_cancel(c->base.farm, 1, "not needed", on_cancelled, c, &err);
}

static void on_idle(void *user)
{
    struct comeback *c = user;
    c->idle++;
    qs_timer_stop(c->guard);
    c->guard = NULL;
    qs_farm_stop(c->base.farm, bed_on_stopped, &c->base);
}

static void on_too_long(void *user)
{
    struct comeback *c = user;
    c->guard = NULL;
    qs_farm_stop(c->base.farm, bed_on_stopped, &c->base);
}

static void submit_one(struct comeback *c)
{
    const struct qs_submission sub = {.text = job_text, .text_bytes = strlen(job_text), .name = "job.yaml"};
    assert_true(bed_submit(&c->base, &sub, NULL, on_submitted, c, NULL));
}

/* True where the first job was still there to be cancelled. The second one is done in any case. */
static bool cancelled_at(unsigned nth)
{
    const int64_t hour_ns = INT64_C(3600000000000);
    struct comeback c = {.cancels = 0};
    bed_init(&c.base, farm_text);
    c.base.events = (struct qs_farm_events){.on_idle = on_idle, .user = &c};
    memset(&trouble, 0, sizeof trouble);
    trouble.kind = BREAKS;
    trouble.nth = 30; /* in the first job */
    trouble.cancel_nth = nth;
    trouble.cancel = cancel_first;
    trouble.user = &c;
    bed_begin(&c.base, 1000000000, 1);
    c.guard = qs_timer_start(c.base.loop, hour_ns, on_too_long, &c);
    submit_one(&c);
    submit_one(&c);
    qs_loop_run(c.base.loop);
    bed_end(&c.base);
    assert_true(trouble.seen > trouble.nth);
    if (c.idle != 1)
        fail_msg("cancelled at frame %u after the loss, the next job never ended", nth);
    assert_int_equal(number(c.base.db, "SELECT count(*) FROM job WHERE id = 2 AND state = 'done'"), 1);
    assert_int_equal(
        number(c.base.db, "SELECT count(*) FROM job WHERE id = 1 AND state IN ('done', 'cancelled')"), 1);
    memset(&trouble, 0, sizeof trouble);
    bed_done(&c.base);
    return c.cancels > 0;
}

static void a_device_comes_back_for_the_next_job(void **state)
{
    unsigned nth = 1;
    (void)state;
    while (cancelled_at(nth))
        nth++;
    assert_in_range(nth, 12, 300); /* the greeting alone has more than a dozen frames */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_link_breaks_while_the_host_writes),
        cmocka_unit_test(test_a_frame_is_damaged_on_its_way_to_the_agent),
        cmocka_unit_test(test_a_frame_is_damaged_on_its_way_to_the_host),
        cmocka_unit_test(test_the_host_stalls),
        cmocka_unit_test(a_device_comes_back_for_the_next_job),
    };
    return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
