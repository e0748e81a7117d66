#include "device/board/program.h"

#include <string.h>

#include "link/agents.h"

enum {
    CLASS_AT = 4, /* 1: 32 bits, 2: 64 */
    DATA_AT = 5,  /* 1: the least significant byte comes first */
    TYPE_AT = 16,
    EXECUTABLE = 2,
    SHARED = 3, /* a program that may lie anywhere, too */
    SEGMENT_INTERPRETER = 3,
    PATH_BYTES_MAX = 255
};

static uint64_t little(const uint8_t *at, size_t bytes)
{
    uint64_t value = 0;
    for (size_t i = bytes; i > 0; i--)
        value = value << 8 | at[i - 1];
    return value;
}

static bool is_elf(const uint8_t *head, size_t n)
{
    return n >= QS_ELF_HEAD_BYTES && memcmp(head, "\177ELF", 4) == 0;
}

const char *qs_program_arch(const uint8_t *head, size_t n)
{
    if (!is_elf(head, n))
        return NULL;
    uint64_t type = head[DATA_AT] == 1 ? little(head + TYPE_AT, 2) : head[TYPE_AT + 1];
    if (type != EXECUTABLE && type != SHARED)
        return NULL;
    const char *known = qs_agents_elf(head, n);
    return known != NULL ? known : "another kind of processor";
}

bool qs_program_fits(const char *arch, const char *machine, struct qs_buf *ret_needs)
{
    if (qs_agents_runs(machine, arch))
        return true;
    const struct qs_arch *own = qs_agents_arch(machine);
    qs_buf_fmt(ret_needs, "%s (%s): build it with %s", own->name, machine, own->compiler);
    return false;
}

/* The segment that names it. */
static bool find_segment(const uint8_t *head, size_t n, uint64_t *ret_at, uint64_t *ret_bytes)
{
    bool wide = head[CLASS_AT] == 2;
    size_t header = wide ? 64 : 52, row = wide ? 56 : 32;
    if (n < header)
        return false;
    uint64_t at = little(head + (wide ? 32 : 28), wide ? 8 : 4);
    uint64_t each = little(head + (wide ? 54 : 42), 2), count = little(head + (wide ? 56 : 44), 2);
    for (uint64_t i = 0; i < count && each >= row && at <= n && n - at >= row; i++, at += each) {
        const uint8_t *segment = head + at;
        if (little(segment, 4) != SEGMENT_INTERPRETER)
            continue;
        *ret_at = little(segment + (wide ? 8 : 4), wide ? 8 : 4);
        *ret_bytes = little(segment + (wide ? 32 : 16), wide ? 8 : 4);
        return true;
    }
    return false;
}

bool qs_program_interpreter(const uint8_t *head, size_t n, struct qs_buf *out)
{
    uint64_t at = 2, bytes = 0;
    if (n > 2 && memcmp(head, "#!", 2) == 0) {
        while (at < n && (head[at] == ' ' || head[at] == '\t'))
            at++;
        while (at + bytes < n && head[at + bytes] != '\0' && strchr(" \t\r\n", head[at + bytes]) == NULL)
            bytes++;
    } else if (!is_elf(head, n) || head[DATA_AT] != 1 || !find_segment(head, n, &at, &bytes)) {
        return false;
    }
    if (bytes == 0 || bytes > PATH_BYTES_MAX || at > n || n - at < bytes)
        return false;
    qs_buf_add(out, head + at, strnlen((const char *)head + at, bytes));
    return true;
}
