#include "parent.h"

#include <errno.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

int64_t parent_now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

void parent_open(struct parent *p)
{
    memset(p, 0, sizeof *p);
    p->bytes = (size_t)quiesce_bench_total_bytes(PARENT_CAPACITY, PARENT_METRICS);
    p->memory_fd = memfd_create("bench", 0);
    p->wake_fd = eventfd(0, 0);
    assert_true(p->memory_fd >= 0 && p->wake_fd >= 0 && ftruncate(p->memory_fd, (off_t)p->bytes) == 0);
    p->shared = mmap(NULL, p->bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, p->memory_fd, 0);
    assert_true(p->shared != MAP_FAILED);
    p->shared->magic = QUIESCE_BENCH_MAGIC;
    p->shared->layout = QUIESCE_BENCH_LAYOUT;
    p->shared->head_bytes = sizeof *p->shared;
    p->shared->total_bytes = p->bytes;
    p->shared->capacity = PARENT_CAPACITY;
    p->shared->metrics_capacity = PARENT_METRICS;
    p->shared->wake_fd = p->wake_fd;
    p->shared->clock = CLOCK_MONOTONIC;
    p->shared->evals = 1;
    p->shared->max_ns = INT64_C(60000000000);
}

void parent_add_param(struct parent *p, const char *text)
{
    size_t n = strlen(text) + 1;
    memcpy(p->shared->params + p->shared->params_bytes, text, n);
    p->shared->params_bytes += (uint32_t)n;
}

void parent_start(struct parent *p, const char *fd_text, const char *const *args)
{
    char right[16];
    const char *argv[PARENT_ARGS_MAX + 2] = {getenv("QS_PROBE")};
    int said[2];
    for (size_t i = 0; i < PARENT_ARGS_MAX && args && args[i]; i++) {
        argv[i + 1] = args[i];
    }
    assert_non_null(argv[0]);
    assert_int_equal(pipe(said), 0);
    snprintf(right, sizeof right, "%d", p->memory_fd);
    fflush(NULL);
    p->pid = fork();
    assert_true(p->pid >= 0);
    if (p->pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        personality(ADDR_NO_RANDOMIZE);
        dup2(said[1], STDERR_FILENO);
        close(said[0]);
        setenv(QUIESCE_BENCH_ENV, fd_text ? fd_text : right, 1);
        execv(argv[0], (char *const *)(uintptr_t)argv);
        _exit(127);
    }
    close(said[1]);
    p->stderr_fd = said[0];
}

void parent_await(struct parent *p)
{
    uint64_t count = 0;
    struct pollfd wake = {.fd = p->wake_fd, .events = POLLIN};
    assert_int_equal(poll(&wake, 1, 60000), 1);
    assert_int_equal(read(p->wake_fd, &count, sizeof count), sizeof count);
    assert_int_equal(count, 1);
    assert_int_equal(__atomic_load_n(&p->shared->done_seq, __ATOMIC_ACQUIRE), p->shared->command_seq);
}

void parent_command(struct parent *p, enum quiesce_bench_command command)
{
    p->shared->command = (uint32_t)command;
    __atomic_add_fetch(&p->shared->command_seq, 1, __ATOMIC_RELEASE);
    syscall(SYS_futex, &p->shared->command_seq, 1 /* FUTEX_WAKE */, 1, NULL, NULL, 0);
}

void parent_publish(struct parent *p)
{
    p->shared->start_at_ns = parent_now_ns() + 200000;
    __atomic_store_n(&p->shared->start_seq, p->shared->command_seq, __ATOMIC_RELEASE);
}

void parent_window(struct parent *p, enum quiesce_bench_command command, uint32_t iterations)
{
    p->shared->iterations = iterations;
    parent_command(p, command);
    parent_publish(p);
    parent_await(p);
}

void parent_over(struct parent *p)
{
    size_t n = 0;
    ssize_t got = 1;
    assert_int_equal(waitpid(p->pid, &p->status, 0), p->pid);
    while (n < sizeof p->said - 1 && got > 0) {
        got = read(p->stderr_fd, p->said + n, sizeof p->said - 1 - n);
        n += got > 0 ? (size_t)got : 0;
    }
    p->said[n] = '\0';
    p->pid = 0;
}

void parent_close(struct parent *p)
{
    if (p->pid > 0) {
        kill(p->pid, SIGKILL);
        parent_over(p);
    }
    munmap(p->shared, p->bytes);
    close(p->memory_fd);
    close(p->wake_fd);
    close(p->stderr_fd);
}

int64_t parent_value(const struct parent *p, const char *metric, uint32_t iteration)
{
    const int64_t *values = quiesce_bench_values(p->shared, PARENT_CAPACITY);
    for (uint32_t m = 0; m < p->shared->metrics_count; m++) {
        if (strcmp(p->shared->metrics[m].name, metric) == 0) {
            return values[(size_t)m * PARENT_CAPACITY + iteration];
        }
    }
    fail_msg("there is no metric %s", metric);
    return 0;
}
