/* A benchmark whose work is cycles: it lasts as long as the board's clock needs for them, as the board's
 * witness tells, whatever this machine's own clock does. board-work --board DIR --cycles N [--policy NAME]
 * [--load PERCENT] */
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { LOOK_MAX_NS = 10000000 };

static int64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* A clock's frequency; the first one's where name is NULL. -1: there is none. */
static int64_t read_khz(int fd, const char *name)
{
    char text[4096];
    ssize_t n = pread(fd, text, sizeof text - 1, 0);
    text[n > 0 ? n : 0] = '\0';
    size_t length = name ? strlen(name) : strcspn(text, " ");
    for (char *line = text; *line; line += strcspn(line, "\n") + (line[strcspn(line, "\n")] == '\n')) {
        if ((!name || strncmp(line, name, length) == 0) && line[length] == ' ') {
            return strtoll(line + length, NULL, 10);
        }
    }
    return -1;
}

static bool say_load(const char *board, const char *load)
{
    char path[4096];
    char line[64];
    snprintf(path, sizeof path, "%s/.board/control", board);
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    int n = snprintf(line, sizeof line, "load %.32s\n", load);
    bool ok = fd >= 0 && write(fd, line, (size_t)n) == n;
    if (fd >= 0) {
        close(fd);
    }
    return ok;
}

static int work(int fd, const char *policy, int64_t cycles)
{
    int64_t begun_ns = now_ns();
    int64_t last_ns = begun_ns;
    int64_t slowest_khz = INT64_MAX;
    int64_t fastest_khz = 0;
    double done = 0;
    while (done < (double)cycles) {
        int64_t khz = read_khz(fd, policy);
        int64_t at_ns = now_ns();
        if (khz < 0) {
            fprintf(stderr, "board-work: the board has no clock of this name\n");
            return 1;
        }
        int64_t took_ns = at_ns - last_ns;
        /* A pause of this machine is no work of the board's. */
        done += (double)khz * (double)(took_ns < LOOK_MAX_NS ? took_ns : LOOK_MAX_NS) / 1e6;
        last_ns = at_ns;
        slowest_khz = khz < slowest_khz ? khz : slowest_khz;
        fastest_khz = khz > fastest_khz ? khz : fastest_khz;
    }
    printf("ns=%" PRId64 " slowest_khz=%" PRId64 " fastest_khz=%" PRId64 "\n", last_ns - begun_ns,
           slowest_khz, fastest_khz);
    return 0;
}

int main(int argc, char **argv)
{
    static const struct option known[] = {{"board", 1, NULL, 'b'},
                                          {"cycles", 1, NULL, 'c'},
                                          {"policy", 1, NULL, 'p'},
                                          {"load", 1, NULL, 'l'},
                                          {0}};
    const char *values[128] = {NULL};
    char path[4096];
    for (int option; (option = getopt_long(argc, argv, "", known, NULL)) != -1;) {
        if (option == '?') {
            return 2;
        }
        values[option] = optarg;
    }
    if (!values['b'] || !values['c'] || optind != argc) {
        fprintf(stderr, "usage: board-work --board DIR --cycles N [--policy NAME] [--load PERCENT]\n");
        return 2;
    }
    snprintf(path, sizeof path, "%s/.board/khz", values['b']);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || (values['l'] && !say_load(values['b'], values['l']))) {
        fprintf(stderr, "board-work: %s is no board\n", values['b']);
        return 1;
    }
    int code = work(fd, values['p'], strtoll(values['c'], NULL, 10));
    if (values['l']) {
        say_load(values['b'], "rest");
    }
    close(fd);
    return code;
}
