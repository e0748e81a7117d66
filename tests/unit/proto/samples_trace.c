/* The messages of traces. */
#include "samples.h"

static const struct qs_uid run = UID(0xc0);

bool sample_put_trace(struct qs_writer *w)
{
    uint8_t mem[2][512];
    struct qs_msg_trace m = {
        .run = run,
        .id = 3,
        .argv = sample_texts(mem[0],
                             (const char *const[]){"perf", "record", "-p", "{pid}", "-o", "{output}", NULL}),
        .env = sample_texts(mem[1], (const char *const[]){"LC_ALL=C", NULL}),
        .cwd = qs_text_of("/tmp"),
        .input = {.p = "a\0\xff", .n = 3},
        .settle_ns = 500000000,
        .stop_ns = 10000000000,
        .max_bytes = 1 << 24};
    return qs_msg_encode_trace(w, &m);
}

bool sample_put_trace_stop(struct qs_writer *w)
{
    return qs_msg_encode_trace_stop(w, &(struct qs_msg_trace_stop){.run = run, .id = 3});
}

bool sample_put_traced(struct qs_writer *w)
{
    struct qs_msg_traced m = {.id = 3,
                              .status = QS_TRACE_STOPPED,
                              .flags = QS_TRACE_CUT,
                              .started_ns = 7000000000,
                              .stopped_ns = 7900000000,
                              .total_bytes = 1 << 24,
                              .said = {.p = "a\0\xff", .n = 3}};
    return qs_msg_encode_traced(w, &m);
}
