#include "linux/bound.h"

#include "linux/io.h"
#include "linux/slow.h"
#include "linux/survey.h"
#include "proto/msg_control.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#define COUNT_END INT64_C(100000000000000000) /* what qs_io_i64 reads whole */

static void unbind(struct qs_probe *probe)
{
    qs_slow_stop(probe);
    while (probe->count > probe->own) {
        qs_io_close(&probe->sources[--probe->count].fd);
    }
    for (size_t i = 0; i < probe->own; i++) {
        probe->sources[i].hidden = false;
    }
}

void qs_probe_bind(struct qs_probe *probe, const struct qs_binding *binding)
{
    if (!binding) {
        unbind(probe);
        return;
    }
    size_t k = probe->count - probe->own;
    if (k >= QS_BIND_MAX) {
        return;
    }
    struct qs_bound_file *b = &probe->bound[k];
    *b = (struct qs_bound_file){.mul = binding->mul,
                                .div = binding->div,
                                .lo = binding->lo,
                                .hi = binding->hi,
                                .flags = binding->flags};
    qs_text_copy(binding->path, b->path, sizeof b->path);
    struct qs_source *s = &probe->sources[probe->count];
    *s = (struct qs_source){.how = QS_PROBE_BOUND, .evidence = binding->flags & QS_BIND_EVIDENCE};
    qs_text_copy(binding->name, s->kind, sizeof s->kind);
    qs_io_printable(s->kind);
    s->fd = b->flags & QS_BIND_COMMAND ? -1 : qs_survey_open(probe->sysfs, b->path, O_RDONLY);
    for (size_t i = 0; i < probe->count; i++) {
        probe->sources[i].hidden = probe->sources[i].hidden || strcmp(probe->sources[i].kind, s->kind) == 0;
    }
    probe->count++;
}

/* A line of a table: its first number and its last. A mark in front does not count, nor does a line that
 * begins with something else, such as a title. False: it makes no sense. */
static bool read_line(const char *p, const char *end, bool *is_row, int64_t *key, int64_t *count)
{
    p += strspn(p, " \t*");
    *is_row = isdigit((unsigned char)*p) && qs_io_i64(&p, key);
    int columns = 0;
    while (*is_row && p < end) {
        p += strspn(p, " \t:");
        bool at_end = p >= end;
        if (!at_end && (!isdigit((unsigned char)*p) || !qs_io_i64(&p, count) || *count >= COUNT_END)) {
            return false;
        }
        columns += !at_end;
    }
    return !*is_row || columns > 0;
}

/* The counts of the keys outside of lo .. hi. A table without any key inside is another one than was meant.
 */
static bool sum_table(const char *text, int64_t lo, int64_t hi, int64_t *sum)
{
    bool found = false;
    *sum = 0;
    for (const char *line = text; *line;) {
        const char *end = line + strcspn(line, "\n");
        bool is_row = false;
        int64_t key = 0;
        int64_t count = 0;
        if (!read_line(line, end, &is_row, &key, &count)) {
            return false;
        }
        bool inside = key >= lo && key <= hi;
        found = found || (is_row && inside);
        if (is_row && !inside && __builtin_add_overflow(*sum, count, sum)) {
            return false;
        }
        line = *end ? end + 1 : end;
    }
    return found;
}

bool qs_bound_bits(const char *text, int64_t mask, int64_t *bits)
{
    char *end;
    text += strspn(text, " \t");
    errno = 0;
    *bits = (int64_t)(strtoull(text, &end, 16) & (uint64_t)mask);
    return isxdigit((unsigned char)*text) && errno == 0;
}

/* A file's first number; what is behind it (a unit, another column) does not count, a fraction is cut. */
static bool read_number(struct qs_probe *probe, const struct qs_bound_file *b, int fd, int64_t *raw)
{
    const char *p = probe->text;
    long n = fd < 0 ? -1 : qs_io_reread(fd, probe->text, sizeof probe->text);
    if (n <= 0) {
        return false;
    }
    if (b->flags & QS_BIND_TABLE) { /* what was cut is no table, nor is what has a NUL */
        return n + 1 < (long)sizeof probe->text && strlen(p) == (size_t)n && sum_table(p, b->lo, b->hi, raw);
    }
    return b->flags & QS_BIND_BITS ? qs_bound_bits(p, b->mul, raw) : qs_io_i64(&p, raw);
}

bool qs_bound_scale(const struct qs_bound_file *b, int64_t raw, int64_t *value)
{
    int64_t scaled;
    if (__builtin_mul_overflow(raw, b->flags & QS_BIND_BITS ? 1 : b->mul, &scaled)) {
        return false;
    }
    *value = scaled / b->div;
    return (b->flags & (QS_BIND_HELD | QS_BIND_TABLE)) != 0 || (*value >= b->lo && *value <= b->hi);
}

uint8_t qs_probe_read_bound(struct qs_probe *probe, struct qs_source *s, int64_t *value)
{
    const struct qs_bound_file *b = &probe->bound[(size_t)(s - probe->sources) - probe->own];
    int64_t raw;
    int64_t scaled;
    *value = 0;
    if (b->flags & QS_BIND_COMMAND) { /* what it last said */
        *value = b->value;
        return b->at_ns == 0 ? QS_READING_STALE : b->status;
    }
    if (!read_number(probe, b, s->fd, &raw)) { /* a core that went and came back has new files */
        qs_io_close(&s->fd);
        s->fd = qs_survey_open(probe->sysfs, b->path, O_RDONLY);
        if (s->fd < 0 && (errno == ENOENT || errno == ENOTDIR)) {
            return QS_READING_MISSING;
        }
        if (!read_number(probe, b, s->fd, &raw)) {
            return QS_READING_UNREADABLE;
        }
    }
    if (!qs_bound_scale(b, raw, &scaled)) {
        return QS_READING_UNREADABLE;
    }
    *value = scaled;
    return QS_READING_OK;
}

void qs_probe_bound_row(const struct qs_probe *probe, const struct qs_source *s, struct qs_port_evidence *row)
{
    const struct qs_bound_file *b = &probe->bound[(size_t)(s - probe->sources) - probe->own];
    row->held = (b->flags & QS_BIND_HELD) != 0;
    row->steady = (b->flags & QS_BIND_STEADY) != 0;
    row->lo = b->lo;
    row->hi = b->hi;
}
