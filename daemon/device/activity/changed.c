#include "device/activity/changed.h"

#include "base/text.h"
#include "device/activity/told.h"
#include "device/job/events.h"
#include "proto/names.h"
#include "store/control.h"

void qs_changed_back(struct qs_job_run *job, const struct qs_msg_restored *m, bool last, size_t *put_back,
                     size_t *left)
{
    struct qs_told told[QS_TUNE_MAX];
    struct qs_control_row rows[QS_TUNE_MAX];
    struct qs_iter it = qs_list_iter(&m->files);
    struct qs_restored r;
    size_t n = 0;
    while (n < QS_TUNE_MAX && qs_list_restored(&it, &r)) {
        const struct qs_told *t = &told[n];
        bool back = r.result.outcome == QS_TUNE_SET || r.result.outcome == QS_TUNE_SAME;
        *put_back += back;
        *left += !back;
        if (!back && !last)
            continue;
        rows[n] = qs_told_row(job, &told[n], r.path, &r.result);
        rows[n].restore = true;
        rows[n++].wanted = t->before;
        if (!back)
            qs_job_event_warning(job,
                                 "%s on %s was not put back to `%s`: %s; it says `%s`. Write it by hand, or "
                                 "restart the device",
                                 qs_show(t->path).text, job->p.device, qs_show(t->before).text,
                                 qs_tune_outcome_name(r.result.outcome), qs_show(t->said).text);
    }
    qs_told_store(job, rows, n, NULL);
}

void qs_changed_set(struct qs_job_run *job, const struct qs_pins *pins, size_t from, size_t asked,
                    const struct qs_msg_tuned *m, const uint8_t *run_uid)
{
    struct qs_told told[QS_TUNE_MAX];
    struct qs_control_row rows[QS_TUNE_MAX];
    struct qs_iter it = qs_list_iter(&m->writes);
    struct qs_tuned t;
    size_t n = 0;
    while (n < asked && n < QS_TUNE_MAX && qs_list_tuned(&it, &t)) {
        const struct qs_pin_item *item = &pins->items.at[from + n];
        rows[n] = qs_told_row(job, &told[n], qs_text_of(item->path), &t);
        rows[n++].wanted = item->value;
    }
    qs_told_store(job, rows, n, run_uid);
}

size_t qs_changed_items(const struct qs_pins *pins, size_t from, struct qs_build *list)
{
    size_t n = 0;
    for (size_t i = from; i < pins->items.count && list->count < QS_TUNE_MAX; i++) {
        const struct qs_pin_item *item = &pins->items.at[i];
        const struct qs_tune t = {.path = qs_text_of(item->path),
                                  .value = qs_text_of(item->value),
                                  .flags = (uint8_t)(item->flags & QS_TUNE_FLAGS)};
        if (list->w.len + 5 + t.path.n + t.value.n > QS_CONTROL_MAX_BYTES)
            break;
        qs_build_tune(list, &t);
        n++;
    }
    return n;
}
