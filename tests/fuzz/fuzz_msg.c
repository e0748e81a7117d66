/* Every decoder: the first byte is the type, the rest its payload. What decodes keeps its promises: every
 * list can be walked to its end, and encoding it again gives the bytes that were read. */
#include <string.h>

#include "fuzz.h"
#include "proto/msg.h"

static uint8_t out[QS_FRAME_MAX_BYTES];

#define WALK(kind, list)                                                                                     \
    do {                                                                                                     \
        struct qs_iter it = qs_list_iter(list);                                                              \
        uint16_t seen = 0;                                                                                   \
        while (qs_list_##kind(&it, &element.kind))                                                           \
            seen++;                                                                                          \
        fuzz_require(seen == (list)->count && it.r.left == 0);                                               \
    } while (0)

static union {
    struct qs_fact fact;
    struct qs_held held;
    struct qs_expectation expectation;
    struct qs_bound bound;
    struct qs_reading reading;
    struct qs_evidence evidence;
    struct qs_taint taint;
    struct qs_row row;
    struct qs_declared declared;
    struct qs_content content;
    struct qs_place place;
    struct qs_found found;
    struct qs_binding binding;
    struct qs_tune tune;
    struct qs_tuned tuned;
    struct qs_restored restored;
    struct qs_text text;
    int32_t i32;
    uint16_t u16;
} element;

static void walk_facts(const struct qs_msg_facts *m)
{
    WALK(fact, &m->facts);
}

static void walk_held(const struct qs_msg_held *m)
{
    WALK(held, &m->held);
}

static void walk_run_begin(const struct qs_msg_run_begin *m)
{
    WALK(text, &m->argv);
    WALK(text, &m->env);
    WALK(i32, &m->exit_codes);
    WALK(text, &m->prepare);
    WALK(text, &m->conclude);
    WALK(text, &m->harness.params);
}

static void walk_run_ready(const struct qs_msg_run_ready *m)
{
    WALK(declared, &m->declared);
}

static void walk_hook(const struct qs_msg_hook *m)
{
    WALK(text, &m->argv);
    WALK(text, &m->env);
}

static void walk_trace(const struct qs_msg_trace *m)
{
    WALK(text, &m->argv);
    WALK(text, &m->env);
}

static void walk_open(const struct qs_msg_open *m)
{
    WALK(expectation, &m->gate);
    WALK(bound, &m->bounds);
}

static void walk_closed(const struct qs_msg_closed *m)
{
    WALK(reading, &m->gate.readings);
    WALK(evidence, &m->evidence);
    WALK(taint, &m->taints);
    WALK(declared, &m->declared);
}

static void walk_iterations(const struct qs_msg_iterations *m)
{
    WALK(u16, &m->metrics);
    struct qs_iter it = qs_list_iter(&m->rows);
    uint16_t seen = 0;
    while (qs_list_row(&it, m->metrics.count, &element.row))
        seen++;
    fuzz_require(seen == m->rows.count && it.r.left == 0);
}

static void walk_have(const struct qs_msg_have *m)
{
    WALK(content, &m->files);
}

static void walk_having(const struct qs_msg_having *m)
{
    WALK(u16, &m->missing);
}

static void walk_stage(const struct qs_msg_stage *m)
{
    WALK(place, &m->places);
}

static void walk_readings(const struct qs_msg_readings *m)
{
    WALK(reading, &m->readings);
}

static void walk_surveyed(const struct qs_msg_surveyed *m)
{
    WALK(found, &m->files);
}

static void walk_bind(const struct qs_msg_bind *m)
{
    WALK(binding, &m->sensors);
}

static void walk_tune(const struct qs_msg_tune *m)
{
    WALK(tune, &m->writes);
}

static void walk_tuned(const struct qs_msg_tuned *m)
{
    WALK(tuned, &m->writes);
}

static void walk_restored(const struct qs_msg_restored *m)
{
    WALK(restored, &m->files);
}

/* Decodes, walks, and encodes again. */
#define TRY(shape, walk)                                                                                     \
    static void try_##shape(const uint8_t *p, size_t n)                                                      \
    {                                                                                                        \
        struct qs_msg_##shape m;                                                                             \
        struct qs_writer w;                                                                                  \
        if (qs_msg_decode_##shape(p, n, &m) != QS_WIRE_OK)                                                   \
            return;                                                                                          \
        walk(&m);                                                                                            \
        qs_writer_init(&w, out, sizeof out);                                                                 \
        fuzz_require(qs_msg_encode_##shape(&w, &m));                                                         \
        fuzz_require(w.len <= n && memcmp(out, p, w.len) == 0);                                              \
    }
#define NO_LISTS(m) (void)(m)
TRY(hello_host, NO_LISTS)
TRY(hello_agent, NO_LISTS)
TRY(auth, NO_LISTS)
TRY(ping, NO_LISTS)
TRY(pong, NO_LISTS)
TRY(facts, walk_facts)
TRY(held, walk_held)
TRY(run_seq, NO_LISTS)
TRY(run_ended, NO_LISTS)
TRY(run_begin, walk_run_begin)
TRY(run_ready, walk_run_ready)
TRY(hook, walk_hook)
TRY(hook_done, NO_LISTS)
TRY(open, walk_open)
TRY(waiting, NO_LISTS)
TRY(window, NO_LISTS)
TRY(window_why, NO_LISTS)
TRY(closed, walk_closed)
TRY(iterations, walk_iterations)
TRY(run, NO_LISTS)
TRY(run_why, NO_LISTS)
TRY(error, NO_LISTS)
TRY(bye, NO_LISTS)
TRY(pull, NO_LISTS)
TRY(pulled, NO_LISTS)
TRY(trace, walk_trace)
TRY(trace_stop, NO_LISTS)
TRY(traced, NO_LISTS)
TRY(have, walk_have)
TRY(having, walk_having)
TRY(put, NO_LISTS)
TRY(put_data, NO_LISTS)
TRY(put_at, NO_LISTS)
TRY(stage, walk_stage)
TRY(staged, NO_LISTS)
TRY(clean, NO_LISTS)
TRY(cleaned, NO_LISTS)
TRY(document, NO_LISTS)
TRY(read, NO_LISTS)
TRY(readings, walk_readings)
TRY(survey, NO_LISTS)
TRY(surveyed, walk_surveyed)
TRY(bind, walk_bind)
TRY(tune, walk_tune)
TRY(tuned, walk_tuned)
TRY(restore, NO_LISTS)
TRY(restored, walk_restored)
TRY(load, NO_LISTS)
TRY(loaded, NO_LISTS)

static void (*const tries[QS_MSG_LAST + 1])(const uint8_t *p, size_t n) = {
    [QS_MSG_HELLO_HOST] = try_hello_host,
    [QS_MSG_HELLO_AGENT] = try_hello_agent,
    [QS_MSG_AUTH] = try_auth,
    [QS_MSG_PING] = try_ping,
    [QS_MSG_PONG] = try_pong,
    [QS_MSG_FACTS] = try_facts,
    [QS_MSG_HELD] = try_held,
    [QS_MSG_RESEND] = try_run_seq,
    [QS_MSG_RUN_BEGIN] = try_run_begin,
    [QS_MSG_RUN_READY] = try_run_ready,
    [QS_MSG_HOOK] = try_hook,
    [QS_MSG_HOOK_DONE] = try_hook_done,
    [QS_MSG_OPEN] = try_open,
    [QS_MSG_WAITING] = try_waiting,
    [QS_MSG_ARM] = try_window,
    [QS_MSG_QUIET] = try_window,
    [QS_MSG_HOLD] = try_window_why,
    [QS_MSG_DISARM] = try_window_why,
    [QS_MSG_CLOSED] = try_closed,
    [QS_MSG_ITERATIONS] = try_iterations,
    [QS_MSG_ACK] = try_run_seq,
    [QS_MSG_RUN_END] = try_run,
    [QS_MSG_RUN_ENDED] = try_run_ended,
    [QS_MSG_CANCEL] = try_run_why,
    [QS_MSG_ERROR] = try_error,
    [QS_MSG_BYE] = try_bye,
    [QS_MSG_PULL] = try_pull,
    [QS_MSG_PULLED] = try_pulled,
    [QS_MSG_TRACE] = try_trace,
    [QS_MSG_TRACE_STOP] = try_trace_stop,
    [QS_MSG_TRACED] = try_traced,
    [QS_MSG_HAVE] = try_have,
    [QS_MSG_HAVING] = try_having,
    [QS_MSG_PUT] = try_put,
    [QS_MSG_PUT_DATA] = try_put_data,
    [QS_MSG_PUT_AT] = try_put_at,
    [QS_MSG_STAGE] = try_stage,
    [QS_MSG_STAGED] = try_staged,
    [QS_MSG_CLEAN] = try_clean,
    [QS_MSG_CLEANED] = try_cleaned,
    [QS_MSG_DOCUMENT] = try_document,
    [QS_MSG_READ] = try_read,
    [QS_MSG_READINGS] = try_readings,
    [QS_MSG_SURVEY] = try_survey,
    [QS_MSG_SURVEYED] = try_surveyed,
    [QS_MSG_BIND] = try_bind,
    [QS_MSG_BOUND] = try_readings,
    [QS_MSG_TUNE] = try_tune,
    [QS_MSG_TUNED] = try_tuned,
    [QS_MSG_RESTORE] = try_restore,
    [QS_MSG_RESTORED] = try_restored,
    [QS_MSG_LOAD] = try_load,
    [QS_MSG_LOADED] = try_loaded,
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1 || size - 1 > QS_FRAME_MAX_BYTES)
        return 0;
    uint8_t type = data[0];
    (void)qs_msg_decode(type, data + 1, size - 1, &(union qs_msg){0});
    if (type <= QS_MSG_LAST && tries[type] != NULL)
        tries[type](data + 1, size - 1);
    return 0;
}
