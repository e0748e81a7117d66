/* What a program needs to run, by the first bytes of its file: which processor, and which interpreter. Pure.
 * Only ELF is looked into (System V gABI, chapter 4); a script says in its first line what it needs. */
#ifndef QS_DEVICE_BOARD_PROGRAM_H
#define QS_DEVICE_BOARD_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

enum { QS_PROGRAM_HEAD_BYTES = 4096 }; /* what is enough of a file, or all of it */

/* The architecture that it is for, as link/agents.h names it; "another kind of processor" where none of those
 * is. NULL: it is no ELF program or library. Static. */
const char *qs_program_arch(const uint8_t *head, size_t n);

/* Whether a device runs it, by what uname(2) calls its machine; true where that is not known here. Else
 * *ret_needs says what it takes and how to build it: "arm64 (aarch64): build it with ...". */
bool qs_program_fits(const char *arch, const char *machine, struct qs_buf *ret_needs);

/* Appends the path of what loads it: of an ELF program its interpreter, of a script what its first line
 * names. False: it needs none, or it is not within the head. */
bool qs_program_interpreter(const uint8_t *head, size_t n, struct qs_buf *out);

#endif
