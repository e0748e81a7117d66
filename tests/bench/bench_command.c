/* What command mode adds to each run: its durations, hyperfine's and those of two bare loops on the same
 * command, in rounds whose order is drawn, and the excesses over each bare loop. glibc's posix_spawn maps and
 * unmaps a stack for every child; vfork does not, and is the lower floor. bench_command AGENT HYPERFINE SEED
 * COMMAND...    (each command is the path of a program) */
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <math.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "agent_pipe.h"
#include "scale.h"
#include "stats/describe.h"
#include "stats/rng.h"

enum {
    ROUNDS = QS_FULL_OR_SMOKE(40, 2),
    RUNS = QS_FULL_OR_SMOKE(120, 10),
    WARMUP = 10,
    SIDES = 4,
    DRAWS = 4000
};
enum side { SPAWN, VFORK, QUIESCE, HYPERFINE };

extern char **environ;

static const char *const side_names[SIDES] = {"bare posix_spawn + wait4", "bare vfork + wait4",
                                              "quiesce-agent", "hyperfine -N"};

struct bench {
    const char *hyperfine;
    char export[64];
    char *argv[2];
    struct agent_pipe agent;
    struct qs_rng rng;
    double median_us[SIDES][ROUNDS]; /* of each round */
};

static void die(const char *what)
{
    fprintf(stderr, "bench_command: %s: %s\n", what, strerror(errno));
    exit(1);
}

static double now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC_RAW, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static double median(const double *x, size_t n)
{
    double m = NAN;
    qs_median(x, n, &m);
    return m;
}

static pid_t start_spawn(char *const *argv)
{
    pid_t pid;
    if (posix_spawn(&pid, argv[0], NULL, NULL, argv, environ) != 0)
        die(argv[0]);
    return pid;
}

static pid_t start_vfork(char *const *argv)
{
    pid_t pid = vfork();
    if (pid == 0) {
        execve(argv[0], argv, environ);
        _exit(127);
    }
    return pid;
}

static double run_bare(struct bench *b, pid_t (*start)(char *const *argv))
{
    double us[RUNS];
    struct rusage usage;
    int status;
    for (int i = -WARMUP; i < RUNS; i++) {
        double began = now_us();
        pid_t pid = start(b->argv);
        if (wait4(pid, &status, 0, &usage) != pid || status != 0)
            die("the command failed");
        if (i >= 0)
            us[i] = now_us() - began;
    }
    return median(us, RUNS);
}

static double run_spawn(struct bench *b)
{
    return run_bare(b, start_spawn);
}

static double run_vfork(struct bench *b)
{
    return run_bare(b, start_vfork);
}

static double run_quiesce(struct bench *b)
{
    int64_t ns[RUNS];
    double us[RUNS];
    agent_pipe_begin(&b->agent, b->argv, environ);
    agent_pipe_window(&b->agent, WARMUP, ns);
    agent_pipe_window(&b->agent, RUNS, ns);
    agent_pipe_end(&b->agent);
    for (int i = 0; i < RUNS; i++)
        us[i] = (double)ns[i] / 1e3;
    return median(us, RUNS);
}

static double read_export(const char *path)
{
    double us[RUNS];
    json_t *root = json_load_file(path, 0, NULL);
    json_t *times = json_object_get(json_array_get(json_object_get(root, "results"), 0), "times");
    if (json_array_size(times) != RUNS)
        die("hyperfine's export does not hold its times");
    for (size_t i = 0; i < RUNS; i++)
        us[i] = 1e6 * json_number_value(json_array_get(times, i));
    json_decref(root);
    return median(us, RUNS);
}

static double run_hyperfine(struct bench *b)
{
    char runs[16];
    char warmup[16];
    posix_spawn_file_actions_t quiet;
    pid_t pid;
    int status;
    snprintf(runs, sizeof runs, "%d", RUNS);
    snprintf(warmup, sizeof warmup, "%d", WARMUP);
    const char *argv[] = {b->hyperfine, "-N",   "--runs",        runs,      "--warmup", warmup,
                          "--style",    "none", "--export-json", b->export, b->argv[0], NULL};
    char *copy[sizeof argv / sizeof argv[0]];
    memcpy(copy, argv, sizeof argv);
    posix_spawn_file_actions_init(&quiet);
    posix_spawn_file_actions_addopen(&quiet, 1, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&quiet, 2, "/dev/null", O_WRONLY, 0); /* it warns of short commands */
    if (posix_spawnp(&pid, b->hyperfine, &quiet, NULL, copy, environ) != 0)
        die(b->hyperfine);
    posix_spawn_file_actions_destroy(&quiet);
    if (waitpid(pid, &status, 0) != pid || status != 0)
        die("hyperfine failed");
    return read_export(b->export);
}

