/* The program of a harness run: its memory, its environment, its waking (Linux). */
#ifndef QS_LINUX_HARNESS_H
#define QS_LINUX_HARNESS_H

#include <time.h>

#include "core/shared.h"
#include "linux/child.h"
#include "linux/command.h"

enum { QS_HARNESS_CHILD_FD = 3, QS_HARNESS_WAKE_FD = 4 }; /* in the program */
enum { QS_HARNESS_EVIDENCE = 6 };                         /* kinds that qs_harness_evidence adds */

struct qs_linux_harness {
    bool open; /* between begin and end of a run */
    struct qs_shared shared;
    void *memory; /* mapped */
    size_t bytes;
    int memory_fd; /* owned; -1 where closed, like the next two */
    int wake_fd,
        waker_fd; /* ends of a pipe: ours, and the program's, open here too, so that ours never ends */
    pid_t pid;
    char fd_variable[32];
    char pad_variable[QS_LAYOUT_ENVIRONMENT_MAX_BYTES + 32];
    char *envp[QS_ENV_MAX + 3];
};

void qs_harness_init(struct qs_linux_harness *harness);
/* Makes room for a run: memory, descriptors, environment. commands->envp becomes the harness's. */
bool qs_harness_open(struct qs_linux_harness *harness, const struct qs_msg_run_begin *run, clockid_t clock,
                     struct qs_commands *commands, struct qs_port_fault *fault);
void qs_harness_close(struct qs_linux_harness *harness);

bool qs_harness_start(struct qs_linux_harness *harness, struct qs_linux_child *child,
                      const struct qs_commands *commands, struct qs_port_fault *fault);
/* After a command was written. */
void qs_harness_wake(const struct qs_linux_harness *harness);
/* The program has woken us: takes that in. */
void qs_harness_heard(const struct qs_linux_harness *harness);
/* The program's own account, as qs_port.evidence has it; QS_HARNESS_EVIDENCE rows. */
void qs_harness_evidence(const struct qs_linux_harness *harness, bool after, struct qs_port_evidence *rows);

#endif
