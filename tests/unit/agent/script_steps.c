/* Steps that many cases take: a run, a program in place, a window that measures. */
#include "script.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

void script_run(struct script *s, const struct run_spec *spec)
{
    struct run_spec whole = *spec;
    whole.argv = whole.argv ? whole.argv : (const char *const[]){"tool", NULL};
    peer_run_begin(&s->peer, &whole);
    script_expect(s, QS_MSG_RUN_READY);
    script_expect_state(s, QS_STATE_RUN_OPEN);
}

void script_program(struct script *s)
{
    peer_run_begin(&s->peer,
                   &(struct run_spec){.argv = (const char *const[]){"tool", NULL}, .benchmark = "b"});
    script_expect_work(s, QS_STATE_READY, QS_MSG_RUN_BEGIN);
    script_expect_nothing(s);
}

void script_park(struct script *s)
{
    s->look =
        (struct qs_port_look){.state = QS_PROGRAM_PARKED, .done = true, .layout = 1, .phase = "outside"};
    qs_agent_on_wake(s->agent);
    script_expect(s, QS_MSG_RUN_READY);
    script_expect_state(s, QS_STATE_RUN_OPEN);
}

void script_measuring(struct script *s, uint64_t first_seq, uint32_t iterations)
{
    const struct qs_bound bounds[] = {{.kind = qs_text_of("cpu.steal_ticks"), .bound = 3},
                                      {.kind = qs_text_of("program.rss_bytes"), .bound = 1000}};
    const struct open_spec open = {.window = 4,
                                   .phase = QS_PHASE_MEASURE,
                                   .first_seq = first_seq,
                                   .iterations = iterations,
                                   .bounds = bounds,
                                   .bound_count = 2};
    peer_open(&s->peer, &open);
    script_expect(s, QS_MSG_ARM);
    script_expect_state(s, QS_STATE_ARMED);
    peer_window(&s->peer, QS_MSG_QUIET, 4);
    script_expect_state(s, QS_STATE_MEASURING);
    assert_true(qs_agent_is_silent(s->agent));
}
