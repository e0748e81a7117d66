#include "report/refits.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "report/system.h"
#include "store/model.h"
#include "store/read/shown.h"

struct look {
    const char *fingerprint;
    struct qs_refits *found;
    int64_t facts_id; /* the last that were looked at */
    bool same_system; /* they are of it */
};

struct qs_refit *qs_refits_find(const struct qs_refits *refits, const char *sensor)
{
    for (size_t i = 0; i < refits->count; i++)
        if (strcmp(refits->at[i].sensor, sensor) == 0)
            return &refits->at[i];
    return NULL;
}

static struct qs_refit *of(struct qs_refits *refits, const char *sensor)
{
    struct qs_refit *r = qs_refits_find(refits, sensor);
    if (r || strlen(sensor) >= sizeof r->sensor)
        return r;
    refits->at = qs_grow(refits->at, refits->count, sizeof *refits->at);
    r = &refits->at[refits->count++];
    memset(r, 0, sizeof *r);
    snprintf(r->sensor, sizeof r->sensor, "%s", sensor);
    r->measured.says = r->fit.says = QS_COOLING_FEW;
    return r;
}

/* Whichever load came before: of several curves the slowest counts. */
static void take_model(const struct qs_model_info *m, void *user)
{
    const struct qs_model_row *row = &m->row;
    if (strcmp(row->kind, "cools") != 0 || strcmp(row->says, qs_cooling_says_name(QS_COOLING_FITS)) != 0)
        return;
    struct qs_refit *r = of(((struct look *)user)->found, row->sensor);
    if (!r || (r->measured.says == QS_COOLING_FITS && r->measured.tau >= row->tau_s))
        return;
    r->measured_wall_ns = m->found_wall_ns;
    r->measured = (struct qs_cooling){.says = QS_COOLING_FITS,
                                      .tau = row->tau_s,
                                      .end = row->end_mc,
                                      .tau_ci = {.lo = row->tau_lo_s, .hi = row->tau_hi_s, .level = .95},
                                      .end_ci = {.lo = row->end_lo_mc, .hi = row->end_hi_mc, .level = .95},
                                      .sd = row->sd_mc};
}

static void take_wait(const struct qs_cooling_wait *w, void *user)
{
    struct look *l = user;
    if (w->facts_id != l->facts_id) {
        QS_BUF(fingerprint);
        qs_system_fingerprint(w->facts_json, &fingerprint);
        l->facts_id = w->facts_id;
        l->same_system = strcmp(fingerprint.data, l->fingerprint) == 0;
    }
    struct qs_refit *r = l->same_system ? of(l->found, w->sensor) : NULL;
    if (r)
        qs_refit_add(r, w->wall_ns, w->trace);
}

bool qs_refits_read(struct qs_store_reader *reader, const char *device, const char *fingerprint,
                    struct qs_refits *ret, struct qs_err *err)
{
    struct look l = {.fingerprint = fingerprint, .found = ret};
    *ret = (struct qs_refits){NULL, 0};
    if (!qs_read_models(reader, device, fingerprint, false, take_model, &l, err) ||
        !qs_read_cooling_waits(reader, device, take_wait, &l, err)) {
        qs_refits_done(ret);
        return false;
    }
    for (size_t i = 0; i < ret->count; i++)
        qs_refit_make(&ret->at[i]);
    return true;
}

void qs_refits_done(struct qs_refits *refits)
{
    free(refits->at);
    *refits = (struct qs_refits){NULL, 0};
}
