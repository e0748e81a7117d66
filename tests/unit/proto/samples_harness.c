/* The messages that other modes than command add something to. */
#include "samples.h"

#include "proto/names.h"

static const struct qs_uid run = UID(0xc0);

static bool put_run_begin_harness(struct qs_writer *w)
{
    uint8_t mem[3][512];
    struct qs_msg_run_begin m = {
        .run = run,
        .argv = sample_texts(mem[0], (const char *const[]){"./blur", NULL}),
        .env = sample_texts(mem[1], (const char *const[]){"LC_ALL=C", NULL}),
        .iteration_limit_ns = 60000000000,
        .cpus = qs_text_of("1"),
        .hook_limit_ns = 300000000000,
        .mode = QS_RUN_HARNESS,
        .harness = {.benchmark = qs_text_of("blur"),
                    .params = sample_texts(mem[2], (const char *const[]){"image=4k.ppm", "threads=", NULL}),
                    .capacity = 4096,
                    .seed = UINT64_MAX,
                    .environment_bytes = 2033,
                    .stack_bytes = 1008,
                    .heap_bytes = QS_LAYOUT_HEAP_MAX_BYTES},
    };
    return qs_msg_encode_run_begin(w, &m);
}

static bool put_run_begin_file(struct qs_writer *w)
{
    uint8_t mem[64];
    struct qs_msg_run_begin m = {
        .run = run,
        .argv = sample_texts(mem, (const char *const[]){"./blur", NULL}),
        .cwd = qs_text_of("/tmp"),
        .output_kind = QS_OUTPUT_KIND_FILE,
        .output_path = qs_text_of("out/log.txt"),
        .output_max_bytes = 4096,
        .iteration_limit_ns = 60000000000,
        .hook_limit_ns = 300000000000,
        .user = qs_text_of("bench"),
        .mode = QS_RUN_HARNESS,
        .harness = {.capacity = 1},
    };
    return qs_msg_encode_run_begin(w, &m);
}

static bool put_run_begin_stream(struct qs_writer *w)
{
    uint8_t mem[2][512];
    struct qs_msg_run_begin m = {
        .run = run,
        .argv = sample_texts(mem[0], (const char *const[]){"./suite", "--out", "result.json", NULL}),
        .env = sample_texts(mem[1], (const char *const[]){"LC_ALL=C", NULL}),
        .output_kind = QS_OUTPUT_KIND_CAPTURE,
        .output_max_bytes = 65535,
        .iteration_limit_ns = 600000000000,
        .mode = QS_RUN_STREAM,
        .stream = {.source = QS_STREAM_FILE,
                   .path = qs_text_of("result.json"),
                   .document_max_bytes = QS_DOCUMENT_MAX_BYTES},
    };
    return qs_msg_encode_run_begin(w, &m);
}

static bool put_run_begin_fifo(struct qs_writer *w)
{
    uint8_t mem[64];
    struct qs_msg_run_begin m = {
        .run = run,
        .argv = sample_texts(mem, (const char *const[]){"./blur", NULL}),
        .iteration_limit_ns = 60000000000,
        .start = {.sched = QS_SCHED_FIFO, .value = 99, .flags = QS_START_FIXED_ADDRESSES},
    };
    return qs_msg_encode_run_begin(w, &m);
}

static bool put_run_begin_nice(struct qs_writer *w)
{
    uint8_t mem[64];
    struct qs_msg_run_begin m = {
        .run = run,
        .argv = sample_texts(mem, (const char *const[]){"./suite", NULL}),
        .iteration_limit_ns = 60000000000,
        .mode = QS_RUN_STREAM,
        .stream = {.document_max_bytes = 1},
        .start = {.sched = QS_SCHED_NICE, .value = -20},
    };
    return qs_msg_encode_run_begin(w, &m);
}

static bool put_run_ready_harness(struct qs_writer *w)
{
    uint8_t mem[512];
    struct qs_build b;
    qs_build_init(&b, mem, sizeof mem);
    qs_build_declared(
        &b, &(struct qs_declared){qs_text_of("pixels"), qs_text_of("count"), QS_DECLARED_DETERMINISTIC});
    qs_build_declared(
        &b, &(struct qs_declared){qs_text_of("energy"), qs_text_of("nJ"), QS_DECLARED_LOWER_IS_BETTER});
    struct qs_msg_run_ready m = {.run = run,
                                 .executable = qs_text_of("/tmp/blur"),
                                 .cpus = qs_text_of("1"),
                                 .header_version = 1,
                                 .flags = QS_READY_SHARED_CPU,
                                 .declared = qs_build_list(&b)};
    sample_count_up(m.sha256, sizeof m.sha256);
    return qs_msg_encode_run_ready(w, &m);
}

static bool put_run_ready_evals(struct qs_writer *w)
{
    struct qs_msg_run_ready m = {.run = run,
                                 .executable = qs_text_of("/tmp/sort"),
                                 .cpus = qs_text_of("1-3"),
                                 .header_version = 1,
                                 .evals_max = 1};
    sample_count_up(m.sha256, sizeof m.sha256);
    return qs_msg_encode_run_ready(w, &m);
}

static bool put_open_tune(struct qs_writer *w)
{
    struct qs_msg_open m = {.run = run,
                            .window = 1,
                            .phase = QS_PHASE_TUNE,
                            .first_seq = 2,
                            .iterations = 1000,
                            .max_ns = 500000000,
                            .lease_ns = 30000000000,
                            .evals = 1};
    return qs_msg_encode_open(w, &m);
}

