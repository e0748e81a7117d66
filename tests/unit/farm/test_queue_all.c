/* The queue against a planner that looks at every job and every device each time; and what it looks at. */
#include "table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/prng.h"

/* ---- the same decisions as by looking at every job and every device each time ---- */

struct model {
    bool in[JOBS], begun[JOBS], deferred[JOBS], wants[JOBS][DEVICES];
    bool asks[JOBS][DEVICES]; /* by name, whatever the device is called now */
    size_t line[JOBS], count; /* of the queue */
};

static bool to_be_had(const struct table *t, size_t d, const bool *kept, bool host)
{
    const struct qs_queue_device *device = &t->devices[d].queue;
    return device->ready && !device->taken && !device->held && !kept[d] && !(device->local && host);
}

/* A job begins on `first`; what it wants from now on is what it has chosen besides. */
static void model_begin(struct model *m, const struct table *t, size_t j, size_t first, const bool *kept,
                        bool host)
{
    bool chosen[DEVICES] = {false};
    size_t fitting = 0, n = 1;
    for (size_t d = 0; d < DEVICES; d++)
        fitting += m->wants[j][d] ? 1 : 0;
    const struct qs_queue_job *job = &t->jobs[j];
    size_t most = job->take == QS_TAKE_ALL ? fitting : job->take == QS_TAKE_COUNT ? job->take_count : 1;
    host = host || t->devices[first].queue.local;
    for (int others = 0; others <= 1; others++) {
        for (size_t d = 0; d < DEVICES && n < most; d++) {
            bool now = to_be_had(t, d, kept, host);
            if (d == first || !m->wants[j][d] || chosen[d] || !(now || others))
                continue;
            chosen[d] = true;
            host = host || t->devices[d].queue.local;
            n++;
        }
    }
    memcpy(m->wants[j], chosen, sizeof chosen);
    m->begun[j] = true;
}

static void model_plan(struct model *m, const struct table *t, char *out, size_t bytes)
{
    bool kept[DEVICES] = {false}, host = false;
    size_t at = 0;
    out[0] = '\0';
    for (size_t d = 0; d < DEVICES; d++)
        host = host || (t->devices[d].queue.local && t->devices[d].queue.taken);
    for (size_t i = 0; i < m->count; i++) {
        size_t j = m->line[i];
        if (m->deferred[j])
            continue;
        for (size_t round = 0; round < 2; round++) { /* a second one for what a job that begins has chosen */
            for (size_t d = 0; d < DEVICES; d++) {
                if (!m->wants[j][d] || !to_be_had(t, d, kept, host))
                    continue;
                if (m->begun[j])
                    m->wants[j][d] = false;
                else
                    model_begin(m, t, j, d, kept, host);
                host = host || t->devices[d].queue.local;
                kept[d] = true;
                at +=
                    (size_t)snprintf(out + at, bytes - at, "%s%zu:%c", at > 0 ? " " : "", j, (char)('A' + d));
            }
        }
        for (size_t d = 0; d < DEVICES; d++)
            kept[d] = kept[d] || m->wants[j][d];
    }
}

static void model_leave(struct model *m, size_t j)
{
    size_t i = 0;
    while (m->line[i] != j)
        i++;
    memmove(&m->line[i], &m->line[i + 1], (--m->count - i) * sizeof m->line[0]);
}

static bool is_called_right(const struct table *t, size_t d)
{
    return t->devices[d].name[0] == (char)('A' + d);
}

/* Its name is another one, or its own again. */
static void rename_it(struct table *t, struct model *m, size_t d)
{
    t->devices[d].name[0] = is_called_right(t, d) ? '-' : (char)('A' + d);
    qs_queue_refit(t->queue, &t->devices[d].queue);
    for (size_t j = 0; j < JOBS; j++)
        if (m->in[j] && !m->begun[j])
            m->wants[j][d] = m->asks[j][d] && is_called_right(t, d);
}

static void arrive(struct table *t, struct model *m, size_t j, uint64_t bits)
{
    char devices[DEVICES + 1] = "";
    m->begun[j] = (bits >> 4 & 3) == 0;
    for (size_t d = 0, n = 0; d < DEVICES; d++) {
        m->asks[j][d] = (bits >> d & 1) != 0;
        m->wants[j][d] = m->asks[j][d] && (m->begun[j] || is_called_right(t, d));
        if (m->asks[j][d])
            devices[n++] = (char)('A' + d);
    }
    m->deferred[j] = false;
    m->in[j] = true;
    m->line[m->count++] = j;
    table_place(t, j, devices, (enum qs_job_take)(bits >> 6 & 3) % 3, 1 + (bits >> 8 & 3), m->begun[j]);
}

