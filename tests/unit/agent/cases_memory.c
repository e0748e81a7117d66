/* The memory that a program shares with the agent: what it is given, and what it has spoilt. */
#include "cases.h"

#include "core/shared.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define QUIESCE_BENCH_LAYOUT_ONLY
#include "quiesce/bench.h"

static struct quiesce_bench_shared *memory;
static struct qs_shared shared;

static void fill(uint32_t capacity, const struct qs_list *params)
{
    const struct qs_harness h = {.benchmark = qs_text_of("blur"),
                                 .capacity = capacity,
                                 .params = *params,
                                 .seed = 77,
                                 .stack_bytes = 16,
                                 .heap_bytes = 32};
    const struct qs_shared_setup setup = {.harness = &h, .wake_fd = 4, .clock = 1};
    memory = malloc(qs_shared_bytes(capacity));
    memset(memory, 0xa5, qs_shared_bytes(capacity));
    qs_shared_fill(&shared, memory, &setup);
}

static struct qs_port_look look(void)
{
    struct qs_port_look l;
    qs_shared_look(&shared, &l);
    return l;
}

static void gives_a_program_its_memory(void **state)
{
    uint8_t bytes[64];
    struct qs_build params;
    (void)state;
    qs_build_init(&params, bytes, sizeof bytes);
    qs_build_text(&params, qs_text_of("size=3"));
    qs_build_text(&params, qs_text_of(""));
    qs_build_text(&params, qs_text_of("x=y"));
    const struct qs_list list = qs_build_list(&params);
    fill(5, &list);
    assert_string_equal(memory->benchmark, "blur");
    assert_int_equal(memory->params_bytes, 12);
    assert_memory_equal(memory->params, "size=3\0\0x=y", 12);
    assert_int_equal(memory->seed, 77);
    assert_int_equal(memory->stack_pad_bytes, 16);
    assert_int_equal(memory->heap_pad_bytes, 32);
    assert_int_equal(memory->wake_fd, 4);
    assert_int_equal(memory->clock, 1);
    assert_int_equal(memory->total_bytes, qs_shared_bytes(5));
    struct qs_port_go go = {
        .window = 3, .iterations = 2, .evals = 9, .phase = QS_PHASE_TUNE, .start_at_ns = 50, .max_ns = 60};
    for (uint32_t seq = 1; seq <= 3; seq++) {
        go.phase = seq == 1 ? QS_PHASE_TUNE : seq == 2 ? QS_PHASE_WARMUP : QS_PHASE_MEASURE;
        qs_shared_go(&shared, &go);
        assert_int_equal(memory->command_seq, seq);
        assert_int_equal(*qs_shared_futex(&shared), seq);
        assert_int_equal(memory->start_seq, seq);
        assert_int_equal(memory->command, seq == 1   ? QUIESCE_BENCH_TUNE
                                          : seq == 2 ? QUIESCE_BENCH_WARM
                                                     : QUIESCE_BENCH_MEASURE);
        assert_int_equal(memory->evals_step, seq == 1);
        assert_false(look().done);
        memory->done_seq = seq;
        assert_true(look().done);
    }
    assert_int_equal(memory->window, 3);
    assert_int_equal(memory->iterations, 2);
    assert_int_equal(memory->evals, 9);
    assert_int_equal(memory->start_at_ns, 50);
    assert_int_equal(memory->max_ns, 60);
    qs_shared_quit(&shared);
    assert_int_equal(memory->command, QUIESCE_BENCH_EXIT);
    assert_int_equal(memory->command_seq, 4);
    free(memory);
}

