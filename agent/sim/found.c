/* Files of the board as the agent's core finds and reads them, and sensors that the host makes of them. */
#include "sim/impl.h"

#include "core/glob.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/msg_control.h"

enum { WHOLE_BYTES = QS_CONTROL_PATH_MAX_BYTES + 8 };

static const char *below_root(const char *path, char whole[WHOLE_BYTES])
{
    snprintf(whole, WHOLE_BYTES, path[0] ? "sys/%.255s" : "sys", path);
    return whole;
}

static bool is_file(const struct qs_vboard *board, const char *path)
{
    char whole[WHOLE_BYTES];
    return qs_vboard_may(board, below_root(path, whole), 0, 0) == 0;
}

/* The first name in a folder that matches and comes after `from`, or is it. */
static bool next_name(const struct qs_vboard *board, const char *folder, const char *part, const char *from,
                      bool itself, char name[QS_VBOARD_PATH_BYTES])
{
    char whole[WHOLE_BYTES];
    char real[QS_VBOARD_PATH_BYTES];
    char at[QS_VBOARD_PATH_BYTES];
    if (!qs_vboard_resolve(board, below_root(folder, whole), real, sizeof real)) {
        return false;
    }
    snprintf(at, sizeof at, "%.191s", from);
    if (itself && at[0] && qs_glob_match(part, at, QS_GLOB_NAME)) {
        memcpy(name, at, sizeof at);
        return true;
    }
    while (qs_vboard_next(board, real, at, name, QS_VBOARD_PATH_BYTES)) {
        if (qs_glob_match(part, name, QS_GLOB_NAME)) {
            return true;
        }
        memcpy(at, name, sizeof at);
    }
    return false;
}

/* Below path, the first file that matches the rest of the pattern and lies behind `after` ("": any does). It
 * is appended to the path. */
static bool descend(const struct qs_vboard *board, char path[QS_CONTROL_PATH_MAX_BYTES + 1],
                    const char *pattern, const char *after)
{
    char part[QS_CONTROL_PATH_MAX_BYTES + 1];
    char from[QS_CONTROL_PATH_MAX_BYTES + 1];
    char name[QS_VBOARD_PATH_BYTES];
    size_t at = strlen(path);
    size_t n = strcspn(pattern, "/");
    size_t m = strcspn(after, "/");
    const char *deeper = after + m + (after[m] == '/');
    bool last = pattern[n] == '\0';
    snprintf(part, sizeof part, "%.*s", (int)n, pattern);
    snprintf(from, sizeof from, "%.*s", (int)m, after);
    for (bool itself = !last; next_name(board, path, part, from, itself, name); itself = false) {
        bool same = strcmp(name, from) == 0;
        int more = snprintf(path + at, QS_CONTROL_PATH_MAX_BYTES + 1 - at, "%s%s", at ? "/" : "", name);
        if ((size_t)more <= QS_CONTROL_PATH_MAX_BYTES - at &&
            (last ? is_file(board, path) : descend(board, path, pattern + n + 1, same ? deeper : ""))) {
            return true;
        }
        path[at] = '\0';
        snprintf(from, sizeof from, "%s", name);
    }
    return false;
}

int qs_sim_file_read(struct qs_sim *sim, const char *path, char *text, size_t cap)
{
    char whole[WHOLE_BYTES];
    char said[QS_VBOARD_TEXT_BYTES];
    int n = qs_vboard_read(qs_sim_board(sim), below_root(path, whole), 0, said, sizeof said);
    if (n < 0) {
        return n == -ENODEV ? -ENOENT : n; /* whoever opens it now finds nothing */
    }
    const char *from = said;
    const char *end = said + n;
    while (from < end && isspace((unsigned char)*from)) {
        from++;
    }
    while (end > from && isspace((unsigned char)end[-1])) {
        end--;
    }
    n = snprintf(text, cap, "%.*s", (int)(end - from), from);
    return (size_t)n < cap ? n : -E2BIG;
}

bool qs_sim_find(void *ctx, const char *pattern, const char *after, struct qs_port_found *found)
{
    struct qs_vboard *board = qs_sim_board(ctx);
    char from[QS_CONTROL_PATH_MAX_BYTES + 1];
    char whole[WHOLE_BYTES];
    char said[QS_VBOARD_TEXT_BYTES];
    snprintf(from, sizeof from, "%s", after); /* it may be the path of *found */
    memset(found, 0, sizeof *found);
    if (!descend(board, found->path, pattern, from)) {
        return false;
    }
    below_root(found->path, whole);
    found->access = (uint8_t)((qs_vboard_may(board, whole, 0, QS_VBOARD_READ) == 0 ? QS_FILE_READABLE : 0) |
                              (qs_vboard_may(board, whole, 0, QS_VBOARD_WRITE) == 0 ? QS_FILE_WRITABLE : 0));
    int n = qs_vboard_read(board, whole, 0, said, sizeof said);
    found->error = n < 0 ? -n : 0;
    found->n = n < 0 ? 0 : (size_t)n < sizeof found->value ? (size_t)n : sizeof found->value;
    memcpy(found->value, said, found->n);
    return true;
}

