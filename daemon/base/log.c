#include "base/log.h"

#include <stdarg.h>
#include <stdlib.h>

#include "base/loop.h"
#include "base/mem.h"
#include "base/text.h"

struct qs_log {
    FILE *out; /* borrowed */
    enum qs_log_level at_most;
    struct qs_loop *loop; /* borrowed */
};

struct qs_log *qs_log_new(FILE *out, enum qs_log_level at_most, struct qs_loop *loop)
{
    struct qs_log *log = qs_malloc(sizeof *log);
    *log = (struct qs_log){.out = out, .at_most = at_most, .loop = loop};
    return log;
}

void qs_log_free(struct qs_log *log)
{
    free(log);
}

const char *qs_log_level_name(enum qs_log_level level)
{
    switch (level) {
    case QS_LOG_ERROR:
        return "error";
    case QS_LOG_WARN:
        return "warn";
    case QS_LOG_INFO:
        return "info";
    case QS_LOG_DEBUG:
        return "debug";
    }
    return "error";
}

void qs_log(struct qs_log *log, enum qs_log_level level, const char *module, const char *fmt, ...)
{
    if (!log || !log->out || level > log->at_most)
        return;
    struct qs_buf text, line;
    qs_buf_init(&text);
    qs_buf_init(&line);
    va_list ap;
    va_start(ap, fmt);
    qs_buf_vfmt(&text, fmt, ap);
    va_end(ap);
    if (log->loop) {
        char stamp[32];
        qs_text_time(qs_loop_wall_ns(log->loop), stamp);
        qs_buf_fmt(&line, "%s ", stamp);
    }
    qs_buf_fmt(&line, "%s %s: ", qs_log_level_name(level), module);
    qs_text_escape(&line, text.data, text.len);
    qs_buf_char(&line, '\n');
    /* One write for a line, so that lines of several processes do not mix. */
    fwrite(line.data, 1, line.len, log->out);
    fflush(log->out);
    qs_buf_done(&line);
    qs_buf_done(&text);
}
