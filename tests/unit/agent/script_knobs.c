#include "script.h"

#include <stdio.h>

static struct knobs *of(void *ctx)
{
    struct knobs *knobs = &((struct script *)ctx)->knobs;
    knobs->asked++;
    return knobs;
}

static void op_tune(void *ctx, const char *path, const char *value, uint8_t flags)
{
    struct knobs *knobs = of(ctx);
    snprintf(knobs->last, sizeof knobs->last, "tune %s=%s flags %u", path, value, (unsigned)flags);
}

static void op_look(void *ctx, const char *path, const char *value)
{
    struct knobs *knobs = of(ctx);
    snprintf(knobs->last, sizeof knobs->last, "look %s=%s", path, value);
}

static void op_restore(void *ctx, bool first)
{
    struct knobs *knobs = of(ctx);
    snprintf(knobs->last, sizeof knobs->last, "restore%s", first ? " first" : "");
}

static void op_lease(void *ctx, uint32_t id, int64_t ns)
{
    struct knobs *knobs = &((struct script *)ctx)->knobs;
    knobs->grant = id;
    knobs->lease_ns = ns;
    knobs->leases++;
}

const struct qs_port_control knobs_port = {
    .tune = op_tune, .look = op_look, .restore = op_restore, .lease = op_lease};

static uint8_t op_load(void *ctx, const char *cpus)
{
    struct burden *burden = &((struct script *)ctx)->burden;
    snprintf(burden->cpus, sizeof burden->cpus, "%s", cpus);
    burden->on = burden->answer == 0;
    return burden->on ? QS_LOAD_ON : burden->answer;
}

static bool op_unload(void *ctx)
{
    struct burden *burden = &((struct script *)ctx)->burden;
    burden->stops++;
    burden->on = burden->linger > 0;
    burden->linger -= burden->on ? 1 : 0;
    return !burden->on;
}

bool knobs_settled(void *ctx)
{
    return !((struct script *)ctx)->knobs.unsettled;
}

const struct qs_port_load burden_port = {.start = op_load, .stop = op_unload};
