/* The port's operations on what is changed for a while: each hands on to control.h. */
#include "linux/port.h"

static struct qs_control *of(void *ctx)
{
    return &((struct qs_linux *)ctx)->control;
}

static void op_tune(void *ctx, const char *path, const char *value, uint8_t flags)
{
    qs_control_tune(of(ctx), path, value, flags);
}

static void op_look(void *ctx, const char *path, const char *value)
{
    qs_control_look(of(ctx), path, value);
}

static void op_restore(void *ctx, bool first)
{
    qs_control_restore(of(ctx), first);
}

static void op_lease(void *ctx, uint32_t id, int64_t ns)
{
    qs_control_lease(of(ctx), id, ns);
}

const struct qs_port_control qs_linux_control_port = {
    .tools = true, .tune = op_tune, .look = op_look, .restore = op_restore, .lease = op_lease};
