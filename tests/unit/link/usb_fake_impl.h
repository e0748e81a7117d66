/* What the parts of the libusb for tests share. */
#ifndef QS_TESTS_UNIT_LINK_USB_FAKE_IMPL_H
#define QS_TESTS_UNIT_LINK_USB_FAKE_IMPL_H

#include <pthread.h>

#include "usb_fake.h"

enum { CONTEXTS = 8, PENDING = 64 };

struct transfer { /* what stands before the one that is shown */
    _Alignas(16) bool busy;
    bool done;
    struct libusb_context *context;
    struct libusb_transfer *shown;
};

struct libusb_context {
    bool used;
    int fd, handles;
    struct libusb_device *known[FAKE_BOARDS]; /* what was there when it was made */
    size_t known_count;
    struct transfer *pending[PENDING]; /* in order of submission */
    libusb_pollfd_added_cb added;
    libusb_pollfd_removed_cb removed;
    void *poll_user;
    libusb_hotplug_callback_fn hot;
    void *hot_user;
    int news; /* hotplug events that were not told */
    bool in_events;
};

struct libusb_device_handle {
    struct libusb_device *device;
    struct libusb_context *context;
    bool claimed;
};

extern _Thread_local struct libusb_context *fake_asked; /* its list was read last */

/* Lists are read on threads. */
void fake_enter(void);
void fake_leave(void);

#endif
