/* Who measures next. Devices are letters, jobs are numbers; what starts comes out as "0:A 1:C". */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/prng.h"
#include "farm/queue.h"

enum { DEVICES = 4, JOBS = 8 };

struct device {
    struct qs_queue_device queue;
    char name[8];
};

struct table {
    struct qs_queue *queue;
    struct device devices[DEVICES]; /* A, B: on this host; C, D: elsewhere */
    struct qs_queue_job jobs[JOBS];
    size_t job_count;
    char starts[64];
};

static const char *fact(const char *name, void *user)
{
    const struct device *d = user;
    return strcmp(name, "name") == 0    ? d->name
           : strcmp(name, "link") == 0  ? "sim"
           : strcmp(name, "local") == 0 ? (d->queue.local ? "true" : "false")
                                        : NULL;
}

static void table_make(struct table *t, unsigned local)
{
    *t = (struct table){.queue = qs_queue_new(fact)};
    for (size_t d = 0; d < DEVICES; d++) {
        struct device *device = &t->devices[d];
        snprintf(device->name, sizeof device->name, "%c", (char)('A' + d));
        device->queue.owner = device;
        qs_queue_add_device(t->queue, &device->queue, (local >> d & 1) != 0);
        qs_queue_set(t->queue, &device->queue, true, false);
    }
}

static void table_init(struct table *t)
{
    table_make(t, 3);
}

static void table_done(struct table *t)
{
    qs_queue_free(t->queue);
}

/* `name == "A" || name == "C"` for "AC". */
static void where_of(const char *devices, char *text, size_t bytes)
{
    size_t at = (size_t)snprintf(text, bytes, "!name"); /* none */
    for (const char *c = devices; *c; c++)
        at += (size_t)snprintf(text + at, bytes - at, " || name == \"%c\"", *c);
}

static void place(struct table *t, size_t j, const char *devices, enum qs_job_take take, uint32_t count,
                  bool begun)
{
    char where[128];
    t->jobs[j] = (struct qs_queue_job){.owner = &t->jobs[j], .take = take, .take_count = count};
    where_of(devices, where, sizeof where);
    if (!begun) {
        qs_queue_add_job(t->queue, &t->jobs[j], where);
        return;
    }
    qs_queue_add_begun(t->queue, &t->jobs[j]);
    for (const char *c = devices; *c; c++)
        qs_queue_claim(t->queue, &t->jobs[j], &t->devices[*c - 'A'].queue);
}

/* A job for the devices named by letters; begun: it has chosen them already and is on none yet. */
static void add(struct table *t, const char *devices, enum qs_job_take take, uint32_t count, bool begun)
{
    place(t, t->job_count++, devices, take, count, begun);
}

static const char *plan(struct table *t)
{
    struct qs_queue_start start;
    size_t at = 0;
    t->starts[0] = '\0';
    while (qs_queue_next(t->queue, &start)) {
        assert_true(start.device->taken);
        at += (size_t)snprintf(t->starts + at, sizeof t->starts - at, "%s%zu:%c", at > 0 ? " " : "",
                               (size_t)(start.job - t->jobs),
                               (char)('A' + ((struct device *)start.device->owner - t->devices)));
    }
    return t->starts;
}

static void set(struct table *t, char device, bool ready, bool taken)
{
    qs_queue_set(t->queue, &t->devices[device - 'A'].queue, ready, taken);
}

static enum qs_queue_wait why(struct table *t, size_t job)
{
    return qs_queue_why(t->queue, &t->jobs[job]);
}

