/* The port's operations on files: each hands on to files.h. */
#include "linux/port.h"

static struct qs_linux_files *of(void *ctx)
{
    return &((struct qs_linux *)ctx)->files;
}

static bool op_next(void *ctx, struct qs_port_item *item)
{
    return qs_files_next(of(ctx), item);
}

static bool op_space(void *ctx, uint64_t *free_bytes, uint64_t *total_bytes)
{
    return qs_files_space(of(ctx), free_bytes, total_bytes);
}

static bool op_look(void *ctx, const struct qs_port_key *key, uint64_t *bytes, int64_t *stamp)
{
    return qs_files_look(of(ctx), key, bytes, stamp);
}

static bool op_sum(void *ctx, const struct qs_port_key *key, uint8_t *sha256)
{
    return qs_files_sum(of(ctx), key, sha256);
}

static void op_used(void *ctx, const struct qs_port_key *key)
{
    qs_files_used(of(ctx), key);
}

static void op_remove(void *ctx, const struct qs_port_key *key)
{
    qs_files_remove(of(ctx), key);
}

static bool op_create(void *ctx, struct qs_port_fault *fault)
{
    return qs_files_create(of(ctx), fault);
}

static bool op_write(void *ctx, const void *bytes, size_t n, struct qs_port_fault *fault)
{
    return qs_files_write(of(ctx), bytes, n, fault);
}

static bool op_keep(void *ctx, const struct qs_port_key *key, struct qs_port_fault *fault)
{
    return qs_files_keep(of(ctx), key, fault);
}

static void op_discard(void *ctx)
{
    qs_files_discard(of(ctx));
}

static bool op_place(void *ctx, uint16_t dir, const char *name, const struct qs_port_key *key,
                     struct qs_port_fault *fault)
{
    return qs_files_place(of(ctx), dir, name, key, fault);
}

static void op_path(void *ctx, uint16_t dir, char *text, size_t cap)
{
    qs_files_path(of(ctx), dir, text, cap);
}

static uint64_t op_clear(void *ctx)
{
    return qs_files_clear(of(ctx));
}

const struct qs_port_files qs_linux_files_port = {.next = op_next,
                                                  .space = op_space,
                                                  .look = op_look,
                                                  .sum = op_sum,
                                                  .used = op_used,
                                                  .remove = op_remove,
                                                  .create = op_create,
                                                  .write = op_write,
                                                  .keep = op_keep,
                                                  .discard = op_discard,
                                                  .place = op_place,
                                                  .path = op_path,
                                                  .clear = op_clear};
