#include "linux/bound.h"

#include "linux/io.h"
#include "linux/survey.h"
#include "proto/msg_control.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

static void unbind(struct qs_probe *probe)
{
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
                                .held = (binding->flags & QS_BIND_HELD) != 0};
    qs_text_copy(binding->path, b->path, sizeof b->path);
    struct qs_source *s = &probe->sources[probe->count];
    *s = (struct qs_source){.how = QS_PROBE_BOUND, .evidence = binding->flags & QS_BIND_EVIDENCE};
    qs_text_copy(binding->name, s->kind, sizeof s->kind);
    qs_io_printable(s->kind);
    s->fd = qs_survey_open(probe->sysfs, b->path, O_RDONLY);
    for (size_t i = 0; i < probe->count; i++) {
        probe->sources[i].hidden = probe->sources[i].hidden || strcmp(probe->sources[i].kind, s->kind) == 0;
    }
    probe->count++;
}

/* Its first number; what is behind it (a unit, another column) does not count, a fraction is cut. */
static bool read_number(struct qs_probe *probe, int fd, int64_t *raw)
{
    const char *p = probe->text;
    long n = fd < 0 ? -1 : qs_io_reread(fd, probe->text, sizeof probe->text);
    return n > 0 && qs_io_i64(&p, raw);
}

uint8_t qs_probe_read_bound(struct qs_probe *probe, struct qs_source *s, int64_t *value)
{
    const struct qs_bound_file *b = &probe->bound[(size_t)(s - probe->sources) - probe->own];
    int64_t raw;
    int64_t scaled;
    *value = 0;
    if (!read_number(probe, s->fd, &raw)) { /* a core that went and came back has new files */
        qs_io_close(&s->fd);
        s->fd = qs_survey_open(probe->sysfs, b->path, O_RDONLY);
        if (s->fd < 0 && (errno == ENOENT || errno == ENOTDIR)) {
            return QS_READING_MISSING;
        }
        if (!read_number(probe, s->fd, &raw)) {
            return QS_READING_UNREADABLE;
        }
    }
    if (__builtin_mul_overflow(raw, b->mul, &scaled) ||
        (!b->held && (scaled / b->div < b->lo || scaled / b->div > b->hi))) {
        return QS_READING_UNREADABLE;
    }
    *value = scaled / b->div;
    return QS_READING_OK;
}

void qs_probe_bound_row(const struct qs_probe *probe, const struct qs_source *s, struct qs_port_evidence *row)
{
    const struct qs_bound_file *b = &probe->bound[(size_t)(s - probe->sources) - probe->own];
    row->held = b->held;
    row->lo = b->lo;
    row->hi = b->hi;
}
