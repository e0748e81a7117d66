#include "ledger.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <sqlite3.h>

#include "base/mem.h"
#include "proto/uid.h"
#include "sim/port.h"

enum { SIMS_MAX = 4, PROBLEMS_MAX = 10 };

struct entry {
    char run[QS_UID_HEX_BYTES];
    uint64_t seq;
    uint32_t window;
    int64_t start_ns, duration_ns, status;
    bool disturbed, distrusted;
};

static struct {
    struct qs_sim *sims[SIMS_MAX];
    size_t sim_count;
    struct entry *entries;
    size_t count;
    struct entry *disturbed; /* only run and window */
    size_t disturbed_count;
    uint64_t distrusted; /* a seed; 0: none */
} ledger;

void ledger_begin(void)
{
    memset(&ledger, 0, sizeof ledger);
}

void ledger_end(void)
{
    free(ledger.entries);
    free(ledger.disturbed);
    ledger_begin();
}

size_t ledger_count(void)
{
    return ledger.count;
}

void ledger_distrust(uint64_t sim_seed)
{
    ledger.distrusted = sim_seed;
}

size_t ledger_disturbed(void)
{
    return ledger.disturbed_count;
}

bool ledger_is_settled(void)
{
    bool settled = ledger.sim_count > 0;
    for (size_t i = 0; i < ledger.sim_count; i++)
        settled =
            settled && ledger.sims[i]->agent.ring.count == 0 && ledger.sims[i]->agent.state == QS_STATE_READY;
    return settled;
}

/* ---- at the port ---- */

void __real_qs_sim_init(struct qs_sim *sim, const struct qs_sim_options *options, int64_t now_ns,
                        bool (*on_send)(void *ctx, const uint8_t *bytes, size_t n),
                        void (*on_close)(void *ctx), void *ctx);
void __wrap_qs_sim_init(struct qs_sim *sim, const struct qs_sim_options *options, int64_t now_ns,
                        bool (*on_send)(void *ctx, const uint8_t *bytes, size_t n),
                        void (*on_close)(void *ctx), void *ctx);
void __real_qs_sim_on_bytes(struct qs_sim *sim, int64_t now_ns, const uint8_t *bytes, size_t n);
void __wrap_qs_sim_on_bytes(struct qs_sim *sim, int64_t now_ns, const uint8_t *bytes, size_t n);
void __real_qs_sim_link_down(struct qs_sim *sim, int64_t now_ns);
void __wrap_qs_sim_link_down(struct qs_sim *sim, int64_t now_ns);
void __real_qs_agent_on_child(struct qs_agent *agent, const struct qs_port_child *child);
void __wrap_qs_agent_on_child(struct qs_agent *agent, const struct qs_port_child *child);
void __real_qs_sim_program_row(void *ctx, uint32_t i, uint32_t metrics, struct qs_port_row *row);
void __wrap_qs_sim_program_row(void *ctx, uint32_t i, uint32_t metrics, struct qs_port_row *row);

void __wrap_qs_sim_init(struct qs_sim *sim, const struct qs_sim_options *options, int64_t now_ns,
                        bool (*on_send)(void *ctx, const uint8_t *bytes, size_t n),
                        void (*on_close)(void *ctx), void *ctx)
{
    assert_true(ledger.sim_count < SIMS_MAX);
    ledger.sims[ledger.sim_count++] = sim;
    __real_qs_sim_init(sim, options, now_ns, on_send, on_close, ctx);
}

static struct entry entry_of(const struct qs_agent *agent)
{
    struct entry e = {.window = agent->window.number};
    qs_uid_hex(&agent->run.uid, e.run);
    return e;
}

static void note(const struct qs_agent *agent, uint64_t seq, int64_t start_ns, int64_t duration_ns,
                 int64_t status)
{
    const struct qs_sim *sim = agent->port.ctx;
    struct entry e = entry_of(agent);
    e.distrusted = ledger.distrusted != 0 && sim->options.seed == ledger.distrusted;
    e.seq = seq;
    e.start_ns = start_ns;
    e.duration_ns = duration_ns;
    e.status = status;
    ledger.entries = qs_grow(ledger.entries, ledger.count, sizeof e);
    ledger.entries[ledger.count++] = e;
}

static bool same_window(const struct entry *a, const struct entry *b)
{
    return strcmp(a->run, b->run) == 0 && a->window == b->window;
}

/* A window that runs is not to be trusted any more. */
static void disturb(const struct qs_agent *agent)
{
    if (agent->state != QS_STATE_MEASURING)
        return;
    struct entry e = entry_of(agent);
    if (ledger.disturbed_count > 0 && same_window(&ledger.disturbed[ledger.disturbed_count - 1], &e))
        return;
    ledger.disturbed = qs_grow(ledger.disturbed, ledger.disturbed_count, sizeof e);
    ledger.disturbed[ledger.disturbed_count++] = e;
}

void __wrap_qs_sim_on_bytes(struct qs_sim *sim, int64_t now_ns, const uint8_t *bytes, size_t n)
{
    qs_sim_on_time(sim, now_ns);
    disturb(&sim->agent);
    __real_qs_sim_on_bytes(sim, now_ns, bytes, n);
}

