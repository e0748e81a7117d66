/* Who hears how much of a document is done, and refuses the k-th question. */
#ifndef QS_TEST_REPORT_LISTENER_H
#define QS_TEST_REPORT_LISTENER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "stats/status.h"

struct listener {
    size_t asked, refuse_at; /* 0: never */
    double last;
    bool fell;
    size_t stages;
    char stage[64];      /* the last one */
    struct qs_buf *told; /* each stage with the share done before it, a line each; or NULL */
};

static inline bool hear(void *user, const char *stage, double done_ratio)
{
    struct listener *l = user;
    l->asked++;
    l->fell = l->fell || done_ratio < l->last || done_ratio > 1;
    l->last = done_ratio;
    if (stage && strcmp(stage, l->stage) != 0) {
        l->stages++;
        snprintf(l->stage, sizeof l->stage, "%s", stage);
        if (l->told)
            qs_buf_fmt(l->told, "%s %.5f\n", stage, done_ratio);
    }
    return l->refuse_at == 0 || l->asked < l->refuse_at;
}

#endif