/* Each word that is the agent's, and each that has no such value. */
static void believes_no_spoilt_memory(void **state)
{
    const struct qs_list none = {.count = 0};
    (void)state;
    fill(5, &none);
    const struct {
        uint32_t *word, value;
        const char *why; /* NULL: it may */
    } cases[] = {{&memory->magic, 1, "the words that are the agent's"},
                 {&memory->layout, 99, "the words that are the agent's"},
                 {&memory->head_bytes, 8, "the words that are the agent's"},
                 {&memory->capacity, 6, "the words that are the agent's"},
                 {&memory->command_seq, 7, "the words that are the agent's"},
                 {&memory->state, 77, "a state that does not exist"},
                 {&memory->count, 5, NULL},
                 {&memory->count, 6, "more iterations than there is room for"},
                 {&memory->metrics_count, QS_DECLARED_MAX, NULL},
                 {&memory->metrics_count, QS_DECLARED_MAX + 1, "more metrics than there is room for"},
                 {&memory->how, QUIESCE_BENCH_BROKE, NULL},
                 {&memory->how, QUIESCE_BENCH_BROKE + 1, "an end of a window that does not exist"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint32_t before = *cases[i].word;
        *cases[i].word = cases[i].value;
        struct qs_port_look l = look();
        assert_int_equal(l.state == QS_PROGRAM_CORRUPT, cases[i].why != NULL);
        if (cases[i].why) {
            assert_non_null(strstr(l.text, cases[i].why));
            assert_int_equal(l.count, 0);
        }
        *cases[i].word = before;
    }
    memset(memory->error, 'e', sizeof memory->error); /* without an end */
    memory->error[0] = '\x1f';
    memory->error[1] = '\x7f';
    memory->error[2] = ' ';
    memory->phase = QUIESCE_BENCH_OUTSIDE + 1;
    struct qs_port_look l = look();
    assert_int_equal(strncmp(l.text, "?? eee", 6), 0);
    assert_true(l.in_step);
    assert_string_equal(l.phase, "setup");
    memory->phase = 6;
    assert_string_equal(look().phase, "an unknown phase");
    memory->phase = 5;
    assert_string_equal(look().phase, "teardown");
    memory->phase = 0;
    assert_false(look().in_step);
    free(memory);
}

static void takes_metrics_and_rows_as_they_are(void **state)
{
    const struct qs_list none = {.count = 0};
    struct qs_port_metric metric;
    struct qs_port_row row;
    (void)state;
    fill(5, &none);
    struct quiesce_bench_metric *m = &memory->metrics[1];
    assert_false(qs_shared_metric(&shared, 1, &metric)); /* it has no name */
    strcpy(m->name, "pixels");
    m->direction = QUIESCE_LOWER_IS_BETTER;
    m->flags = QUIESCE_DETERMINISTIC;
    assert_true(qs_shared_metric(&shared, 1, &metric));
    assert_string_equal(metric.name, "pixels");
    assert_string_equal(metric.unit, "count");
    assert_true(metric.lower_is_better && metric.deterministic);
    strcpy(m->unit, "ns");
    m->direction = QUIESCE_HIGHER_IS_BETTER;
    m->flags = 0;
    assert_true(qs_shared_metric(&shared, 1, &metric));
    assert_string_equal(metric.unit, "ns");
    assert_false(metric.lower_is_better || metric.deterministic);
    m->direction = QUIESCE_HIGHER_IS_BETTER + 1;
    assert_false(qs_shared_metric(&shared, 1, &metric));
    m->direction = QUIESCE_HIGHER_IS_BETTER;
    m->flags = QUIESCE_DETERMINISTIC + 1;
    assert_false(qs_shared_metric(&shared, 1, &metric));
    qs_shared_go(&shared, &(struct qs_port_go){.start_at_ns = 1000});
    quiesce_bench_rows(memory)[4].start_ns = 7;
    quiesce_bench_rows(memory)[4].duration_ns = 9;
    quiesce_bench_values(memory, 5)[4] = 11;
    quiesce_bench_values(memory, 5)[5 + 4] = 12;
    qs_shared_row(&shared, 4, 2, &row);
    assert_int_equal(row.start_ns, 1007);
    assert_int_equal(row.duration_ns, 9);
    assert_int_equal(row.values[0], 11);
    assert_int_equal(row.values[1], 12);
    quiesce_bench_rows(memory)[4].start_ns = INT64_MAX;
    qs_shared_row(&shared, 4, 0, &row);
    assert_int_equal(row.start_ns, INT64_MIN);
    free(memory);
}

const struct CMUnitTest cases_memory[] = {
    cmocka_unit_test(gives_a_program_its_memory),
    cmocka_unit_test(believes_no_spoilt_memory),
    cmocka_unit_test(takes_metrics_and_rows_as_they_are),
};
const size_t cases_memory_count = sizeof cases_memory / sizeof cases_memory[0];
