/* Pushed files of a simulated device: their names and sizes count, their content was verified and is
 * forgotten. */
#include "sim/impl.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define DISK_BYTES (UINT64_C(1) << 30)

static struct qs_port_item *find(struct qs_sim *sim, const struct qs_port_key *key)
{
    for (size_t i = 0; i < sim->file_count; i++) {
        const struct qs_port_key *k = &sim->files[i].key;
        if (k->executable == key->executable && memcmp(k->sha256, key->sha256, sizeof k->sha256) == 0) {
            return &sim->files[i];
        }
    }
    return NULL;
}

static uint64_t disk_bytes(const struct qs_sim *sim)
{
    return sim->options.disk_bytes != 0 ? sim->options.disk_bytes : DISK_BYTES;
}

static uint64_t free_bytes_of(const struct qs_sim *sim)
{
    uint64_t used = sim->coming_bytes;
    for (size_t i = 0; i < sim->file_count; i++) {
        used += sim->files[i].bytes;
    }
    return used < disk_bytes(sim) ? disk_bytes(sim) - used : 0;
}

static bool full(struct qs_port_fault *fault)
{
    fault->blame = QS_WIRE_BLAME_DEVICE;
    fault->wire_code = QS_CODE_RESOURCE;
    fault->code = ENOSPC;
    snprintf(fault->text, sizeof fault->text, "the simulated disk is full");
    return false;
}

static bool op_next(void *ctx, struct qs_port_item *item)
{
    (void)ctx;
    (void)item;
    return false; /* it is born with an empty cache */
}

static bool op_space(void *ctx, uint64_t *free_bytes, uint64_t *total_bytes)
{
    *free_bytes = free_bytes_of(ctx);
    *total_bytes = disk_bytes(ctx);
    return true;
}

static bool op_look(void *ctx, const struct qs_port_key *key, uint64_t *bytes, int64_t *stamp)
{
    const struct qs_port_item *item = find(ctx, key);
    *bytes = item ? item->bytes : 0;
    *stamp = 0;
    return item != NULL;
}

static bool op_sum(void *ctx, const struct qs_port_key *key, uint8_t sha256[QS_SHA256_BYTES])
{
    memcpy(sha256, key->sha256, QS_SHA256_BYTES);
    return find(ctx, key) != NULL;
}

static void op_used(void *ctx, const struct qs_port_key *key)
{
    struct qs_port_item *item = find(ctx, key);
    if (item) {
        item->used_ns = qs_sim_device_ns(ctx);
    }
}

static void op_remove(void *ctx, const struct qs_port_key *key)
{
    struct qs_sim *sim = ctx;
    struct qs_port_item *item = find(sim, key);
    if (item) {
        *item = sim->files[--sim->file_count];
    }
}

static bool op_create(void *ctx, struct qs_port_fault *fault)
{
    struct qs_sim *sim = ctx;
    sim->coming_bytes = 0;
    return sim->file_count < QS_SIM_FILES_MAX || full(fault);
}

static bool op_write(void *ctx, const void *bytes, size_t n, struct qs_port_fault *fault)
{
    struct qs_sim *sim = ctx;
    (void)bytes;
    if (n > free_bytes_of(sim)) {
        return full(fault);
    }
    sim->coming_bytes += n;
    return true;
}

static bool op_keep(void *ctx, const struct qs_port_key *key, struct qs_port_fault *fault)
{
    struct qs_sim *sim = ctx;
    struct qs_port_item *item = find(sim, key);
    (void)fault;
    if (!item) {
        item = &sim->files[sim->file_count++];
    }
    *item = (struct qs_port_item){.key = *key, .bytes = sim->coming_bytes, .used_ns = qs_sim_device_ns(sim)};
    sim->coming_bytes = 0;
    return true;
}

static void op_discard(void *ctx)
{
    ((struct qs_sim *)ctx)->coming_bytes = 0;
}

static bool op_place(void *ctx, uint16_t dir, const char *name, const struct qs_port_key *key,
                     struct qs_port_fault *fault)
{
    (void)dir;
    (void)name;
    (void)fault;
    return find(ctx, key) != NULL;
}

static void op_path(void *ctx, uint16_t dir, char *text, size_t cap)
{
    (void)ctx;
    snprintf(text, cap, "/sim/dirs/%04x", dir);
}

static uint64_t op_clear(void *ctx)
{
    (void)ctx;
    return 0;
}

const struct qs_port_files qs_sim_files_port = {.next = op_next,
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