void __wrap_qs_sim_link_down(struct qs_sim *sim, int64_t now_ns)
{
    qs_sim_on_time(sim, now_ns);
    disturb(&sim->agent);
    __real_qs_sim_link_down(sim, now_ns);
}

static bool is_iteration(const struct qs_agent *agent)
{
    return (agent->state == QS_STATE_MEASURING || agent->state == QS_STATE_ALONE) && !agent->run.harness.on &&
           agent->window.step == QS_STEP_ITERATION && !agent->window.cancelled;
}

void __wrap_qs_agent_on_child(struct qs_agent *agent, const struct qs_port_child *child)
{
    if (is_iteration(agent))
        note(agent, agent->run.next_seq, child->start_ns, child->end_ns - child->start_ns,
             child->how == QS_PORT_EXITED ? child->code : -child->code);
    __real_qs_agent_on_child(agent, child);
}

void __wrap_qs_sim_program_row(void *ctx, uint32_t i, uint32_t metrics, struct qs_port_row *row)
{
    const struct qs_sim *sim = ctx;
    __real_qs_sim_program_row(ctx, i, metrics, row);
    note(&sim->agent, sim->agent.run.next_seq, row->start_ns, row->duration_ns, 0);
}

/* ---- in the database ---- */

struct comparison {
    struct qs_buf *problems;
    unsigned count;
    size_t next; /* of the ledger */
};

static void problem(struct comparison *c, const char *what, const char *run, uint64_t seq)
{
    if (c->count++ < PROBLEMS_MAX)
        qs_buf_fmt(c->problems, "  %s: run %s, iteration %llu\n", what, run, (unsigned long long)seq);
}

static void lost(struct comparison *c, const struct entry *e)
{
    if (!e->distrusted)
        problem(c, "lost", e->run, e->seq);
}

static int by_place(const void *left, const void *right)
{
    const struct entry *a = left, *b = right;
    int run = strcmp(a->run, b->run);
    return run ? run : a->seq < b->seq ? -1 : a->seq > b->seq;
}

/* As they are stored: ordered by run and place there. */
static void compare_row(struct comparison *c, const struct entry *stored, bool tainted)
{
    while (c->next < ledger.count && by_place(&ledger.entries[c->next], stored) < 0)
        lost(c, &ledger.entries[c->next++]);
    if (c->next == ledger.count || by_place(&ledger.entries[c->next], stored) != 0) {
        problem(c, "never measured, or there twice", stored->run, stored->seq);
        return;
    }
    const struct entry *e = &ledger.entries[c->next++];
    bool same = e->duration_ns == stored->duration_ns;
    bool all = e->window == stored->window && e->start_ns == stored->start_ns && e->status == stored->status;
    if (!same || !(all || e->distrusted))
        problem(c, "not as it was measured", stored->run, stored->seq);
    if (e->disturbed && !e->distrusted && !tainted)
        problem(c, "disturbed, and yet without a taint", stored->run, stored->seq);
}

static void mark_disturbed(void)
{
    for (size_t i = 0; i < ledger.count; i++) {
        for (size_t k = 0; k < ledger.disturbed_count; k++)
            ledger.entries[i].disturbed |= same_window(&ledger.entries[i], &ledger.disturbed[k]);
    }
}

static struct entry read_row(sqlite3_stmt *row)
{
    struct entry e = {.seq = (uint64_t)sqlite3_column_int64(row, 1),
                      .window = (uint32_t)sqlite3_column_int64(row, 2),
                      .start_ns = sqlite3_column_int64(row, 3),
                      .duration_ns = sqlite3_column_int64(row, 4),
                      .status = sqlite3_column_int64(row, 5)};
    const char *run = (const char *)sqlite3_column_text(row, 0);
    assert_true(strlen(run) < sizeof e.run);
    memcpy(e.run, run, strlen(run) + 1);
    return e;
}

void ledger_compare(const char *db, struct qs_buf *problems)
{
    static const char sql[] = "SELECT run, seq, window, start_ns, duration_ns, status, taint "
                              "FROM v_iteration ORDER BY run, seq";
    struct comparison c = {.problems = problems};
    sqlite3 *sqlite;
    sqlite3_stmt *row;
    mark_disturbed();
    if (ledger.count > 0)
        qsort(ledger.entries, ledger.count, sizeof *ledger.entries, by_place);
    assert_int_equal(sqlite3_open_v2(db, &sqlite, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(sqlite, sql, -1, &row, NULL), SQLITE_OK);
    int step;
    while ((step = sqlite3_step(row)) == SQLITE_ROW) {
        const struct entry stored = read_row(row);
        compare_row(&c, &stored, sqlite3_column_int64(row, 6) != 0);
    }
    assert_int_equal(step, SQLITE_DONE);
    while (c.next < ledger.count)
        lost(&c, &ledger.entries[c.next++]);
    sqlite3_finalize(row);
    sqlite3_close(sqlite);
    if (c.count > PROBLEMS_MAX)
        qs_buf_fmt(problems, "  and %u more\n", c.count - PROBLEMS_MAX);
}
