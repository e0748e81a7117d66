/* Sensors that are commands, such as Android's dumpsys. They are asked in the background, one after another,
 * when somebody reads them and what they last said is older than half of what is allowed. Inside the probe.
 */
#ifndef QS_LINUX_SLOW_H
#define QS_LINUX_SLOW_H

#include "linux/probe.h"

#include <time.h>

struct qs_bind_command;

/* The reading of source i; false: that is no command. Begins its command where it is time to. */
bool qs_slow_read(struct qs_probe *probe, size_t i, int64_t now_ns, struct qs_port_reading *reading);
/* Takes in what the command has written, and its end, which may be a forced one. */
void qs_slow_turn(struct qs_probe *probe, int64_t now_ns);
/* Of the commands that are evidence: false while one runs or begins, because what it last said is too old. */
bool qs_slow_settled(struct qs_probe *probe, int64_t now_ns);
/* After a window: asks those again and waits for what they say, which becomes `after` of their rows. What has
 * not ended in 5 s is unreadable. */
void qs_slow_evidence(struct qs_probe *probe, clockid_t clock, struct qs_port_evidence *rows, size_t n);
/* Ends what runs; it has no reading of that. */
void qs_slow_stop(struct qs_probe *probe);

/* What an output says, by the command's patterns: the highest plausible value of those lines. A status of the
 * wire. */
uint8_t qs_slow_find(const struct qs_bound_file *b, const struct qs_bind_command *command, const char *text,
                     int64_t *value);

#endif
