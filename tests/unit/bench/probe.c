/* A harness program for the tests: it counts its steps, and fails, dies or hangs in the one that it is told.
 * C and C++. */
#include "quiesce/bench.h"

#include <signal.h>

static const char *fail = "", *die = "", *word = "none";
static int64_t whole = 1, noisy = 0;
static double part = 0.5;
static int64_t setups, prepares, runs;
static uint32_t m_setups, m_prepares, m_runs, m_whole, m_stack;

static void step(struct quiesce *q, const char *name)
{
    if (strcmp(die, name) == 0) {
        raise(SIGKILL);
    }
    if (strcmp(fail, name) == 0) {
        quiesce_fail(q, "told to fail in %s, with %s", name, word);
    }
}

static void setup(struct quiesce *q)
{
    setups++;
    step(q, "setup");
}

static void prepare(struct quiesce *q)
{
    prepares++;
    runs = 0;
    step(q, "prepare");
}

static void run(struct quiesce *q)
{
    runs++;
    if (noisy) {
        getppid();
    }
    step(q, "run");
    quiesce_clobber();
}

static void conclude(struct quiesce *q)
{
    char here = 0;
    quiesce_record(q, m_setups, setups);
    quiesce_record(q, m_prepares, prepares);
    quiesce_record(q, m_runs, runs);
    quiesce_record(q, m_whole, whole + (int64_t)(part * 1000));
    if (quiesce_iteration(q) % 2 == 0) {
        quiesce_record(q, m_stack, (int64_t)(intptr_t)&here);
    }
    step(q, "conclude");
}

static void teardown(struct quiesce *q)
{
    fprintf(stderr, "torn down\n");
    step(q, "teardown");
}

int main(int argc, char **argv)
{
    struct quiesce q;
    struct quiesce_benchmark *all = NULL, *once = NULL;
    quiesce_init(&q, "what the tests need");
    quiesce_param_text(&q, "fail", &fail, "step that reports an error");
    quiesce_param_text(&q, "die", &die, "step that ends by a signal");
    quiesce_param_text(&q, "word", &word, "any text");
    quiesce_param_int(&q, "whole", &whole, -5, 1000, "a whole number");
    quiesce_param_int(&q, "noisy", &noisy, 0, 1, "whether run makes a system call");
    quiesce_param_double(&q, "part", &part, 0, 1, "a fraction");
    all = quiesce_add(&q, "all", "every step", run);
    all->setup = setup;
    all->prepare = prepare;
    all->conclude = conclude;
    all->teardown = teardown;
    m_setups = quiesce_metric(&q, all, "setups", "", QUIESCE_LOWER_IS_BETTER, QUIESCE_DETERMINISTIC);
    m_prepares = quiesce_metric(&q, all, "prepares", "", QUIESCE_HIGHER_IS_BETTER, QUIESCE_VARIES);
    m_runs = quiesce_metric(&q, all, "runs", "calls", QUIESCE_LOWER_IS_BETTER, QUIESCE_VARIES);
    m_whole = quiesce_metric(&q, all, "whole", "", QUIESCE_LOWER_IS_BETTER, QUIESCE_DETERMINISTIC);
    m_stack = quiesce_metric(&q, all, "stack", "B", QUIESCE_LOWER_IS_BETTER, QUIESCE_VARIES);
    once = quiesce_add(&q, "once", "one evaluation only", run);
    once->once = true;
    return quiesce_main(&q, argc, argv);
}
