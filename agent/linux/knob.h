/* One file of the device (or tool, tool.h) that is changed for a while: what it says, and whether a write has
 * come to stand there. Through a hand, so that no driver keeps us waiting. */
#ifndef QS_LINUX_KNOB_H
#define QS_LINUX_KNOB_H

#include "core/port_control.h"
#include "linux/hand.h"
#include "linux/journal.h"

/* The same text, or the same number. */
bool qs_knob_same(const char *a, const char *b);
bool qs_knob_number(const char *text, long long *value);
/* For the wire: cut. */
void qs_knob_say(char text[QS_PORT_SAID_BYTES], const char *value);

/* It would stop whoever puts it back: our own control group is to be frozen, or one that ours is in. */
bool qs_knob_freezes_us(const char *path, const char *value);

/* Reads the file into value, as it would be put back. False: *file says why. */
bool qs_knob_look(struct qs_hand *hand, const char *path, char value[QS_JOURNAL_TEXT_BYTES],
                  struct qs_port_controlled *file);
/* False: *file says why. A TIMEOUT whose driver cannot be interrupted gives *stuck_fd, see hand.h. */
bool qs_knob_write(struct qs_hand *hand, const char *path, const char *value, struct qs_port_controlled *file,
                   int *stuck_fd);
/* What is there behind a write: SET or SLIPPED, and file->after. A file that cannot be read any more does not
 * say what it should. */
void qs_knob_read_back(struct qs_hand *hand, const char *path, const char *value,
                       struct qs_port_controlled *file);

#endif