void qs_sim_bind(void *ctx, const struct qs_binding *binding)
{
    struct qs_sim_bed *bed = ((struct qs_sim *)ctx)->options.bed;
    if (!binding) {
        bed->bound_count = 0;
        return;
    }
    struct qs_sim_bound *b = &bed->bound[bed->bound_count++];
    *b = (struct qs_sim_bound){.mul = binding->mul,
                               .div = binding->div,
                               .lo = binding->lo,
                               .hi = binding->hi,
                               .flags = binding->flags};
    qs_text_copy(binding->name, b->name, sizeof b->name);
    qs_text_copy(binding->path, b->path, sizeof b->path);
}

/* Of lines "FREQUENCY TIME" the times at other frequencies than lo .. hi. False: none is one of these. */
static bool sum_table(const char *text, const struct qs_sim_bound *b, int64_t *sum)
{
    bool found = false;
    *sum = 0;
    for (const char *line = text, *next; *line; line = next) {
        next = line + strcspn(line, "\n");
        next += *next == '\n';
        char *end;
        int64_t key = strtoll(line, &end, 10);
        bool inside = key >= b->lo && key <= b->hi;
        found = found || inside;
        *sum += inside ? 0 : strtoll(end, NULL, 10);
    }
    return found;
}

/* Which of the lines of `words` the text is, from 1; 0: none. */
static int64_t find_word(const char *words, const char *text)
{
    const size_t n = strlen(text);
    for (int64_t i = 1;; i++) {
        size_t len = strcspn(words, "\n");
        if (len == n && strncmp(words, text, n) == 0) {
            return i;
        }
        if (words[len] == '\0') {
            return 0;
        }
        words += len + 1;
    }
}

/* What stands behind a number's point, in 1 / mul. */
static int64_t fraction(const char *text, const char *end, int64_t mul)
{
    int64_t digits = 0;
    int64_t of = 1;
    if (*end != '.') {
        return 0;
    }
    for (end++; isdigit((unsigned char)*end) && of < QS_BIND_SCALE_MAX; end++) {
        digits = digits * 10 + (*end - '0');
        of *= 10;
    }
    return text[0] == '-' ? -(digits * mul / of) : digits * mul / of;
}

/* The first number of the file, or what its table comes to. */
static uint8_t read_bound(struct qs_sim *sim, const struct qs_sim_bound *b, int64_t *value)
{
    char text[QS_VBOARD_TEXT_BYTES];
    char *end;
    char path[QS_PORT_KNOB_BYTES];
    const char *words = strchr(b->path, '\n');
    snprintf(path, sizeof path, "%.*s", (int)strcspn(b->path, "\n"), b->path);
    int n = qs_sim_file_read(sim, path, text, sizeof text);
    *value = 0;
    if (n < 0) {
        return n == -ENOENT ? QS_READING_MISSING : QS_READING_UNREADABLE;
    }
    if (words) {
        *value = find_word(words + 1, text);
        return QS_READING_OK;
    }
    bool bits = (b->flags & QS_BIND_BITS) != 0;
    long long raw = bits ? (long long)(strtoull(text, &end, 16) & (uint64_t)b->mul) : strtoll(text, &end, 10);
    int64_t scaled;
    int64_t sum;
    if (b->flags & QS_BIND_TABLE) {
        bool known = sum_table(text, b, &sum);
        *value = known ? sum * b->mul / b->div : 0;
        return known ? QS_READING_OK : QS_READING_UNREADABLE;
    }
    bool held = (b->flags & QS_BIND_HELD) != 0;
    int64_t part = bits || end == text ? 0 : fraction(text, end, b->mul);
    if (end == text || __builtin_mul_overflow((int64_t)raw, bits ? 1 : b->mul, &scaled) ||
        __builtin_add_overflow(scaled, part, &scaled) ||
        (!held && (scaled / b->div < b->lo || scaled / b->div > b->hi))) {
        return QS_READING_UNREADABLE;
    }
    *value = scaled / b->div;
    return QS_READING_OK;
}

bool qs_sim_read_bound(struct qs_sim *sim, const char *name, struct qs_port_reading *reading)
{
    const struct qs_sim_bed *bed = sim->options.bed;
    for (size_t i = bed->bound_count; i-- > 0;) {
        if (strcmp(bed->bound[i].name, name) == 0) {
            reading->status = read_bound(sim, &bed->bound[i], &reading->value);
            return true;
        }
    }
    return false;
}

size_t qs_sim_bound_evidence(struct qs_sim *sim, bool after, struct qs_port_evidence *rows, size_t cap)
{
    const struct qs_sim_bed *bed = sim->options.bed;
    size_t n = 0;
    for (size_t i = 0; i < bed->bound_count && n < cap; i++) {
        const struct qs_sim_bound *b = &bed->bound[i];
        struct qs_port_evidence *row = &rows[n];
        int64_t value;
        if (!(b->flags & QS_BIND_EVIDENCE)) {
            continue;
        }
        uint8_t status = read_bound(sim, b, &value);
        if (!after) {
            *row = (struct qs_port_evidence){.held = (b->flags & QS_BIND_HELD) != 0,
                                             .steady = (b->flags & QS_BIND_STEADY) != 0,
                                             .lo = b->lo,
                                             .hi = b->hi};
            snprintf(row->kind, sizeof row->kind, "%s", b->name);
            row->before = value;
        }
        row->status = status == QS_READING_OK && after ? row->status : status;
        row->after = value;
        n++;
    }
    return n;
}
