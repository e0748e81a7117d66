/* The whole line in one process and in virtual time: what a simulated device measures, until it is
 * acknowledged. */
#include <stdlib.h>
#include <string.h>

#include "base/loop.h"
#include "device/session/session.h"
#include "ingest.h"

#define SPAN_NS  INT64_C(60000000000)
#define LEASE_NS INT64_C(120000000000)

struct line {
    struct qs_loop *loop;
    struct qs_store *store;
    struct qs_session *session;
    struct ingest_window *windows; /* borrowed */
    uint32_t window, rows, stored;
};

static const struct qs_uid run_uid = {{1}};

static void check(bool ok, const struct qs_err *err)
{
    if (!ok)
        ingest_die(err->text);
}

static void open_window(struct line *l)
{
    struct qs_err err = QS_ERR_INIT;
    const struct qs_msg_open m = {.run = run_uid,
                                  .window = l->window,
                                  .phase = QS_PHASE_MEASURE,
                                  .first_seq = (uint64_t)l->window * PER_WINDOW,
                                  .iterations = PER_WINDOW,
                                  .max_ns = SPAN_NS,
                                  .lease_ns = LEASE_NS};
    l->rows = 0;
    if (l->window % PER_TRANSACTION == 0)
        qs_store_hold(l->store);
    check(qs_session_open(l->session, &m, &err), &err);
}

static void on_run_ready(const union qs_msg *m, const struct qs_err *refused, void *user)
{
    (void)m;
    check(!refused, refused);
    open_window(user);
}

static void on_down(const struct qs_err *why, void *user)
{
    (void)user;
    ingest_die(why->text);
}

static bool may_quiet(const char **why, void *user)
{
    (void)why;
    (void)user;
    return true;
}

static void on_closed(const struct qs_msg_closed *m, const struct qs_session_quiet *quiet, void *user)
{
    struct line *l = user;
    (void)quiet;
    if (m->iterations != PER_WINDOW)
        ingest_die("a window has another number of iterations");
    l->windows[l->window].opened_ns = m->opened_ns;
    l->windows[l->window].closed_ns = m->closed_ns;
}

/* After the commit of a group: acknowledged, and on with the next. */
static void on_stored(const struct qs_err *err, int64_t id, void *user)
{
    struct line *l = user;
    struct qs_err e = QS_ERR_INIT;
    (void)id;
    if (err)
        ingest_die(err->text);
    l->stored++;
    if (l->stored % PER_TRANSACTION != 0)
        return;
    check(qs_session_ack(l->session, &run_uid, (uint64_t)l->stored * PER_WINDOW, &e), &e);
    if (l->stored == WINDOWS)
        qs_loop_stop(l->loop);
    else
        open_window(l);
}

static void store_window(struct line *l)
{
    struct qs_window_row row = ingest_window_row(l->window, &l->windows[l->window]);
    qs_store_window(l->store, &row, on_stored, l);
    l->window++;
    if (l->window % PER_TRANSACTION == 0)
        qs_store_release(l->store);
    else
        open_window(l);
}

static void on_iterations(const struct qs_msg_iterations *m, void *user)
{
    struct line *l = user;
    struct qs_iter it = qs_list_iter(&m->rows);
    struct qs_row row;
    while (l->rows < PER_WINDOW && qs_list_row(&it, m->metrics.count, &row)) {
        struct qs_iteration_row *to = &l->windows[l->window].rows[l->rows++];
        *to = (struct qs_iteration_row){
            .start_off_ns = row.start_off_ns, .duration_ns = row.duration_ns, .status = row.status};
        memcpy(to->values, row.values, METRICS * sizeof *to->values);
    }
    if (l->rows == PER_WINDOW)
        store_window(l);
}

static void on_error(const struct qs_err *err, void *user)
{
    (void)user;
    ingest_die(err->text);
}

static void on_ready(const struct qs_session_agent *agent, const char *facts_json, void *user)
{
    struct line *l = user;
    struct qs_err err = QS_ERR_INIT;
    uint8_t memory[64];
    struct qs_build argv;
    (void)agent;
    (void)facts_json;
    qs_build_init(&argv, memory, sizeof memory);
    qs_build_text(&argv, qs_text_of("sim"));
    qs_build_text(&argv, qs_text_of("10000000"));
    const struct qs_msg_run_begin m = {
        .run = run_uid, .argv = qs_build_list(&argv), .iteration_limit_ns = SPAN_NS};
    const struct qs_run_events events = {.may_quiet = may_quiet,
                                         .on_closed = on_closed,
                                         .on_iterations = on_iterations,
                                         .on_error = on_error,
                                         .user = l};
    const struct qs_call call = {
        .type = QS_MSG_RUN_BEGIN, .m = &m, .on_reply = on_run_ready, .user = l, .events = &events};
    check(qs_session_call(l->session, &call, &err), &err);
}

struct ingest_spent ingest_line(const char *path, struct ingest_window *windows)
{
    static const uint8_t farm[16] = {0xfa};
    const struct qs_farm_device device = {.name = (char[]){"sim"}, .link = QS_LINK_SIM, .sim_seed = 1};
    struct ingest_spent spent;
    struct line l = {.loop = qs_loop_new_virtual(1000000000, 1), .windows = windows};
    const struct qs_session_events events = {.on_ready = on_ready, .on_down = on_down, .user = &l};
    l.store = ingest_open_world(l.loop, path);
    l.session = qs_session_new(l.loop, &device, farm, SPAN_NS, &events);
    ingest_begin(&spent);
    qs_session_start(l.session);
    qs_loop_run(l.loop);
    ingest_end(&spent);
    if (l.stored != WINDOWS)
        ingest_die("not every window was stored");
    qs_session_free(l.session);
    qs_store_close(l.store);
    qs_loop_run(l.loop);
    qs_loop_free(l.loop);
    return spent;
}
