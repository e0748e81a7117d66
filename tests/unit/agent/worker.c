/* A process whose numbers are known: `worker WHAT AMOUNT`. */
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MIB = 1024 * 1024, HEIRS = 8 };

static int64_t used_ms(int system_time)
{
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    const struct timeval *t = system_time ? &u.ru_stime : &u.ru_utime;
    return (int64_t)t->tv_sec * 1000 + t->tv_usec / 1000;
}

static void user_ms(const char *amount)
{
    while (used_ms(0) < atoi(amount)) {
        for (volatile int i = 0; i < 1000000; i++) {
        }
    }
}

static void system_ms(const char *amount)
{
    int fd = open("/dev/zero", O_RDONLY);
    char *bytes = malloc(MIB);
    while (used_ms(1) < atoi(amount) && read(fd, bytes, MIB) > 0) {
    }
    free(bytes);
}

static void sleeps(const char *amount)
{
    const struct timespec pause = {.tv_nsec = 50000};
    for (int i = atoi(amount); i > 0; i--) {
        nanosleep(&pause, NULL);
    }
}

static void touch_mib(const char *amount)
{
    size_t n = (size_t)atoi(amount) * MIB;
    char *at = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at != MAP_FAILED) {
        memset(at, 1, n);
    }
}

/* So many processes, each the child of the one before and in a session of its own: as many looks to end them.
 * The last that this one does is to say what time it is. */
static void chain(const char *amount)
{
    int ready[2];
    char byte = 0;
    struct timespec t;
    if (pipe(ready) != 0) {
        return;
    }
    pid_t pid = fork();
    for (int i = atoi(amount); pid == 0; i--) {
        setsid();
        pid = i > 1 ? fork() : -1;
        if (pid != 0) {
            if (i <= 1 && write(ready[1], &byte, 1) != 1) {
                _exit(1);
            }
            sleep(1000);
            _exit(0);
        }
    }
    if (read(ready[0], &byte, 1) == 1) {
        clock_gettime(CLOCK_MONOTONIC_RAW, &t);
        printf("%lld\n", (long long)t.tv_sec * 1000000000 + t.tv_nsec);
    }
}

/* Leaves a line of processes behind, all of this one's group, each the child of the one before: who lives to
 * see that one's end writes it down. */
static void heirs(const char *path)
{
    int ready[2], below[2];
    int above = -1;
    char byte = 0;
    int fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
    if (fd < 0 || pipe(ready) != 0) {
        return;
    }
    pid_t pid = fork();
    for (int i = 0; pid == 0; i++) {
        if (pipe(below) != 0) {
            _exit(1);
        }
        pid = i < HEIRS ? fork() : -1;
        if (pid == 0) {
            close(below[1]); /* the one before holds it until its end */
            close(above);
            above = below[0];
            continue;
        }
        (void)!(pid < 0 && write(ready[1], &byte, 1));
        if (above < 0) {
            pause();
        }
        (void)!(read(above, &byte, 1) == 0 && write(fd, "x", 1));
        _exit(0);
    }
    (void)!read(ready[0], &byte, 1);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*does)(const char *amount);
    } kinds[] = {{"user-ms", user_ms},     {"system-ms", system_ms}, {"sleeps", sleeps},
                 {"touch-mib", touch_mib}, {"chain", chain},         {"heirs", heirs}};
    for (size_t i = 0; argc == 3 && i < sizeof kinds / sizeof kinds[0]; i++) {
        if (strcmp(argv[1], kinds[i].name) == 0) {
            kinds[i].does(argv[2]);
            fflush(stdout);
            _exit(0);
        }
    }
    return 2;
}
