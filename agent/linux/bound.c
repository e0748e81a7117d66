#include "linux/bound.h"

#include "linux/counter.h"
#include "linux/io.h"
#include "linux/slow.h"
#include "linux/survey.h"
#include "proto/msg_control.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define COUNT_END INT64_C(100000000000000000) /* what qs_io_i64 reads whole */

static void unbind(struct qs_probe *probe)
{
    qs_slow_stop(probe);
    while (probe->count > probe->own) {
        qs_io_close(&probe->sources[--probe->count].fd);
        qs_counter_close(&probe->bound[probe->count - probe->own].counter);
    }
    for (size_t i = 0; i < probe->own; i++) {
        probe->sources[i].hidden = false;
    }
}

static bool is_counter(const struct qs_bound_file *b)
{
    return !(b->flags & QS_BIND_COMMAND) && qs_counter_is(b->path);
}

static void split_words(struct qs_bound_file *b)
{
    char *words = b->flags & QS_BIND_COMMAND ? NULL : strchr(b->path, '\n');
    if (words) {
        *words = '\0';
        b->words = words + 1;
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
                                .counter = {.all_fd = -1, .own_fd = -1},
                                .flags = binding->flags};
    qs_text_copy(binding->path, b->path, sizeof b->path);
    split_words(b);
    struct qs_source *s = &probe->sources[probe->count];
    *s = (struct qs_source){.how = QS_PROBE_BOUND, .evidence = binding->flags & QS_BIND_EVIDENCE};
    qs_text_copy(binding->name, s->kind, sizeof s->kind);
    qs_io_printable(s->kind);
    bool counts = is_counter(b) && (qs_counter_open(&b->counter, b->path), true);
    s->fd = counts || (b->flags & QS_BIND_COMMAND) ? -1 : qs_survey_open(probe->sysfs, b->path, O_RDONLY);
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

/* Which of the words a file's first line is, from 1; 0: none. */
static int64_t find_word(const char *words, const char *text)
{
    const size_t n = strcspn(text, "\n");
    int64_t i = 1;
    for (const char *word = words;; i++) {
        size_t len = strcspn(word, "\n");
        if (len == n && memcmp(word, text, n) == 0) {
            return i;
        }
        if (word[len] == '\0') {
            return 0;
        }
        word += len + 1;
    }
}

/* What a fraction is worth in 1 / mul; p: at its point, or at something else. */
static int64_t read_fraction(const char *p, int64_t mul)
{
    int64_t digits = 0;
    int64_t of = 1;
    for (p += *p == '.' ? 1 : (ptrdiff_t)strlen(p); isdigit((unsigned char)*p) && of < QS_BIND_SCALE_MAX;
         p++) {
        digits = digits * 10 + (*p - '0');
        of *= 10;
    }
    return digits * mul / of;
}

/* A file's first number; what is behind it (a unit, another column) does not count. */
static bool read_number(struct qs_probe *probe, const struct qs_bound_file *b, int fd, int64_t *raw,
                        int64_t *part)
{
    const char *p = probe->text;
    long n = fd < 0 ? -1 : qs_io_reread(fd, probe->text, sizeof probe->text);
    *part = 0;
    if (n <= 0) {
        return false;
    }
    if (b->words) {
        *raw = find_word(b->words, p);
        return true;
    }
    if (b->flags & QS_BIND_TABLE) { /* what was cut is no table, nor is what has a NUL */
        return n + 1 < (long)sizeof probe->text && strlen(p) == (size_t)n && sum_table(p, b->lo, b->hi, raw);
    }
    if (b->flags & QS_BIND_BITS) {
        return qs_bound_bits(p, b->mul, raw);
    }
    bool ok = qs_io_i64(&p, raw);
    *part = ok ? read_fraction(p, b->mul) : 0;
    *part = probe->text[strspn(probe->text, " \t")] == '-' ? -*part : *part;
    return ok;
}

bool qs_bound_scale(const struct qs_bound_file *b, int64_t raw, int64_t part, int64_t *value)
{
    int64_t scaled;
    if (__builtin_mul_overflow(raw, b->flags & QS_BIND_BITS ? 1 : b->mul, &scaled) ||
        __builtin_add_overflow(scaled, part, &scaled)) {
        return false;
    }
    *value = scaled / b->div;
    return (b->flags & (QS_BIND_HELD | QS_BIND_TABLE)) != 0 || (*value >= b->lo && *value <= b->hi);
}

static uint8_t read_counter(struct qs_bound_file *b, int64_t *value)
{
    const int error = b->counter.error;
    bool whole = false;
    int64_t count = 0;
    int64_t scaled = 0;
    bool ok = error == 0 && qs_counter_read(&b->counter, &count, &whole) && whole &&
              qs_bound_scale(b, count, 0, &scaled);
    *value = ok ? scaled : 0;
    return ok ? QS_READING_OK
           : error == ENOENT || error == ENODEV || error == ENOSYS || error == EOPNOTSUPP
               ? QS_READING_MISSING
               : QS_READING_UNREADABLE;
}

bool qs_probe_is_counter(const struct qs_probe *probe, const struct qs_source *s)
{
    return is_counter(&probe->bound[(size_t)(s - probe->sources) - probe->own]);
}

uint8_t qs_probe_read_bound(struct qs_probe *probe, struct qs_source *s, int64_t *value)
{
    struct qs_bound_file *b = &probe->bound[(size_t)(s - probe->sources) - probe->own];
    int64_t raw;
    int64_t part;
    int64_t scaled;
    *value = 0;
    if (is_counter(b)) {
        return read_counter(b, value);
    }
    if (b->flags & QS_BIND_COMMAND) { /* what it last said */
        *value = b->value;
        return b->at_ns == 0 ? QS_READING_STALE : b->status;
    }
    if (!read_number(probe, b, s->fd, &raw, &part)) { /* a core that went and came back has new files */
        qs_io_close(&s->fd);
        s->fd = qs_survey_open(probe->sysfs, b->path, O_RDONLY);
        if (s->fd < 0 && (errno == ENOENT || errno == ENOTDIR)) {
            return QS_READING_MISSING;
        }
        if (!read_number(probe, b, s->fd, &raw, &part)) {
            return QS_READING_UNREADABLE;
        }
    }
    if (!qs_bound_scale(b, raw, part, &scaled)) {
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
