/* The devices of a farm. A device is a serial and a port path (several may have one serial) behind a handle;
 * it comes and goes while the daemon runs. What the farm knows of one device stands in its item. */
#ifndef QS_FARM_INVENTORY_H
#define QS_FARM_INVENTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "farm/hub.h"
#include "farm/queue.h"

struct qs_job_run;
struct qs_device;
struct qs_farm;
struct qs_farm_job;
struct qs_inventory;

/* May be kept for as long as one likes: one of a device that has gone finds nothing, also after it has come
 * back. Zeroed: no device's. */
struct qs_inventory_handle {
    uint32_t slot, generation;
};

struct qs_inventory_item {
    struct qs_inventory_handle handle;
    char *serial, *port_path;              /* owned */
    struct qs_inventory_item *next, *prev; /* in order of arrival */
    /* the farm's */
    struct qs_farm *farm;                /* borrowed */
    const struct qs_farm_device *config; /* borrowed */
    struct qs_device *device;            /* owned */
    struct qs_queue_device queue;
    struct qs_hub_user hub;
    struct qs_farm_job *job; /* borrowed: that is on it, or NULL */
    struct qs_job_run *run;  /* owned: of that job */
    bool leaves;             /* it goes as soon as no job wants it */
};

struct qs_inventory *qs_inventory_new(void);
/* The items go, what is in them does not; NULL is allowed. */
void qs_inventory_free(struct qs_inventory *inventory);

/* Zeroed but for its names. NULL: this serial is at this port already (QS_E_CONFLICT). */
struct qs_inventory_item *qs_inventory_add(struct qs_inventory *inventory, const char *serial,
                                           const char *port_path, struct qs_err *err);
void qs_inventory_remove(struct qs_inventory *inventory, struct qs_inventory_item *item);

/* NULL: it is not here, or not any more. */
struct qs_inventory_item *qs_inventory_at(const struct qs_inventory *inventory,
                                          struct qs_inventory_handle handle);
/* port_path NULL: the first port that has this serial. */
struct qs_inventory_item *qs_inventory_find(const struct qs_inventory *inventory, const char *serial,
                                            const char *port_path);
struct qs_inventory_item *qs_inventory_first(const struct qs_inventory *inventory);
size_t qs_inventory_count(const struct qs_inventory *inventory);

#endif