static void run_round(struct bench *b, int round)
{
    static double (*const run[SIDES])(struct bench *) = {run_spawn, run_vfork, run_quiesce, run_hyperfine};
    int order[SIDES] = {SPAWN, VFORK, QUIESCE, HYPERFINE};
    for (int i = SIDES - 1; i > 0; i--) {
        int j = (int)qs_rng_below(&b->rng, (uint64_t)i + 1);
        int swap = order[i];
        order[i] = order[j];
        order[j] = swap;
    }
    for (int i = 0; i < SIDES; i++)
        b->median_us[order[i]][round] = run[order[i]](b);
}

/* The median over the drawn rounds of what a side takes longer than the floor in the same round. */
static double excess_us(const struct bench *b, enum side side, enum side floor, const int *rounds)
{
    double us[ROUNDS];
    for (int i = 0; i < ROUNDS; i++)
        us[i] = b->median_us[side][rounds[i]] - b->median_us[floor][rounds[i]];
    return median(us, ROUNDS);
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

static void print_interval(const char *name, double value, double *draws, const char *unit)
{
    qsort(draws, DRAWS, sizeof draws[0], ascending);
    printf("  %-28s %8.2f %-3s 95 %% interval %.2f to %.2f\n", name, value, unit,
           qs_quantile(draws, DRAWS, 0.025, QS_QTYPE_7), qs_quantile(draws, DRAWS, 0.975, QS_QTYPE_7));
}

static void report_over(struct bench *b, enum side floor)
{
    static double q[DRAWS];
    static double h[DRAWS];
    static double ratio[DRAWS];
    int rounds[ROUNDS];
    for (int d = 0; d < DRAWS; d++) {
        for (int i = 0; i < ROUNDS; i++)
            rounds[i] = (int)qs_rng_below(&b->rng, ROUNDS);
        q[d] = excess_us(b, QUIESCE, floor, rounds);
        h[d] = excess_us(b, HYPERFINE, floor, rounds);
        ratio[d] = q[d] / h[d];
    }
    for (int i = 0; i < ROUNDS; i++)
        rounds[i] = i;
    double quiesce_us = excess_us(b, QUIESCE, floor, rounds);
    double hyperfine_us = excess_us(b, HYPERFINE, floor, rounds);
    printf(" excess over %s\n", side_names[floor]);
    print_interval(side_names[QUIESCE], quiesce_us, q, "us");
    print_interval(side_names[HYPERFINE], hyperfine_us, h, "us");
    print_interval("ratio (goal <= 0.5)", quiesce_us / hyperfine_us, ratio, "");
    if (quiesce_us < 0)
        puts("  (below 0: the agent starts a process in less time than this loop does)");
}

static void report(struct bench *b)
{
    printf("command %s: %d rounds of %d runs a side, order drawn; medians\n", b->argv[0], ROUNDS, RUNS);
    for (int i = 0; i < SIDES; i++)
        printf("  %-28s %8.2f us\n", side_names[i], median(b->median_us[i], ROUNDS));
    report_over(b, SPAWN);
    report_over(b, VFORK);
}

int main(int argc, char **argv)
{
    static struct bench b;
    if (argc == 3 && strcmp(argv[1], "--bare") == 0) {
        b.argv[0] = argv[2];
        double spawn_us = run_spawn(&b);
        printf("%.3f %.3f\n", spawn_us, run_vfork(&b));
        return 0;
    }
    if (argc < 5) {
        fputs("usage: bench_command AGENT HYPERFINE SEED COMMAND... | --bare COMMAND\n", stderr);
        return 2;
    }
    b.hyperfine = argv[2];
    snprintf(b.export, sizeof b.export, "/tmp/qs-bench-XXXXXX");
    int fd = mkstemp(b.export);
    if (fd < 0)
        die("no temporary file");
    close(fd);
    qs_rng_seed(&b.rng, strtoull(argv[3], NULL, 10), 0);
    agent_pipe_start(&b.agent, argv[1], NULL);
    for (int i = 4; i < argc; i++) {
        b.argv[0] = argv[i];
        for (int round = 0; round < ROUNDS; round++)
            run_round(&b, round);
        report(&b);
    }
    agent_pipe_stop(&b.agent);
    unlink(b.export);
    return 0;
}