static void test_first_come_first_served(void **state)
{
    (void)state;
    struct table t;
    table_init(&t);
    assert_string_equal(plan(&t), "");
    add(&t, "C", QS_TAKE_ANY, 0, false);
    add(&t, "C", QS_TAKE_ANY, 0, false);
    add(&t, "CD", QS_TAKE_ANY, 0, false);
    assert_int_equal(why(&t, 0), QS_WAIT_NONE); /* it may begin */
    assert_string_equal(plan(&t), "0:C 2:D");
    assert_int_equal(why(&t, 0), QS_WAIT_NONE);
    assert_int_equal(why(&t, 1), QS_WAIT_DEVICE_TAKEN);
    assert_int_equal(why(&t, 2), QS_WAIT_NONE);
    set(&t, 'D', true, false);
    assert_string_equal(plan(&t), "");
    set(&t, 'C', true, false);
    assert_string_equal(plan(&t), "1:C");
    table_done(&t);
}

static void test_one_at_a_time_on_this_host(void **state)
{
    (void)state;
    struct table t;
    table_init(&t);
    add(&t, "A", QS_TAKE_ANY, 0, false);
    add(&t, "B", QS_TAKE_ANY, 0, false);
    add(&t, "C", QS_TAKE_ANY, 0, false);
    assert_string_equal(plan(&t), "0:A 2:C");
    assert_int_equal(why(&t, 1), QS_WAIT_HOST_TAKEN);
    add(&t, "A", QS_TAKE_ANY, 0, false);
    assert_int_equal(why(&t, 3), QS_WAIT_DEVICE_TAKEN);
    set(&t, 'A', true, false); /* the host goes to who came before */
    assert_string_equal(plan(&t), "1:B");
    assert_int_equal(why(&t, 3), QS_WAIT_HOST_TAKEN);
    set(&t, 'B', true, false);
    assert_string_equal(plan(&t), "3:A");
    table_done(&t);
}

static void test_take_all_and_count(void **state)
{
    (void)state;
    struct table t;
    table_init(&t);
    add(&t, "ABCD", QS_TAKE_ALL, 0, false);
    add(&t, "D", QS_TAKE_ANY, 0, false);
    assert_string_equal(plan(&t), "0:A 0:C 0:D"); /* B waits for the host; it stays the first job's */
    assert_int_equal(why(&t, 1), QS_WAIT_DEVICE_TAKEN);
    assert_int_equal(why(&t, 0), QS_WAIT_HOST_TAKEN);
    table_done(&t);
    table_init(&t);
    add(&t, "ACD", QS_TAKE_COUNT, 2, false);
    add(&t, "ACD", QS_TAKE_COUNT, 2, false);
    assert_string_equal(plan(&t), "0:A 0:C 1:D");
    set(&t, 'C', true, false);
    assert_string_equal(plan(&t), ""); /* the second has chosen A besides, and keeps to it */
    set(&t, 'A', true, false);
    assert_string_equal(plan(&t), "1:A");
    table_done(&t);
    table_init(&t);
    add(&t, "CD", QS_TAKE_COUNT, 9, false);
    assert_string_equal(plan(&t), "0:C 0:D");
    table_done(&t);
}

/* Free devices are chosen before those that come first, and one of this host at most counts as free. */
static void test_a_choice(void **state)
{
    (void)state;
    struct table t;
    table_init(&t);
    set(&t, 'C', false, false);
    add(&t, "ABCD", QS_TAKE_COUNT, 2, false);
    assert_string_equal(plan(&t), "0:A 0:D");
    table_done(&t);
    table_init(&t);
    add(&t, "CD", QS_TAKE_ANY, 0, true);
    assert_string_equal(plan(&t), "0:C 0:D");
    set(&t, 'D', true, false);
    add(&t, "ABCD", QS_TAKE_COUNT, 3, false);
    assert_string_equal(plan(&t), "1:A 1:D"); /* and B, when the host is free */
    set(&t, 'A', true, false);
    assert_string_equal(plan(&t), "1:B");
    table_done(&t);
    table_make(&t, 6); /* B and C on this host */
    add(&t, "ABCD", QS_TAKE_COUNT, 3, false);
    assert_string_equal(plan(&t), "0:A 0:B 0:D");
    assert_null(t.jobs[0].claims);
    table_done(&t);
}

