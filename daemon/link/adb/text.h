/* What passes between adb's server, its devices and us, as bytes: pure functions. The formats are those of
 * SERVICES.TXT and SYNC.TXT of adb, and of its shell protocol (shell,v2). */
#ifndef QS_LINK_ADB_TEXT_H
#define QS_LINK_ADB_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

/* Appends a request: four hexadecimal digits with the length of the text, and the text. */
void qs_adb_request(struct qs_buf *out, const char *text);
/* Four hexadecimal digits. */
bool qs_adb_length(const char digits[4], uint32_t *ret);

enum { QS_ADB_BLOCK_BYTES = 65535 };
/* A block (length, then bytes) at the front of `in`: its bytes are taken from there and appended to `block`,
 * which is emptied first. 1: done; 0: there is not enough yet; -1: it is no block. */
int qs_adb_block(struct qs_buf *in, struct qs_buf *block);

/* A line of `host:devices-l`. Texts are of the line, NUL-terminated there; "" where it does not say: it has a
 * serial number or a place on USB, or both. Of a state the first word. */
struct qs_adb_device {
    const char *serial, *state, *usb, *product, *model, *device;
};
/* Takes the next line from *text, which is changed; false: there is none left. Lines that make no sense are
 * passed over. */
bool qs_adb_next_device(char **text, struct qs_adb_device *ret);

enum qs_adb_stream { QS_ADB_STDOUT = 1, QS_ADB_STDERR = 2, QS_ADB_EXIT = 3 };
/* A packet of shell,v2 at the front of `in`: one byte with its stream, four with the length of what follows;
 * it is taken from there. 1: it is *stream, with its bytes in `bytes`; 0, -1: as above (a packet of more than
 * QS_ADB_BLOCK_BYTES makes no sense either). */
int qs_adb_packet(struct qs_buf *in, enum qs_adb_stream *stream, struct qs_buf *bytes);

/* A message of sync: four letters, and a number, or the length of the n bytes that follow. */
void qs_adb_sync(struct qs_buf *out, const char id[4], const void *bytes, uint32_t n);
uint32_t qs_adb_u32(const char bytes[4]); /* little-endian */

#endif
