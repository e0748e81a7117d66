/* A benchmark that declares metrics of both directions: a score that it is told, and a number of calls that
 * is the same at every execution. */
#include "quiesce/bench.h"

static int64_t score = 1000, calls = 7, n;
static uint32_t m_score, m_calls;

static void run(struct quiesce *q)
{
    int64_t end_ns = quiesce_i_now_ns(q) + 20000;
    while (quiesce_i_now_ns(q) < end_ns) {
    }
}

static void conclude(struct quiesce *q)
{
    n++;
    quiesce_record(q, m_score, score + n * n % 7);
    quiesce_record(q, m_calls, calls);
}

int main(int argc, char **argv)
{
    struct quiesce q;
    struct quiesce_benchmark *b = NULL;
    quiesce_init(&q, "metrics for the end-to-end tests");
    quiesce_param_int(&q, "score", &score, 1, 1000000, "what is recorded, and a little more");
    quiesce_param_int(&q, "calls", &calls, 0, 1000, "what is recorded");
    b = quiesce_add(&q, "spin", "looks at the clock until its time is over", run);
    b->conclude = conclude;
    m_score = quiesce_metric(&q, b, "score", "points", QUIESCE_HIGHER_IS_BETTER, 0);
    m_calls = quiesce_metric(&q, b, "calls", "count", QUIESCE_LOWER_IS_BETTER, QUIESCE_DETERMINISTIC);
    return quiesce_main(&q, argc, argv);
}
