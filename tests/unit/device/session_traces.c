#include "session_traces.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static bool ask(struct host *h, uint32_t id)
{
    uint8_t mem[64];
    struct qs_build argv;
    qs_build_init(&argv, mem, sizeof mem);
    qs_build_text(&argv, qs_text_of("perf"));
    const struct qs_msg_trace m = {
        .run = host_run, .id = id, .argv = qs_build_list(&argv), .stop_ns = 1, .max_bytes = 1};
    return host_call(h, QS_MSG_TRACE, &m, m.settle_ns);
}

static bool take_it(struct peer *p, const struct qs_frame *f)
{
    (void)p;
    return f->type == QS_MSG_TRACE;
}

void session_traces(struct host *h, struct peer *p)
{
    assert_true(qs_session_has(h->session, QS_FEATURE_TRACE));
    assert_true(ask(h, 3));
    assert_false(ask(h, 4)); /* one after the other */
    host_assert_why(h, QS_E_CONFLICT, "no TRACE before the answer to TRACE");
    assert_false(host_open(h, 0, 0, 0));
    host_assert_why(h, QS_E_CONFLICT, "no window opens before the answer to TRACE");
    host_wait(h, "traced 3 0");
    assert_string_equal(qs_session_state_name(h->session), "run_open");
    const struct qs_msg_trace_stop stop = {.run = host_run, .id = 3};
    assert_true(host_call(h, QS_MSG_TRACE_STOP, &stop, 1));
    host_wait(h, "traced 3 1");
    assert_string_equal(qs_session_state_name(h->session), "run_open");
    p->script = take_it;
    assert_true(ask(h, 5));
    peer_error(p, &host_run, QS_CODE_UNSUPPORTED, "no tracers here");
    host_wait(h, "error");
    assert_string_equal(qs_session_state_name(h->session), "run_open");
    p->script = NULL;
}
