#include "script_files.h"

#include "script.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static struct disk *of(void *ctx)
{
    return &((struct script *)ctx)->disk;
}

static struct disk_file *find(struct disk *disk, const struct qs_port_key *key)
{
    for (size_t i = 0; i < disk->count; i++) {
        if (disk->files[i].key.executable == key->executable &&
            memcmp(disk->files[i].key.sha256, key->sha256, sizeof key->sha256) == 0) {
            return &disk->files[i];
        }
    }
    return NULL;
}

static uint64_t used_bytes(const struct disk *disk)
{
    uint64_t sum = disk->taken_bytes + (disk->parted ? disk->part.n : 0);
    for (size_t i = 0; i < disk->count; i++) {
        sum += disk->files[i].n;
    }
    return sum;
}

static bool refused(struct disk *disk, struct qs_port_fault *fault)
{
    fault->code = disk->refuse;
    snprintf(fault->text, sizeof fault->text, "errno %d", disk->refuse);
    disk->refuse = 0;
    return fault->code != 0;
}

static bool op_next(void *ctx, struct qs_port_item *item)
{
    struct disk *disk = of(ctx);
    if (disk->listed == disk->count) {
        return false;
    }
    const struct disk_file *file = &disk->files[disk->listed++];
    *item = (struct qs_port_item){.key = file->key, .bytes = file->n, .used_ns = file->used_ns};
    return true;
}

static bool op_space(void *ctx, uint64_t *free_bytes, uint64_t *total_bytes)
{
    struct disk *disk = of(ctx);
    *total_bytes = disk->total_bytes;
    *free_bytes = disk->total_bytes - used_bytes(disk);
    return !disk->no_space_known;
}

static bool op_look(void *ctx, const struct qs_port_key *key, uint64_t *bytes, int64_t *stamp)
{
    const struct disk_file *file = find(of(ctx), key);
    if (file) {
        *bytes = file->n;
        *stamp = file->stamp;
    }
    return file != NULL;
}

static bool op_sum(void *ctx, const struct qs_port_key *key, uint8_t sha256[QS_SHA256_BYTES])
{
    const struct disk_file *file = find(of(ctx), key);
    of(ctx)->sums++;
    if (file) {
        qs_sha256(file->bytes, file->n, sha256);
    }
    return file != NULL;
}

static void op_used(void *ctx, const struct qs_port_key *key)
{
    find(of(ctx), key)->used_ns++;
}

static void op_remove(void *ctx, const struct qs_port_key *key)
{
    struct disk *disk = of(ctx);
    struct disk_file *file = find(disk, key);
    if (file) {
        *file = disk->files[--disk->count];
    }
}

static bool op_create(void *ctx, struct qs_port_fault *fault)
{
    struct disk *disk = of(ctx);
    assert_false(disk->parted);
    if (refused(disk, fault)) {
        return false;
    }
    disk->parted = true;
    disk->part.n = 0;
    return true;
}

static bool op_write(void *ctx, const void *bytes, size_t n, struct qs_port_fault *fault)
{
    struct disk *disk = of(ctx);
    assert_true(disk->parted);
    assert_true(used_bytes(disk) + n <= disk->total_bytes); /* the core has looked before */
    if (disk->part.n + n <= DISK_FILE_BYTES) {              /* of what is longer the length alone */
        memcpy(disk->part.bytes + disk->part.n, bytes, n);
    }
    disk->part.n += n;
    return !refused(disk, fault);
}

static bool op_keep(void *ctx, const struct qs_port_key *key, struct qs_port_fault *fault)
{
    struct disk *disk = of(ctx);
    assert_true(disk->parted);
    assert_true(disk->part.n <= DISK_FILE_BYTES);
    disk->refuse = disk->refuse_keep;
    disk->refuse_keep = 0;
    if (refused(disk, fault)) {
        return false;
    }
    op_remove(ctx, key);
    disk->part.key = *key;
    disk->part.stamp = 1;
    assert_true(disk->count < DISK_FILES);
    disk->files[disk->count++] = disk->part;
    disk->parted = false;
    return true;
}

static void op_discard(void *ctx)
{
    of(ctx)->parted = false;
}

static bool op_place(void *ctx, uint16_t dir, const char *name, const struct qs_port_key *key,
                     struct qs_port_fault *fault)
{
    struct disk *disk = of(ctx);
    assert_non_null(find(disk, key));
    if (refused(disk, fault)) {
        return false;
    }
    disk->placed++;
    snprintf(disk->last_name, sizeof disk->last_name, "%u/%s", (unsigned)dir, name);
    return true;
}

static void op_path(void *ctx, uint16_t dir, char *text, size_t cap)
{
    (void)ctx;
    snprintf(text, cap, "/cache/%u", (unsigned)dir);
}

static uint64_t op_clear(void *ctx)
{
    struct disk *disk = of(ctx);
    uint64_t freed = disk->placed;
    disk->placed = 0;
    disk->clears++;
    return freed;
}

const struct qs_port_files disk_port = {.next = op_next,
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

void disk_leave(struct disk *disk, const struct qs_port_key *key, uint8_t byte, size_t n, int64_t used_ns)
{
    struct disk_file *file = &disk->files[disk->count++];
    *file = (struct disk_file){.key = *key, .n = n, .used_ns = used_ns};
    memset(file->bytes, byte, n);
}
