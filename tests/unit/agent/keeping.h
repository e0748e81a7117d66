/* A keeper over the folder "sys", which stands for /sys, with its journal in "state"; the test is its agent.
 */
#ifndef QS_TESTS_AGENT_KEEPING_H
#define QS_TESTS_AGENT_KEEPING_H

#include "linux/keeper.h"
#include "proto/msg.h"

#define MS INT64_C(1000000)

extern struct qs_keeper keeper;
extern struct qs_keeper_answer got; /* the last one */
extern int agent_fd;                /* what the agent would have */

void open_keeper(void);
void open_keeper_of(const char *state, const char *sysfs);
/* As SIGKILL would: nothing is put back. */
void close_keeper(void);

/* Each is sent, done and answered. */
void order(enum qs_keeper_what what, const char *path, const char *value, uint8_t flags);
void tune(const char *path, const char *value);
/* RESTORE until there is nothing left. */
void restore_all(void);
void lease(int64_t ns);

/* What the last answer says. */
void expect(enum qs_tune_outcome outcome, int error, const char *before, const char *after);
void expect_restored(const char *path, enum qs_tune_outcome outcome, const char *before, const char *after);
void expect_text(const char *path, const char *wanted);
/* Valid until the next call. */
const char *text_of(const char *path);
/* Waits until the journal has this word; true. */
bool journal_has(const char *word);

#endif
