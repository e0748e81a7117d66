#include "device/activity/warm.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "device/activity/lock.h"

#define BLIND_NS INT64_C(1000000000)
enum { NAME_BYTES = 64, SLACK_PARTS = 50 };

static void put_name(const struct qs_board_domain *d, char name[NAME_BYTES])
{
    snprintf(name, NAME_BYTES, "freq:%.50s_khz", d->name);
}

void qs_warm_make(struct qs_warm *warm, const struct qs_pins *pins)
{
    qs_warm_done(warm);
    for (size_t i = 0; i < pins->choices.count; i++) {
        const struct qs_pin_choice *c = &pins->choices.at[i];
        char name[NAME_BYTES];
        if (!c->warm)
            continue;
        put_name(c->domain, name);
        bool blind = c->domain->current_khz == 0;
        size_t slack = c->domain->range ? c->khz / SLACK_PARTS : 0;
        warm->lines = qs_grow(warm->lines, warm->count, sizeof *warm->lines);
        warm->lines[warm->count++] = (struct qs_job_expectation){.sensor = qs_strdup(name),
                                                                 .has_lo = true,
                                                                 .lo = (int64_t)(c->khz - slack),
                                                                 .unreadable_ok = blind,
                                                                 .dwell_ns = blind ? BLIND_NS : 0,
                                                                 .timeout_ns = QS_JOB_HOLD_NS,
                                                                 .on_timeout = QS_ON_TIMEOUT_TAINT,
                                                                 .backoff = true};
    }
}

void qs_warm_done(struct qs_warm *warm)
{
    for (size_t i = 0; i < warm->count; i++)
        free(warm->lines[i].sensor);
    free(warm->lines);
    *warm = (struct qs_warm){NULL, 0};
}

bool qs_warm_bind(struct qs_build *list, const struct qs_board_domain *d)
{
    char name[NAME_BYTES];
    put_name(d, name);
    const struct qs_binding b = {.name = qs_text_of(name),
                                 .path = qs_text_of(d->current_file),
                                 .mul = d->unit == QS_DOMAIN_MHZ ? 1000 : 1,
                                 .div = d->unit == QS_DOMAIN_HZ ? 1000 : 1,
                                 .lo = 0,
                                 .hi = INT64_MAX,
                                 .flags = QS_BIND_EVIDENCE};
    return d->current_khz == 0 || qs_activity_lock_add(list, &b);
}
