/* The static agents that are brought to devices: which file is for which ABI, and which ABI a program is for.
 */
#ifndef QS_LINK_AGENTS_H
#define QS_LINK_AGENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "proto/auth.h"

enum { QS_ELF_HEAD_BYTES = 20, QS_AGENTS_MOST_BYTES = 16 * 1024 * 1024 };

struct qs_arch {
    const char *name, *abi[5]; /* ours, and what devices call it */
    const char *agent; /* behind the name of its agent's file; NULL: it has none, others run its programs */
    const char *compiler; /* of programs for it, for people */
    uint8_t elf_class;
    uint16_t elf_machine;
    const char *runs_too; /* the other one whose programs it runs, or NULL */
};

/* Of a device of this ABI, static; NULL: it is not known. */
const struct qs_arch *qs_agents_arch(const char *abi);

/* Appends the path of the agent for an ABI, as a device says it (Android's ro.product.cpu.abi, or `uname
 * -m`). QS_E_CONFIG: there is none for it, or none in the folder, and what to do about it. */
bool qs_agents_find(const char *folder, const char *abi, struct qs_buf *ret_path, struct qs_err *err);

/* Appends the bytes of that file, at most QS_AGENTS_MOST_BYTES; QS_E_CONFIG where they cannot be read. */
bool qs_agents_read(const char *folder, const char *abi, struct qs_buf *ret_bytes,
                    uint8_t ret_sum[QS_SHA256_BYTES], struct qs_err *err);

/* Of a program's first bytes: the architecture that it is for ("arm64"), static; NULL where they are no ELF
 * program's, or of none that has an agent. */
const char *qs_agents_elf(const uint8_t *head, size_t n);
/* Whether a device of this ABI runs programs of that architecture: its own, and of 32 bits beside those
 * of 64. True where the ABI is unknown. */
bool qs_agents_runs(const char *abi, const char *architecture);

#endif
