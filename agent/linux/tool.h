/* A switch that is a command: text of several lines, which stands where a file's path stands in TUNE and in
 * the journal. Words are separated by a tab.
 *
 * The first line is AFTER, then the command that says how it is set. What it writes is the value; where AFTER
 * is not "", and occurs in it, what follows up to a blank, "," or ";". Without a command AFTER is the value,
 * always: what is taken to be there, since nothing says it.
 *
 * The second is the command that sets it, where each "{}" is the value; "" where the others are enough.
 *
 * Each other has a value, then the word that the second gets instead of it, or a whole command.
 *
 * Only the hand calls these: they wait. */
#ifndef QS_LINUX_TOOL_H
#define QS_LINUX_TOOL_H

#include "linux/hand.h"

bool qs_tool_is(const char *path);
/* It cannot be asked. */
bool qs_tool_is_blind(const char *path);
/* The command that asks, for people; "" is no tool. */
void qs_tool_name(const char *path, char *ret, size_t cap);

/* DONE: text is its value, one line without blanks around it. MISSING: there is no such program, or it said
 * nothing. FAILED with error 0: text is what it wrote instead. */
void qs_tool_read(const char *path, int64_t limit_ns, struct qs_hand_result *ret);
void qs_tool_write(const char *path, const char *value, int64_t limit_ns, struct qs_hand_result *ret);

#endif