static bool put_open_harness(struct qs_writer *w)
{
    struct qs_msg_open m = {.run = run,
                            .window = 3,
                            .phase = QS_PHASE_MEASURE,
                            .first_seq = 1000,
                            .iterations = 50,
                            .max_ns = 2000000000,
                            .lease_ns = 30000000000,
                            .evals = QS_EVALS_MAX};
    return qs_msg_encode_open(w, &m);
}

static bool put_closed_harness(struct qs_writer *w)
{
    uint8_t mem[2][512];
    struct qs_build seen, declared;
    qs_build_init(&seen, mem[0], sizeof mem[0]);
    qs_build_evidence(&seen,
                      &(struct qs_evidence){qs_text_of("window.start_delay_ns"), QS_READING_OK, 0, 203411});
    qs_build_init(&declared, mem[1], sizeof mem[1]);
    qs_build_declared(&declared,
                      &(struct qs_declared){qs_text_of("pixels"), qs_text_of("count"), QS_DECLARED_FLAGS});
    struct qs_msg_closed m = {.run = run,
                              .window = 3,
                              .phase = QS_PHASE_MEASURE,
                              .iterations = 1,
                              .opened_ns = 5000000000,
                              .closed_ns = 5250000000,
                              .gate = {.began_ns = 4000000000, .decided_ns = 4990000000, .polls = 1},
                              .evidence = qs_build_list(&seen),
                              .evals = 1000,
                              .declared = qs_build_list(&declared)};
    return qs_msg_encode_closed(w, &m);
}

static bool put_closed_apart(struct qs_writer *w)
{
    struct qs_msg_closed m = {.run = run,
                              .window = 3,
                              .phase = QS_PHASE_MEASURE,
                              .iterations = 1,
                              .opened_ns = 5000000000,
                              .closed_ns = 5250000000,
                              .gate = {.began_ns = 4000000000, .decided_ns = 4990000000, .polls = 1},
                              .output_bytes = 3,
                              .output = qs_text_of("out"),
                              .apart = true,
                              .errors_bytes = UINT64_C(1) << 40,
                              .errors = {.p = "w\0\xff", .n = 3}};
    return qs_msg_encode_closed(w, &m);
}

static bool put_iterations_harness(struct qs_writer *w)
{
    uint8_t mem[2][512];
    struct qs_build ids, rows;
    qs_build_init(&ids, mem[0], sizeof mem[0]);
    qs_build_u16(&ids, QS_METRIC_DECLARED);
    qs_build_u16(&ids, QS_METRIC_DECLARED + 1);
    qs_build_init(&rows, mem[1], sizeof mem[1]);
    qs_build_row(&rows, 2, &(struct qs_row){203411, 1000123, 0, 0, {8294400, -7}});
    qs_build_row(&rows, 2, &(struct qs_row){1203600, 1000007, QS_ITERATION_CLOCK, 0, {8294400, INT64_MIN}});
    struct qs_msg_iterations m = {.run = run,
                                  .window = 3,
                                  .first_seq = 1000,
                                  .metrics = qs_build_list(&ids),
                                  .rows = qs_build_list(&rows)};
    return qs_msg_encode_iterations(w, &m);
}

static bool put_run_ended_harness(struct qs_writer *w)
{
    struct qs_msg_run_ended m = {
        .run = run, .seq = 1003, .how = QS_ENDED_SIGNALLED, .code = 9, .flags = QS_ENDED_FLAGS};
    return qs_msg_encode_run_ended(w, &m);
}

RECODE(run_begin)
RECODE(run_ready)
RECODE(open)
RECODE(closed)
RECODE(iterations)
RECODE(run_ended)

const struct sample harness_samples[HARNESS_SAMPLES] = {
    {"run_begin_harness", QS_MSG_RUN_BEGIN, put_run_begin_harness, recode_run_begin},
    {"run_ready_harness", QS_MSG_RUN_READY, put_run_ready_harness, recode_run_ready},
    {"open_harness", QS_MSG_OPEN, put_open_harness, recode_open},
    {"closed_harness", QS_MSG_CLOSED, put_closed_harness, recode_closed},
    {"iterations_harness", QS_MSG_ITERATIONS, put_iterations_harness, recode_iterations},
    {"run_ended_harness", QS_MSG_RUN_ENDED, put_run_ended_harness, recode_run_ended},
    {"run_ready_evals_harness", QS_MSG_RUN_READY, put_run_ready_evals, recode_run_ready},
    {"open_tune_harness", QS_MSG_OPEN, put_open_tune, recode_open},
    {"closed_apart_harness", QS_MSG_CLOSED, put_closed_apart, recode_closed},
    {"run_begin_file_harness", QS_MSG_RUN_BEGIN, put_run_begin_file, recode_run_begin},
    {"run_begin_stream", QS_MSG_RUN_BEGIN, put_run_begin_stream, recode_run_begin},
    {"run_begin_fifo_start", QS_MSG_RUN_BEGIN, put_run_begin_fifo, recode_run_begin},
    {"run_begin_nice_start", QS_MSG_RUN_BEGIN, put_run_begin_nice, recode_run_begin},
};

const struct sample *sample_at(size_t i)
{
    return i < QS_MSG_LAST ? &samples[i] : &harness_samples[i - QS_MSG_LAST];
}
