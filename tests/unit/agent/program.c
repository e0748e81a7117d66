/* A harness program for the agent's tests, good or as bad as its parameter `evil` says. What is bad happens
 * in its run, in the second window; a crash happens in the step that `crash` names. */
#include "quiesce/bench.h"

#include <signal.h>
#include <sys/wait.h>

static const char *evil = "", *crash = "";
static int64_t work_ns = 100000;
static uint32_t m_evals, m_window;
static int64_t evals;

static bool is(const char *text, const char *name)
{
    return strcmp(text, name) == 0;
}

static void pass(struct quiesce *q, const char *step)
{
    if (is(crash, step) && (is(step, "setup") || is(step, "teardown") || q->shared->window > 0)) {
        raise(SIGKILL);
    }
}

/* Between its windows, when the test says so. */
static void shout(int signum)
{
    static char bytes[300000];
    (void)signum;
    (void)!write(1, bytes, sizeof bytes);
}

static bool is_stopped(pid_t pid)
{
    char path[64], text[512] = "";
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    (void)!read(fd, text, sizeof text - 1);
    close(fd);
    const char *end = strrchr(text, ')');
    return end && end[1] == ' ' && end[2] == 'T';
}

static void stop_for_a_while(void)
{
    pid_t self = getpid(), other = fork();
    if (other == 0) {
        while (!is_stopped(self)) { /* what continues before it stops never would */
            usleep(1000);
        }
        usleep(20000);
        kill(self, SIGCONT);
        _exit(0);
    }
    raise(SIGSTOP);
    waitpid(other, NULL, 0);
}

static void setup(struct quiesce *q)
{
    pass(q, "setup");
    if (is(evil, "slow")) {
        sleep(1000);
    } else if (is(evil, "fail")) {
        quiesce_fail(q, "there is no picture");
    } else if (is(evil, "shout")) {
        signal(SIGUSR1, shout);
    } else if (is(evil, "block")) {
        fcntl(q->shared->wake_fd, F_SETFL, 0);
    } else if (is(evil, "metrics")) {
        q->shared->metrics[1] = q->shared->metrics[0];
    }
}

static void prepare(struct quiesce *q)
{
    pass(q, "prepare");
    evals = 0;
}

static void conclude(struct quiesce *q)
{
    pass(q, "conclude");
    quiesce_record(q, m_evals, evals);
    quiesce_record(q, m_window, q->shared->window);
}

static void teardown(struct quiesce *q)
{
    pass(q, "teardown");
    if (is(evil, "exit-late")) {
        _exit(0);
    } else if (is(evil, "stay")) {
        sleep(1000);
    }
}

/* Says that the window is over, and sleeps until it is killed. */
static void lie(struct quiesce_bench_shared *s)
{
    const uint64_t one = 1;
    s->state = QUIESCE_BENCH_PARKED;
    s->how = QUIESCE_BENCH_ALL;
    s->done_seq = s->command_seq;
    if (is(evil, "magic")) {
        s->magic = 1;
    } else if (is(evil, "state")) {
        s->state = 77;
    } else if (is(evil, "truncate")) {
        signal(SIGBUS, SIG_DFL); /* a sanitizer would start a symbolizer, which is no child of ours */
        (void)!ftruncate(3, 0);  /* where the agent put the memory */
    } else if (is(evil, "command")) {
        s->command_seq = s->done_seq = 1000;
    }
    while (write(s->wake_fd, &one, sizeof one) == (ssize_t)sizeof one) {
        sleep(1000);
    }
}

static void write_rows(struct quiesce *q)
{
    struct quiesce_bench_shared *s = q->shared;
    s->count = s->iterations;
    for (uint32_t i = 0; i < s->iterations; i++) {
        q->rows[i].start_ns = 1000 * (int64_t)i;
        q->rows[i].duration_ns = 900;
    }
    if (is(evil, "backwards")) {
        q->rows[1].start_ns = 1;
    } else if (is(evil, "negative")) {
        q->rows[1].duration_ns = -1;
    } else if (is(evil, "wild")) {
        q->rows[0].start_ns = INT64_MIN;
        q->rows[1].duration_ns = INT64_MAX;
        q->rows[2].start_ns = INT64_MAX;
    } else if (is(evil, "early")) {
        q->rows[0].start_ns = -1000000000;
    } else if (is(evil, "one-more")) {
        s->count++;
    } else if (is(evil, "beyond")) {
        s->count = 1000000;
    } else if (is(evil, "fewer")) {
        s->count--;
    }
}

static void be_evil(struct quiesce *q)
{
    const uint64_t one = 1;
    if (is(evil, "wakes")) {
        (void)!write(q->shared->wake_fd, &one, sizeof one);
        usleep(20000);
    } else if (is(evil, "hang")) {
        for (;;) {
            quiesce_clobber();
        }
    } else if (is(evil, "exit")) {
        exit(0);
    } else if (is(evil, "fork")) {
        if (fork() == 0) {
            sleep(1000);
        }
        evil = "";
    } else if (is(evil, "error")) {
        quiesce_fail(q, "the result is wrong");
    } else if (is(evil, "stop")) {
        stop_for_a_while();
        evil = "";
    } else if (is(evil, "print")) {
        printf("an iteration\n");
        fflush(stdout);
    } else {
        write_rows(q);
        lie(q->shared);
    }
}

static void run(struct quiesce *q)
{
    int64_t end_ns = quiesce_i_now_ns(q) + work_ns;
    evals++;
    pass(q, "run");
    while (quiesce_i_now_ns(q) < end_ns) {
    }
    if (*evil && q->shared->window > 0 && !is(evil, "exit-late") && !is(evil, "stay") && !is(evil, "block") &&
        !is(evil, "shout")) {
        be_evil(q);
    }
}

/* What a program built with the header of another layout does. */
static int other_layout(void)
{
    struct quiesce_bench_shared *s =
        mmap(NULL, sizeof *s, PROT_READ | PROT_WRITE, MAP_SHARED, atoi(getenv(QUIESCE_BENCH_ENV)), 0);
    s->program_layout = 9;
    return QUIESCE_BENCH_EXIT_LAYOUT;
}

int main(int argc, char **argv)
{
    struct quiesce q;
    struct quiesce_benchmark *b = NULL;
    if (argc > 1 && is(argv[1], "other-layout")) {
        return other_layout();
    }
    quiesce_init(&q, "what the agent's tests need");
    quiesce_param_text(&q, "evil", &evil, "what to do wrong");
    quiesce_param_text(&q, "crash", &crash, "the step to crash in");
    quiesce_param_int(&q, "work_ns", &work_ns, 0, 1000000000, "length of an evaluation");
    b = quiesce_add(&q, "work", "takes its time", run);
    b->setup = setup;
    b->prepare = prepare;
    b->conclude = conclude;
    b->teardown = teardown;
    m_evals = quiesce_metric(&q, b, "evals", "", QUIESCE_LOWER_IS_BETTER, QUIESCE_DETERMINISTIC);
    m_window = quiesce_metric(&q, b, "window", "number", QUIESCE_HIGHER_IS_BETTER, QUIESCE_VARIES);
    return quiesce_main(&q, argc, argv);
}
