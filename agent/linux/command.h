/* The commands of a run or a hook: texts of the wire as argument vectors, executables found and summed up. */
#ifndef QS_LINUX_COMMAND_H
#define QS_LINUX_COMMAND_H

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/port.h"
#include "linux/spawn.h"
#include "proto/msg.h"

enum {
    QS_WORDS_BYTES = QS_FRAME_MAX_BYTES + 16384,
    QS_WORDS_MAX = 3 * QS_ARGV_MAX + QS_ENV_MAX + 8,
    QS_SUMS_MAX = 16
};

/* NUL-terminated copies of texts, and vectors of them. */
struct qs_words {
    size_t used, count;
    char *vectors[QS_WORDS_MAX];
    char bytes[QS_WORDS_BYTES];
};

struct qs_command {
    char *const *argv; /* NULL: there is no such command */
    char path[QS_PORT_PATH_BYTES];
};

/* A run, or (iteration only) a hook. */
struct qs_commands {
    struct qs_words words;
    struct qs_command iteration, prepare, conclude;
    char *const *envp;
    const char *cwd;         /* "": the agent's */
    int cwd_fd;              /* owned; AT_FDCWD: the agent's own directory */
    const char *stdin_path;  /* NULL: /dev/null */
    const char *output_path; /* NULL: no file */
    bool capture, apart;     /* apart: standard output and standard error in pipes of their own */
    uint32_t output_max_bytes;
    bool has_identity;
    struct qs_identity identity; /* where the commands run as somebody else */
    bool pinned;
    cpu_set_t cpus;        /* where pinned */
    struct qs_start start; /* of the processes that are measured */
};

/* The files of a process, > 2 and owned; -1: none. */
struct qs_places {
    int in_fd, out_fd;
};

/* Sums of executables, by what identifies an unchanged file. */
struct qs_sums {
    struct {
        dev_t dev;
        ino_t ino;
        off_t size_bytes;
        struct timespec changed, modified;
        uint8_t sha256[32];
    } items[QS_SUMS_MAX];
    size_t count, next;
};

/* Takes the texts over, opens the directory, finds each executable. False: *fault says which and why. */
bool qs_commands_of_run(struct qs_commands *commands, const struct qs_msg_run_begin *run,
                        const cpu_set_t *allowed, struct qs_port_fault *fault);
bool qs_commands_of_hook(struct qs_commands *commands, const struct qs_msg_hook *hook,
                         struct qs_port_fault *fault);
void qs_commands_close(struct qs_commands *commands);

/* Opens what the next process reads and writes, with that one's rights and without waiting, as a named pipe
 * would: its input at the beginning, its output emptied, and made where it is not there. False: *fault says
 * why. */
bool qs_places_open(struct qs_places *places, const struct qs_commands *commands,
                    struct qs_port_fault *fault);
void qs_places_close(struct qs_places *places);
/* The absolute path of a command's executable, for people. */
void qs_commands_executable(const struct qs_commands *commands, const struct qs_command *command, char *text,
                            size_t cap);
/* SHA-256 of its contents; zeros where it cannot be read. */
void qs_sums_of(struct qs_sums *sums, const struct qs_commands *commands, const struct qs_command *command,
                uint8_t sha256[32]);
/* "0-3,6"; false: not such a list. */
bool qs_cpus_parse(const char *text, cpu_set_t *cpus);
void qs_cpus_print(const cpu_set_t *cpus, char *text, size_t cap);

#endif