static void test_a_waiting_job_keeps_what_it_needs(void **state)
{
    (void)state;
    struct table t;
    table_init(&t);
    set(&t, 'C', false, false);
    add(&t, "CD", QS_TAKE_ALL, 0, true); /* D begins, C will */
    add(&t, "C", QS_TAKE_ANY, 0, false);
    assert_string_equal(plan(&t), "0:D");
    assert_int_equal(why(&t, 1), QS_WAIT_DEVICE_TAKEN); /* told as what it is: another job's */
    set(&t, 'C', true, false);
    assert_string_equal(plan(&t), "0:C");
    table_done(&t);
}

/* A device of this host that is away keeps nobody else from measuring here. */
static void test_a_device_that_is_away(void **state)
{
    (void)state;
    struct table t;
    table_init(&t);
    set(&t, 'A', false, false);
    add(&t, "A", QS_TAKE_ANY, 0, false);
    add(&t, "B", QS_TAKE_ANY, 0, false);
    assert_string_equal(plan(&t), "1:B");
    assert_int_equal(why(&t, 0), QS_WAIT_DEVICE_DOWN);
    table_done(&t);
}

static void test_deferred_jobs_let_others_pass(void **state)
{
    (void)state;
    struct table t;
    table_init(&t);
    add(&t, "C", QS_TAKE_ANY, 0, true);
    add(&t, "C", QS_TAKE_ANY, 0, false);
    qs_queue_defer(t.queue, &t.jobs[0], true);
    assert_string_equal(plan(&t), "1:C");
    assert_int_equal(why(&t, 0), QS_WAIT_DEFERRED);
    add(&t, "C", QS_TAKE_ANY, 0, false);
    qs_queue_defer(t.queue, &t.jobs[0], false);
    set(&t, 'C', true, false);
    assert_string_equal(plan(&t), "0:C"); /* it has its place again */
    qs_queue_claim(t.queue, &t.jobs[0], &t.devices[2].queue);
    qs_queue_requeue(t.queue, &t.jobs[0]);
    set(&t, 'C', true, false);
    assert_string_equal(plan(&t), "2:C"); /* or the last one */
    set(&t, 'C', true, false);
    assert_string_equal(plan(&t), "0:C");
    table_done(&t);
}

static void test_no_device_fits(void **state)
{
    (void)state;
    struct table t;
    table_init(&t);
    add(&t, "", QS_TAKE_ALL, 0, false);
    add(&t, "", QS_TAKE_ANY, 0, true); /* all of its devices are at work */
    assert_string_equal(plan(&t), "");
    assert_int_equal(why(&t, 0), QS_WAIT_DEVICE_DOWN);
    assert_int_equal(why(&t, 1), QS_WAIT_NONE);
    for (int w = QS_WAIT_DEFERRED; w <= QS_WAIT_DEVICE_TAKEN; w++)
        assert_true(strlen(qs_queue_wait_text((enum qs_queue_wait)w)) > 10);
    table_done(&t);
}

/* A job that waits meets a device that comes; one that goes leaves nothing behind. */
static void test_devices_come_and_go(void **state)
{
    (void)state;
    struct table t;
    table_init(&t);
    add(&t, "D", QS_TAKE_ANY, 0, true);
    add(&t, "CD", QS_TAKE_ALL, 0, false);
    qs_queue_remove_device(t.queue, &t.devices[3].queue);
    qs_queue_remove_device(t.queue, &t.devices[2].queue);
    assert_null(t.jobs[0].claims);
    assert_string_equal(plan(&t), "");
    assert_int_equal(why(&t, 1), QS_WAIT_DEVICE_DOWN);
    qs_queue_add_device(t.queue, &t.devices[3].queue, false);
    assert_string_equal(plan(&t), "");
    set(&t, 'D', true, false);
    assert_string_equal(plan(&t), "1:D");
    qs_queue_add_device(t.queue, &t.devices[2].queue, false);
    set(&t, 'C', true, false);
    assert_string_equal(plan(&t), ""); /* it chose when it began */
    table_done(&t);
}

