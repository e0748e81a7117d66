/* Programs that a benchmark tool meets on a bad day: `hostile BEHAVIOUR [ARGUMENT]`. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { OUTPUT_CHUNK_BYTES = 65536 };

static int crash(const char *arg)
{
    (void)arg;
    const struct rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);
    signal(SIGSEGV, SIG_DFL);
    raise(SIGSEGV);
    return 0;
}

static _Noreturn void sleep_forever(void)
{
    for (;;)
        pause();
}

static int hang(const char *arg)
{
    (void)arg;
    sleep_forever();
}

static int stubborn(const char *arg)
{
    (void)arg;
    signal(SIGTERM, SIG_IGN);
    signal(SIGINT, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    sleep_forever();
}

static int exit_with(const char *arg)
{
    return atoi(arg);
}

static void child_of_the_group(void)
{
    if (fork() == 0)
        sleep_forever();
}

/* The classical way out: a session of its own, and no parent that would be asked about it. */
static void daemon_of_its_own(void)
{
    pid_t first = fork();
    if (first == 0) {
        setsid();
        signal(SIGTERM, SIG_IGN);
        if (fork() == 0)
            sleep_forever();
        _exit(0);
    }
    waitpid(first, NULL, 0);
}

/* Ends well itself and leaves two processes behind that would outlive it. */
static int leave(const char *arg)
{
    (void)arg;
    child_of_the_group();
    daemon_of_its_own();
    return 0;
}

/* The same, but it waits too: killing it must not free the others. */
static int leave_and_hang(const char *arg)
{
    leave(arg);
    sleep_forever();
}

static int print(const char *arg)
{
    static char chunk[OUTPUT_CHUNK_BYTES];
    long long left = atoll(arg);
    memset(chunk, 'x', sizeof chunk);
    while (left > 0) {
        size_t n = left < (long long)sizeof chunk ? (size_t)left : sizeof chunk;
        ssize_t written = write(STDOUT_FILENO, chunk, n);
        if (written <= 0)
            return 3;
        left -= written;
    }
    return 0;
}

/* 0 where standard input has exactly this text; the text is all that it may have. */
static int expect_input(const char *arg)
{
    char text[4096];
    size_t n = fread(text, 1, sizeof text, stdin);
    return n == strlen(arg) && memcmp(text, arg, n) == 0 ? 0 : 5;
}

static int close_all(const char *arg)
{
    (void)arg;
    for (int fd = 0; fd < 1024; fd++)
        close(fd);
    return 0;
}

/* 0 where nothing but 0, 1 and 2 was inherited. */
static int count_descriptors(const char *arg)
{
    (void)arg;
    for (int fd = 3; fd < 1024; fd++) {
        if (fcntl(fd, F_GETFD) >= 0)
            return 6;
    }
    return fcntl(0, F_GETFD) >= 0 && fcntl(1, F_GETFD) >= 0 && fcntl(2, F_GETFD) >= 0 ? 0 : 7;
}

/* Succeeds as often as the argument says, counted in the file named by HOSTILE_COUNT, then fails. */
static int fail_after(const char *arg)
{
    const char *path = getenv("HOSTILE_COUNT");
    int fd = open(path ? path : "", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    struct stat st;
    if (fd < 0 || write(fd, "x", 1) != 1 || fstat(fd, &st) != 0)
        return 9;
    return st.st_size <= atoi(arg) ? 0 : 4;
}

static void *spin_one(void *user)
{
    volatile unsigned long turns = 0;
    (void)user;
    for (;;)
        turns++;
    return NULL;
}

/* Busy with so many threads: more than its share of the machine, whoever else is busy too. */
static int spin(const char *arg)
{
    for (int i = 1; i < atoi(arg); i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, spin_one, NULL) != 0)
            return 8;
    }
    spin_one(NULL);
    return 0;
}

static const struct {
    const char *name;
    int (*run)(const char *arg);
    bool wants_argument;
} table[] = {
    {"crash", crash, false},
    {"hang", hang, false},
    {"stubborn", stubborn, false},
    {"exit", exit_with, true},
    {"leave", leave, false},
    {"leave-and-hang", leave_and_hang, false},
    {"print", print, true},
    {"expect-input", expect_input, true},
    {"close-all", close_all, false},
    {"count-descriptors", count_descriptors, false},
    {"spin", spin, true},
    {"fail-after", fail_after, true},
};

int main(int argc, char **argv)
{
    for (size_t i = 0; argc > 1 && i < sizeof table / sizeof *table; i++) {
        if (strcmp(argv[1], table[i].name) == 0 && argc == 2 + table[i].wants_argument)
            return table[i].run(table[i].wants_argument ? argv[2] : "");
    }
    fputs("usage: hostile BEHAVIOUR [ARGUMENT]\n", stderr);
    return 2;
}
