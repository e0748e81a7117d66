#include "linux/knob.h"

#include "core/print.h"
#include "linux/io.h"
#include "linux/tool.h"

#include "proto/msg_control.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* What the text says: without the blanks around it, and of "low [middle] high" the chosen word, which is what
 * such a file is given. False: it is too long to be put back. */
static bool understand(const struct qs_hand_result *said, bool file, char ret[QS_JOURNAL_TEXT_BYTES])
{
    const char *from = said->text;
    const char *end = from + said->n;
    const char *open = memchr(from, '[', said->n);
    const char *shut = open ? memchr(open, ']', (size_t)(end - open)) : NULL;
    bool chosen = file && shut && shut > open + 1 && !memchr(open, ' ', (size_t)(shut - open)) &&
                  !memchr(shut, '[', (size_t)(end - shut)) &&
                  (open == from || isspace((unsigned char)open[-1])) &&
                  (shut + 1 == end || isspace((unsigned char)shut[1]));
    from = chosen ? open + 1 : from;
    end = chosen ? shut : end;
    while (from < end && isspace((unsigned char)*from)) {
        from++;
    }
    while (end > from && isspace((unsigned char)end[-1])) {
        end--;
    }
    size_t n = (size_t)(end - from);
    if (said->n == QS_HAND_TEXT_BYTES || n >= QS_JOURNAL_TEXT_BYTES || memchr(from, '\0', n)) {
        return false;
    }
    memcpy(ret, from, n);
    ret[n] = '\0';
    return true;
}

bool qs_knob_number(const char *text, long long *value)
{
    char *end;
    errno = 0;
    *value = strtoll(text, &end, 10);
    return end != text && *end == '\0' && errno == 0;
}

bool qs_knob_same(const char *a, const char *b)
{
    long long x;
    long long y;
    return strcmp(a, b) == 0 || (qs_knob_number(a, &x) && qs_knob_number(b, &y) && x == y);
}

bool qs_knob_freezes_us(const char *path, const char *value)
{
    static const char place[] = "fs/cgroup";
    static const char hybrid[] = "/unified/";
    char own[4096];
    const char *file = strrchr(path, '/');
    if (!file || strcmp(file, "/cgroup.freeze") != 0 || strcmp(value, "0") == 0 ||
        strncmp(path, place, sizeof place - 1) != 0 ||
        qs_io_read("/proc/self/cgroup", own, sizeof own) <= 0) {
        return false;
    }
    const char *group = path + sizeof place - 1;
    group += strncmp(group, hybrid, sizeof hybrid - 1) == 0 ? sizeof hybrid - 2 : 0;
    const char *ours = strncmp(own, "0::", 3) == 0 ? own : strstr(own, "\n0::");
    ours = ours ? strchr(ours, '/') : NULL;
    size_t n = (size_t)(file - group);
    return ours && strncmp(ours, group, n) == 0 && (ours[n] == '/' || ours[n] == '\n' || ours[n] == '\0');
}

void qs_knob_say(char text[QS_PORT_SAID_BYTES], const char *value)
{
    qs_print(text, QS_PORT_SAID_BYTES, "%.*s", QS_PORT_SAID_BYTES - 1, value);
}

static uint8_t outcome_of(const struct qs_hand_result *r, enum qs_tune_outcome failed)
{
    static const uint8_t outcomes[] = {[QS_HAND_DONE] = QS_TUNE_SET,
                                       [QS_HAND_MISSING] = QS_TUNE_MISSING,
                                       [QS_HAND_OUTSIDE] = QS_TUNE_FORBIDDEN,
                                       [QS_HAND_LATE] = QS_TUNE_TIMEOUT};
    return r->end == QS_HAND_FAILED ? (uint8_t)failed : outcomes[r->end];
}

bool qs_knob_look(struct qs_hand *hand, const char *path, char value[QS_JOURNAL_TEXT_BYTES],
                  struct qs_port_controlled *file)
{
    struct qs_hand_result result;
    qs_hand_read(hand, path, &result);
    file->outcome = outcome_of(&result, QS_TUNE_UNREADABLE);
    file->error = result.error;
    if (result.end == QS_HAND_DONE && !understand(&result, !qs_tool_is(path), value)) {
        file->outcome = QS_TUNE_UNREADABLE;
        file->error = E2BIG;
    }
    if (result.end == QS_HAND_FAILED && qs_tool_is(path)) { /* what it says instead */
        qs_knob_say(file->before, result.text);
        qs_knob_say(file->after, result.text);
    }
    return file->outcome == QS_TUNE_SET;
}

bool qs_knob_write(struct qs_hand *hand, const char *path, const char *value, struct qs_port_controlled *file,
                   int *stuck_fd)
{
    struct qs_hand_result result;
    qs_hand_write(hand, path, value, &result, stuck_fd);
    file->outcome = outcome_of(&result, QS_TUNE_REFUSED);
    file->error = result.error;
    if (qs_tool_is(path) && result.end != QS_HAND_DONE) {
        qs_knob_say(file->after, result.text);
    }
    return file->outcome == QS_TUNE_SET;
}

void qs_knob_read_back(struct qs_hand *hand, const char *path, const char *value,
                       struct qs_port_controlled *file)
{
    char now[QS_JOURNAL_TEXT_BYTES];
    if (qs_knob_look(hand, path, now, file)) {
        qs_knob_say(file->after, now);
        file->outcome = qs_knob_same(now, value) ? QS_TUNE_SET : QS_TUNE_SLIPPED;
    } else if (file->outcome != QS_TUNE_TIMEOUT) {
        file->outcome = QS_TUNE_SLIPPED;
    }
}
