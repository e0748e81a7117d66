/* A benchmark for the end-to-end tests: it works for a while, and makes as many system calls as it is told.
 */
#include "quiesce/bench.h"

static int64_t work_ns = 20000, calls;
static uint32_t m_calls;

static void run(struct quiesce *q)
{
    int64_t end_ns = quiesce_i_now_ns(q) + work_ns;
    for (int64_t i = 0; i < calls; i++) {
        syscall(SYS_getppid);
    }
    while (quiesce_i_now_ns(q) < end_ns) {
    }
}

static void conclude(struct quiesce *q)
{
    quiesce_record(q, m_calls, calls);
}

int main(int argc, char **argv)
{
    struct quiesce q;
    struct quiesce_benchmark *b = NULL;
    quiesce_init(&q, "what the end-to-end tests need");
    quiesce_param_int(&q, "work_ns", &work_ns, 0, 1000000000, "length of an evaluation");
    quiesce_param_int(&q, "calls", &calls, 0, 1000, "system calls in an evaluation");
    b = quiesce_add(&q, "spin", "looks at the clock until its time is over", run);
    b->conclude = conclude;
    m_calls = quiesce_metric(&q, b, "calls", "system calls", QUIESCE_LOWER_IS_BETTER, QUIESCE_DETERMINISTIC);
    return quiesce_main(&q, argc, argv);
}
