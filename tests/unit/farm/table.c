#include "table.h"

#include <stdio.h>
#include <string.h>

const char *table_fact(const char *name, void *user)
{
    const struct device *d = user;
    return strcmp(name, "name") == 0    ? d->name
           : strcmp(name, "link") == 0  ? "sim"
           : strcmp(name, "local") == 0 ? (d->queue.local ? "true" : "false")
                                        : NULL;
}

void table_make(struct table *t, unsigned local)
{
    *t = (struct table){.queue = qs_queue_new(table_fact)};
    for (size_t d = 0; d < DEVICES; d++) {
        struct device *device = &t->devices[d];
        snprintf(device->name, sizeof device->name, "%c", (char)('A' + d));
        device->queue.owner = device;
        qs_queue_add_device(t->queue, &device->queue, (local >> d & 1) != 0);
        qs_queue_set(t->queue, &device->queue, true, false);
    }
}

void table_init(struct table *t)
{
    table_make(t, 3);
}

void table_done(struct table *t)
{
    qs_queue_free(t->queue);
}

/* `name == "A" || name == "C"` for "AC". */
static void where_of(const char *devices, char *text, size_t bytes)
{
    size_t at = (size_t)snprintf(text, bytes, "!name"); /* none */
    for (const char *c = devices; *c; c++)
        at += (size_t)snprintf(text + at, bytes - at, " || name == \"%c\"", *c);
}

void table_place(struct table *t, size_t j, const char *devices, enum qs_job_take take, uint32_t count,
                 bool begun)
{
    char where[128];
    t->jobs[j] = (struct qs_queue_job){.owner = &t->jobs[j], .take = take, .take_count = count};
    where_of(devices, where, sizeof where);
    if (!begun) {
        qs_queue_add_job(t->queue, &t->jobs[j], where);
        return;
    }
    qs_queue_add_begun(t->queue, &t->jobs[j]);
    for (const char *c = devices; *c; c++)
        qs_queue_claim(t->queue, &t->jobs[j], &t->devices[*c - 'A'].queue);
}

/* A job for the devices named by letters; begun: it has chosen them already and is on none yet. */
void table_add(struct table *t, const char *devices, enum qs_job_take take, uint32_t count, bool begun)
{
    table_place(t, t->job_count++, devices, take, count, begun);
}

const char *table_plan(struct table *t)
{
    struct qs_queue_start start;
    size_t at = 0;
    t->starts[0] = '\0';
    while (qs_queue_next(t->queue, &start)) {
        assert_true(start.device->taken);
        at += (size_t)snprintf(t->starts + at, sizeof t->starts - at, "%s%zu:%c", at > 0 ? " " : "",
                               (size_t)(start.job - t->jobs),
                               (char)('A' + ((struct device *)start.device->owner - t->devices)));
    }
    return t->starts;
}

void table_set(struct table *t, char device, bool ready, bool taken)
{
    qs_queue_set(t->queue, &t->devices[device - 'A'].queue, ready, taken);
}

enum qs_queue_wait table_why(struct table *t, size_t job)
{
    return qs_queue_why(t->queue, &t->jobs[job]);
}