/* Nothing begins on a held device, whatever happens to it meanwhile; one that has begun waits for it, and
 * others say why. */
static void test_a_held_device(void **state)
{
    (void)state;
    struct table t;
    table_make(&t, 0);
    qs_queue_hold(t.queue, &t.devices[0].queue, true);
    add(&t, "A", QS_TAKE_ANY, 0, false);
    add(&t, "AC", QS_TAKE_ANY, 0, false);
    add(&t, "A", QS_TAKE_ANY, 0, true);
    assert_string_equal(plan(&t), "1:C");
    set(&t, 'A', false, false);
    assert_int_equal(why(&t, 0), QS_WAIT_DEVICE_HELD);
    assert_int_equal(why(&t, 2), QS_WAIT_DEVICE_TAKEN); /* the first comes first */
    set(&t, 'A', true, false);
    assert_string_equal(plan(&t), "");
    assert_true(qs_queue_may_have(&t.jobs[0], &t.devices[0].queue));
    assert_true(qs_queue_may_have(&t.jobs[2], &t.devices[0].queue));
    assert_false(qs_queue_may_have(&t.jobs[0], &t.devices[2].queue));
    qs_queue_hold(t.queue, &t.devices[0].queue, false);
    assert_string_equal(plan(&t), "0:A");
    qs_queue_hold(t.queue, &t.devices[0].queue, true); /* the one that it has is not disturbed */
    set(&t, 'A', true, false);
    assert_string_equal(plan(&t), "");
    qs_queue_hold(t.queue, &t.devices[0].queue, false);
    assert_string_equal(plan(&t), "2:A");
    table_done(&t);
}

/* A device that fits now is found by who waits; one that fits no longer is kept by who has chosen it. */
static void test_a_device_with_other_facts(void **state)
{
    (void)state;
    struct table t;
    table_make(&t, 0);
    t.devices[0].name[0] = 'Z';
    qs_queue_refit(t.queue, &t.devices[0].queue);
    add(&t, "A", QS_TAKE_ANY, 0, false);
    assert_string_equal(plan(&t), "");
    assert_int_equal(why(&t, 0), QS_WAIT_DEVICE_DOWN);
    add(&t, "B", QS_TAKE_ANY, 0, true);
    t.devices[0].name[0] = 'A';
    qs_queue_refit(t.queue, &t.devices[0].queue);
    t.devices[1].name[0] = 'Z';
    qs_queue_refit(t.queue, &t.devices[1].queue);
    assert_string_equal(plan(&t), "0:A 1:B");
    table_done(&t);
}

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
    place(t, j, devices, (enum qs_job_take)(bits >> 6 & 3) % 3, 1 + (bits >> 8 & 3), m->begun[j]);
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
            if (strcmp(plan(&t), want) != 0)
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
    struct qs_queue *queue = qs_queue_new(fact);
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
        cmocka_unit_test(test_first_come_first_served),
        cmocka_unit_test(test_one_at_a_time_on_this_host),
        cmocka_unit_test(test_take_all_and_count),
        cmocka_unit_test(test_a_choice),
        cmocka_unit_test(test_a_waiting_job_keeps_what_it_needs),
        cmocka_unit_test(test_a_device_that_is_away),
        cmocka_unit_test(test_deferred_jobs_let_others_pass),
        cmocka_unit_test(test_no_device_fits),
        cmocka_unit_test(test_devices_come_and_go),
        cmocka_unit_test(test_a_held_device),
        cmocka_unit_test(test_a_device_with_other_facts),
        cmocka_unit_test(test_as_by_looking_at_all),
        cmocka_unit_test(test_a_decision_looks_at_few),
    };
    return cmocka_run_group_tests_name("farm queue", tests, NULL, NULL);
}