/* One thing changes. */
static void change(struct table *t, struct model *m, uint64_t bits)
{
    size_t j = bits >> 8 & 7, d = bits >> 11 & 3;
    if (!m->in[j]) {
        arrive(t, m, j, bits >> 16);
    } else if ((bits & 7) == 0) {
        qs_queue_remove_job(t->queue, &t->jobs[j]);
        model_leave(m, j);
        m->in[j] = false;
    } else if ((bits & 7) == 1 && m->begun[j]) {
        qs_queue_requeue(t->queue, &t->jobs[j]);
        model_leave(m, j);
        m->line[m->count++] = j;
    } else if ((bits & 7) == 2 && m->begun[j]) {
        m->deferred[j] = !m->deferred[j];
        qs_queue_defer(t->queue, &t->jobs[j], m->deferred[j]);
    } else if ((bits & 7) == 3 && m->begun[j]) {
        m->wants[j][d] = true;
        qs_queue_claim(t->queue, &t->jobs[j], &t->devices[d].queue);
    } else if ((bits & 7) == 4) {
        qs_queue_hold(t->queue, &t->devices[d].queue, !t->devices[d].queue.held);
    } else if ((bits & 7) == 5) {
        rename_it(t, m, d);
    } else {
        qs_queue_set(t->queue, &t->devices[d].queue, (bits & 48) != 0, false);
    }
}

static void test_as_by_looking_at_all(void **state)
{
    (void)state;
    struct qs_prng prng;
    char want[64];
    qs_prng_seed(&prng, 1);
    for (size_t farm = 0; farm < 200; farm++) {
        struct table t;
        struct model m = {.count = 0};
        table_make(&t, farm % (1U << DEVICES));
        for (size_t step = 0; step < 100; step++) {
            for (uint64_t changes = 1 + qs_prng_next(&prng) % 3; changes > 0; changes--)
                change(&t, &m, qs_prng_next(&prng) >> 8);
            model_plan(&m, &t, want, sizeof want);
            if (strcmp(table_plan(&t), want) != 0)
                fail_msg("farm %zu, step %zu: \"%s\" in place of \"%s\"", farm, step, t.starts, want);
        }
        table_done(&t);
    }
}

/* ---- what a decision costs ---- */

enum { MANY = 10000, LOOKS = 8 };

/* 10,000 devices and 20,000 jobs: a decision looks at a few of them, the candidates of the device that is
 * free, however many others there are. */
static void test_a_decision_looks_at_few(void **state)
{
    (void)state;
    struct qs_queue *queue = qs_queue_new(table_fact);
    struct qs_queue_start start;
    struct device *devices = calloc(MANY, sizeof *devices);
    struct qs_queue_job *jobs = calloc(2 * (size_t)MANY, sizeof *jobs);
    assert_non_null(devices);
    assert_non_null(jobs);
    for (size_t d = 0; d < MANY; d++) {
        devices[d].queue.owner = &devices[d];
        qs_queue_add_device(queue, &devices[d].queue, false);
        qs_queue_set(queue, &devices[d].queue, true, false);
    }
    for (size_t j = 0; j < (size_t)2 * MANY; j++)
        qs_queue_add_job(queue, &jobs[j], j % 2 ? "!local" : NULL);
    for (size_t j = 0; j < MANY; j++) {
        uint64_t before = qs_queue_visits(queue);
        assert_true(qs_queue_next(queue, &start));
        assert_ptr_equal(start.job, &jobs[j]);
        assert_ptr_equal(start.device, &devices[j].queue);
        assert_in_range(qs_queue_visits(queue) - before, 1, LOOKS);
    }
    uint64_t before = qs_queue_visits(queue);
    assert_false(qs_queue_next(queue, &start)); /* every device is busy, and 10,000 jobs wait */
    assert_in_range(qs_queue_visits(queue) - before, 0, LOOKS);
    for (size_t j = MANY; j < (size_t)2 * MANY; j++) {
        size_t d = j * 7919 % MANY;
        before = qs_queue_visits(queue);
        qs_queue_set(queue, &devices[d].queue, true, false);
        assert_true(qs_queue_next(queue, &start));
        assert_ptr_equal(start.job, &jobs[j]);
        assert_ptr_equal(start.device, &devices[d].queue);
        assert_false(qs_queue_next(queue, &start));
        assert_in_range(qs_queue_visits(queue) - before, 1, LOOKS);
    }
    qs_queue_free(queue);
    free(devices);
    free(jobs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_as_by_looking_at_all),
        cmocka_unit_test(test_a_decision_looks_at_few),
    };
    return cmocka_run_group_tests_name("farm queue, all", tests, NULL, NULL);
}
