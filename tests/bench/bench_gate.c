/* What a gate costs: a batch of 20 sensors that are files, and the way from the deciding reading to the first
 * iteration, of the real agent, in units of bare reads of the same files. The sides take turns. First on
 * plain files; then, where there is one, on a mounted virtual board with as many zones.
 * bench_gate AGENT COMMAND [QS_BOARD TREE] */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "agent_pipe.h"
#include "scale.h"
#include "stats/describe.h"

enum { SENSORS = 20, ROUNDS = QS_FULL_OR_SMOKE(400, 10), LIST_BYTES = 4096 };
enum side { GATE, NO_GATE, BARE, SIDES };

extern char **environ;

struct bench {
    char folder[64];
    int fds[SENSORS];
    uint8_t memory[LIST_BYTES];
    char names[SENSORS][80];
    pid_t board; /* what has mounted the folder; 0: plain files */
    struct qs_list gate;
    struct agent_pipe agent;
    double us[SIDES][ROUNDS];
};

static void die(const char *what)
{
    fprintf(stderr, "bench_gate: %s: %s\n", what, strerror(errno));
    exit(1);
}

static void put(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    if (!f || fputs(text, f) < 0 || fclose(f) != 0)
        die(path);
}

static void make_folder(const char *path)
{
    if (mkdir(path, 0700) != 0)
        die(path);
}

/* Zones "s0", "s1", ... of 40 degrees. */
static void make_zones(const struct bench *b)
{
    char path[160], type[24];
    snprintf(path, sizeof path, "%s/class", b->folder);
    make_folder(path);
    snprintf(path, sizeof path, "%s/class/thermal", b->folder);
    make_folder(path);
    for (int i = 0; i < SENSORS; i++) {
        snprintf(path, sizeof path, "%s/class/thermal/thermal_zone%d", b->folder, i);
        make_folder(path);
        snprintf(type, sizeof type, "s%d\n", i);
        snprintf(path, sizeof path, "%s/class/thermal/thermal_zone%d/type", b->folder, i);
        put(path, type);
        snprintf(path, sizeof path, "%s/class/thermal/thermal_zone%d/temp", b->folder, i);
        put(path, "40000\n");
    }
}

/* A driver's read runs on the processor of who reads: from now on all of us, and what we start, are on one.
 */
static void be_on_one_processor(void)
{
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET((size_t)sched_getcpu(), &one);
    if (sched_setaffinity(0, sizeof one, &one) != 0)
        die("cannot stay on one processor");
}

/* It says a line when it is mounted. */
static void mount_board(struct bench *b, const char *program, const char *tree)
{
    int said[2];
    char c;
    if (pipe(said) != 0 || (b->board = fork()) < 0)
        die(program);
    if (b->board == 0) {
        dup2(said[1], 1);
        execl(program, program, "--tree", tree, "--mount", b->folder, (char *)NULL);
        _exit(127);
    }
    close(said[1]);
    if (read(said[0], &c, 1) != 1)
        die("the board is not mounted");
    close(said[0]);
}

/* The gate wants all of them below what any says. */
static void open_zones(struct bench *b)
{
    struct qs_build list;
    char path[160], type[64];
    qs_build_init(&list, b->memory, sizeof b->memory);
    for (int i = 0; i < SENSORS; i++) {
        snprintf(path, sizeof path, "%s/class/thermal/thermal_zone%d/type", b->folder, i);
        FILE *f = fopen(path, "r");
        if (!f || fscanf(f, "%63s", type) != 1)
            die(path);
        fclose(f);
        snprintf(path, sizeof path, "%s/class/thermal/thermal_zone%d/temp", b->folder, i);
        b->fds[i] = open(path, O_RDONLY | O_CLOEXEC);
        snprintf(b->names[i], sizeof b->names[i], "thermal:%s", type);
        const struct qs_expectation e = {.sensor = qs_text_of(b->names[i]),
                                         .flags = QS_GATE_HAS_HI,
                                         .hi = 1000000,
                                         .on_timeout = QS_GATE_ON_TIMEOUT_FAIL};
        qs_build_expectation(&list, &e);
    }
    b->gate = qs_build_list(&list);
}

static void remove_zones(struct bench *b)
{
    char command[128];
    for (int i = 0; i < SENSORS; i++)
        close(b->fds[i]);
    if (b->board > 0) {
        kill(b->board, SIGTERM);
        waitpid(b->board, NULL, 0);
    }
    snprintf(command, sizeof command, "rm -rf %s", b->folder);
    if (system(command) != 0)
        die(command);
}

static double window_us(struct bench *b, struct qs_list gate)
{
    int64_t ns;
    b->agent.gate = gate;
    agent_pipe_window(&b->agent, 1, &ns);
    return (double)b->agent.decided_ns / 1e3;
}

static double bare_us(const struct bench *b)
{
    struct timespec from, to;
    char text[64];
    clock_gettime(CLOCK_MONOTONIC_RAW, &from);
    for (int i = 0; i < SENSORS; i++) {
        ssize_t n = pread(b->fds[i], text, sizeof text - 1, 0);
        if (n <= 0)
            die("a zone cannot be read");
    }
    clock_gettime(CLOCK_MONOTONIC_RAW, &to);
    return (double)(to.tv_sec - from.tv_sec) * 1e6 + (double)(to.tv_nsec - from.tv_nsec) / 1e3;
}

static double median(const double *us)
{
    double m = NAN;
    qs_median(us, ROUNDS, &m);
    return m;
}

static void measure(struct bench *b, char **argv)
{
    double batch_us[ROUNDS];
    agent_pipe_start(&b->agent, argv[1], b->folder);
    agent_pipe_begin(&b->agent, (char *[]){argv[2], NULL}, environ);
    for (int i = 0; i < ROUNDS; i++) {
        const struct qs_list none = {.count = 0};
        bool first = i % 2 == 0;
        b->us[BARE][i] = bare_us(b);
        b->us[first ? GATE : NO_GATE][i] = window_us(b, first ? b->gate : none);
        b->us[first ? NO_GATE : GATE][i] = window_us(b, first ? none : b->gate);
        batch_us[i] = b->us[GATE][i] - b->us[NO_GATE][i];
    }
    agent_pipe_end(&b->agent);
    agent_pipe_stop(&b->agent);
    double bare = median(b->us[BARE]), batch = median(batch_us), way = median(b->us[GATE]);
    printf("%s\n",
           b->board > 0 ? "a mounted virtual board, on one processor with its reader" : "plain files");
    printf("  %d bare reads                                 %8.1f us\n", SENSORS, bare);
    printf("  a gate's batch of %d sensors (goal <= 200 us) %8.1f us  ratio %.2f\n", SENSORS, batch,
           batch / bare);
    printf("  deciding reading to first iteration (<= 1000) %8.1f us  ratio %.2f\n", way, way / bare);
}

int main(int argc, char **argv)
{
    if (argc != 3 && argc != 5)
        return 2;
    for (int mounted = 0; mounted <= (argc == 5); mounted++) {
        struct bench *b = calloc(1, sizeof *b);
        if (!b)
            die("memory");
        snprintf(b->folder, sizeof b->folder, "/tmp/bench_gate.XXXXXX");
        if (!mkdtemp(b->folder))
            die(b->folder);
        if (mounted) {
            be_on_one_processor();
            mount_board(b, argv[3], argv[4]);
        } else {
            make_zones(b);
        }
        open_zones(b);
        measure(b, argv);
        remove_zones(b);
        free(b);
    }
    return 0;
}
