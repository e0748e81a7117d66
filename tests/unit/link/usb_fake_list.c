/* What is on the bus, as the system and libusb's lists say it; and what is to be watched. */
#include "usb_fake_impl.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "link/usb/system.h"

bool __wrap_qs_usb_has_udev(void);
void __wrap_qs_usb_text(const char *place, const char *what, char *ret, size_t room);

/* ---- the test's side ---- */

void fake_plug(struct libusb_device *b, bool plugged)
{
    fake_enter();
    b->plugged = plugged;
    fake_leave();
}

void fake_hide_list(bool hidden)
{
    fake_enter();
    fake.has_no_list = hidden;
    fake_leave();
}

void fake_hold(bool held)
{
    if (held)
        fake_enter();
    else
        fake_leave();
}

int fake_lists(void)
{
    fake_enter();
    int count = fake.lists;
    fake_leave();
    return count;
}

int fake_contexts(void)
{
    fake_enter();
    int count = fake.contexts;
    fake_leave();
    return count;
}

/* ---- the system ---- */

bool __wrap_qs_usb_has_udev(void)
{
    return fake.has_udev;
}

void __wrap_qs_usb_text(const char *place, const char *what, char *ret, size_t room)
{
    ret[0] = '\0';
    fake_enter();
    for (size_t i = 0; i < fake.board_count; i++) {
        const struct libusb_device *b = &fake.boards[i];
        QS_BUF(at);
        qs_buf_fmt(&at, "%u", (unsigned)b->bus);
        for (int k = 0; k < b->port_count; k++)
            qs_buf_fmt(&at, "%c%u", k == 0 ? '-' : '.', (unsigned)b->ports[k]);
        const char *text = strcmp(what, "serial") == 0 ? b->serial : b->product;
        if (b->plugged && text && strcmp(at.data, place) == 0) {
            size_t n = strlen(text) < room - 1 ? strlen(text) : room - 1;
            memcpy(ret, text, n);
            ret[n] = '\0';
        }
    }
    fake_leave();
}

/* ---- the list ---- */

ssize_t libusb_get_device_list(libusb_context *c, libusb_device ***ret)
{
    fake_enter();
    fake.lists++;
    fake_asked = c;
    if (fake.has_no_list) {
        fake_leave();
        return LIBUSB_ERROR_IO;
    }
    *ret = qs_calloc(FAKE_BOARDS + 1, sizeof **ret);
    for (size_t i = 0; i < c->known_count; i++)
        (*ret)[i] = libusb_ref_device(c->known[i]);
    fake_leave();
    return (ssize_t)c->known_count;
}

void libusb_free_device_list(libusb_device **list, int unref)
{
    for (size_t i = 0; unref && list[i]; i++)
        libusb_unref_device(list[i]);
    free(list);
}

libusb_device *libusb_ref_device(libusb_device *b)
{
    fake_enter();
    b->refs++;
    fake_leave();
    return b;
}

void libusb_unref_device(libusb_device *b)
{
    fake_enter();
    b->refs--;
    assert_true(b->refs >= 0);
    fake_leave();
}

int libusb_get_device_descriptor(libusb_device *b, struct libusb_device_descriptor *ret)
{
    memset(ret, 0, sizeof *ret);
    ret->bNumConfigurations = (uint8_t)b->configurations;
    return 0;
}

struct whole_config {
    struct libusb_config_descriptor c;
    struct libusb_interface interfaces[2];
    struct libusb_interface_descriptor other, ours;
};

/* The agent is in the last configuration, and there behind a network card. */
int libusb_get_config_descriptor(libusb_device *b, uint8_t index, struct libusb_config_descriptor **ret)
{
    if (b->config_code != 0)
        return b->config_code;
    bool last = index == b->configurations - 1;
    struct whole_config *w = qs_calloc(1, sizeof *w);
    w->other = (struct libusb_interface_descriptor){.bInterfaceClass = 2};
    w->ours = (struct libusb_interface_descriptor){.bInterfaceNumber = b->interface,
                                                   .bNumEndpoints = b->endpoint_count,
                                                   .bInterfaceClass = b->class,
                                                   .bInterfaceSubClass = b->subclass,
                                                   .bInterfaceProtocol = b->protocol,
                                                   .endpoint = b->endpoints};
    w->interfaces[0] = (struct libusb_interface){.altsetting = &w->other, .num_altsetting = 1};
    w->interfaces[1] = (struct libusb_interface){.altsetting = &w->ours, .num_altsetting = b->altsettings};
    w->c.bNumInterfaces = last ? 2 : 1;
    w->c.bConfigurationValue = last ? b->configuration : 9;
    w->c.interface = w->interfaces;
    *ret = &w->c;
    return 0;
}

void libusb_free_config_descriptor(struct libusb_config_descriptor *c)
{
    free(c);
}

uint8_t libusb_get_bus_number(libusb_device *b)
{
    return b->bus;
}

uint8_t libusb_get_device_address(libusb_device *b)
{
    return b->number;
}

int libusb_get_port_numbers(libusb_device *b, uint8_t *ports, int room)
{
    if (b->port_count > room)
        return LIBUSB_ERROR_OVERFLOW;
    memcpy(ports, b->ports, (size_t)b->port_count);
    return b->port_count;
}

/* ---- what is watched ---- */

const struct libusb_pollfd **libusb_get_pollfds(libusb_context *c)
{
    struct {
        const struct libusb_pollfd *at[2];
        struct libusb_pollfd one;
    } *list = qs_calloc(1, sizeof *list);
    list->one = (struct libusb_pollfd){.fd = c->fd, .events = POLLIN};
    list->at[0] = &list->one;
    return list->at;
}

void libusb_free_pollfds(const struct libusb_pollfd **list)
{
    free((void *)list);
}

void libusb_set_pollfd_notifiers(libusb_context *c, libusb_pollfd_added_cb added,
                                 libusb_pollfd_removed_cb removed, void *user)
{
    c->added = added;
    c->removed = removed;
    c->poll_user = user;
}

int libusb_pollfds_handle_timeouts(libusb_context *c)
{
    (void)c;
    return fake.keeps_timers;
}

int libusb_get_next_timeout(libusb_context *c, struct timeval *ret)
{
    *ret = (struct timeval){.tv_sec = 5};
    for (size_t i = 0; i < PENDING; i++) {
        if (c->pending[i] && c->pending[i]->shown->timeout > 0)
            return 1;
    }
    return 0;
}
