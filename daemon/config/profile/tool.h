/* Switches that are commands, as the agent takes them: lines of words (proto/PROTOCOL.md, TUNE). */
#ifndef QS_CONFIG_PROFILE_TOOL_H
#define QS_CONFIG_PROFILE_TOOL_H

#include <stdbool.h>

#include "base/buf.h"
#include "config/profile/profile.h"

/* What stands for the value in a row's words, and for what a job writes in its place in a switch's name. */
#define QS_TOOL_VALUE "{value}"
#define QS_TOOL_ARG   "{arg}"

/* NULL where the row is whole, be it a file or a command; else what is wrong with it. */
const char *qs_profile_switch_wrong(const struct qs_profile_switch *s);
bool qs_profile_switch_is_tool(const struct qs_profile_switch *s);
/* Owned. */
char *qs_tool_text(const struct qs_profile_switch *s);

/* Of such a text, or of a file's path. */
bool qs_tool_is(const char *path);
bool qs_tool_is_blind(const char *path); /* nothing tells its value */
/* "settings get global wifi_on": the command that asks, else the one that sets; a file's path as it is. */
void qs_tool_show(const char *path, struct qs_buf *out);
/* With `arg` in the place of each {arg}. Owned. */
char *qs_tool_with(const char *text, const char *arg);

#endif
