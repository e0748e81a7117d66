/* Any command's standard input and output as the byte stream: a local agent, or a way to one. */
#include <stdlib.h>

#include "base/mem.h"
#include "link/command.h"

static void *exec_new_own(const struct qs_farm_device *device)
{
    struct qs_link_command *c = qs_calloc(1, sizeof *c);
    qs_link_command_init(c);
    qs_link_command_add_all(c, &device->argv);
    return c;
}

static void exec_free_own(void *own)
{
    qs_link_command_done(own);
    free(own);
}

const struct qs_link_ops qs_link_exec_ops = {
    .traits = {.through_shell = true},
    .new_own = exec_new_own,
    .free_own = exec_free_own,
    .open = qs_link_command_open,
    .close = qs_link_command_close,
    .send = qs_link_stream_send,
    .stream_ended = qs_link_command_ended,
};
