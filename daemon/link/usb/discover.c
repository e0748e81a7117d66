#include "link/usb/discover.h"

#include <libusb.h>
#include <stdlib.h>

#include "base/loop.h"
#include "base/mem.h"
#include "link/found.h"
#include "link/usb/board.h"
#include "link/usb/poll.h"
#include "link/usb/system.h"

#define SETTLED_NS INT64_C(300000000)   /* a device comes with several events, and a hub with many */
#define TOLD_NS    INT64_C(30000000000) /* the list is read so often where udev tells of changes, too */
#define UNTOLD_NS  INT64_C(2000000000)  /* and so often where it does not */

struct qs_link_discovery {
    struct qs_loop *loop;
    struct qs_link_founds founds;
    libusb_context *watch; /* hears of changes, and is asked nothing; NULL where nobody tells of any */
    struct qs_usb_poll *poll;
    struct qs_timer *next;
    bool reading, changed, ended;
    void (*rested)(void *user); /* it looks no more; or NULL */
    void *rested_user;
    struct qs_usb_board *boards; /* of the list that was read */
    size_t count;
    bool ok;
};

/* ---- the list ---- */

static void take_list(struct qs_link_discovery *d)
{
    struct qs_link_sight *sights = qs_calloc(d->count, sizeof *sights);
    for (size_t i = 0; i < d->count; i++) {
        const struct qs_usb_board *board = &d->boards[i];
        sights[i] = (struct qs_link_sight){
            .serial = board->serial,
            .place = board->place,
            .labels = {{"serial", board->serial}, {"model", board->model}, {"usb", board->place}}};
    }
    qs_link_founds_take(&d->founds, sights, d->count);
    free(sights);
}

/* On a thread: the kernel may let it wait for a device that is being reset. A context knows what was there
 * when it was made, and where no udev runs it learns of nothing else. */
static void read_list(void *user)
{
    struct qs_link_discovery *d = user;
    libusb_context *context = NULL;
    d->count = 0;
    d->ok =
        libusb_init(&context) == 0 && qs_usb_boards(context, d->boards, QS_LINK_FOUND_MAX, &d->count, NULL);
    if (context)
        libusb_exit(context);
}

static void look(void *user);

static void release(struct qs_link_discovery *d)
{
    qs_usb_poll_stop(d->poll);
    if (d->watch)
        libusb_exit(d->watch);
    qs_timer_stop(d->next);
    qs_link_founds_done(&d->founds);
    free(d->boards);
    free(d);
}

static void on_list(void *user)
{
    struct qs_link_discovery *d = user;
    d->reading = false;
    if (d->ended) {
        release(d);
        return;
    }
    if (d->rested) {
        d->rested(d->rested_user);
        return;
    }
    int64_t pause_ns = d->changed ? SETTLED_NS : d->watch && qs_usb_has_udev() ? TOLD_NS : UNTOLD_NS;
    d->changed = false;
    d->next = qs_timer_start(d->loop, pause_ns, look, d);
    if (d->ok) /* else what it knew stays */
        take_list(d);
}

static void look(void *user)
{
    struct qs_link_discovery *d = user;
    d->next = NULL;
    d->reading = true;
    qs_loop_work(d->loop, QS_LANE_QUICK, read_list, on_list, d);
}

/* ---- what is told ---- */

static int LIBUSB_CALL on_change(libusb_context *context, libusb_device *device, libusb_hotplug_event event,
                                 void *user)
{
    struct qs_link_discovery *d = user;
    (void)context;
    (void)device;
    (void)event;
    d->changed = true;
    return 0;
}

/* As long as there are changes, it waits. */
static void on_turn(void *user)
{
    struct qs_link_discovery *d = user;
    if (!d->changed || d->reading || d->rested)
        return;
    d->changed = false;
    qs_timer_stop(d->next);
    d->next = qs_timer_start(d->loop, SETTLED_NS, look, d);
}

static bool watch(struct qs_link_discovery *d)
{
    int events = LIBUSB_HOTPLUG_EVENT_DEVICE_ARRIVED | LIBUSB_HOTPLUG_EVENT_DEVICE_LEFT;
    struct qs_err why = QS_ERR_INIT;
    if (!qs_usb_has_udev() || libusb_init(&d->watch) != 0)
        return false;
    if (!libusb_has_capability(LIBUSB_CAP_HAS_HOTPLUG) ||
        libusb_hotplug_register_callback(d->watch, events, LIBUSB_HOTPLUG_NO_FLAGS, LIBUSB_HOTPLUG_MATCH_ANY,
                                         LIBUSB_HOTPLUG_MATCH_ANY, LIBUSB_HOTPLUG_MATCH_ANY, on_change, d,
                                         NULL) != 0)
        return false;
    d->poll = qs_usb_poll_start(d->loop, d->watch, on_turn, d, &why);
    return d->poll != NULL;
}

struct qs_link_discovery *qs_usb_discover(struct qs_loop *loop, const struct qs_link_finds *finds)
{
    struct qs_link_discovery *d = qs_calloc(1, sizeof *d);
    d->loop = loop;
    d->founds = (struct qs_link_founds){.kind = QS_LINK_USB, .finds = *finds};
    d->boards = qs_calloc(QS_LINK_FOUND_MAX, sizeof *d->boards);
    if (!watch(d) && d->watch) {
        libusb_exit(d->watch);
        d->watch = NULL;
    }
    d->next = qs_timer_start(loop, 0, look, d);
    return d;
}

void qs_usb_discover_rest(struct qs_link_discovery *d, void (*done)(void *user), void *user)
{
    qs_timer_stop(d->next);
    d->next = NULL;
    d->rested = done;
    d->rested_user = user;
    if (!d->reading)
        done(user);
}

void qs_usb_discover_end(struct qs_link_discovery *d)
{
    d->ended = true;
    if (!d->reading)
        release(d);
}
