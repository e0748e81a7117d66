#include "link/usb/board.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/text.h"
#include "config/document/scalar.h"
#include "link/usb/system.h"

#define BY_PLACE "usb:"

enum { PORTS_MAX = 7, PACKET_LEAST_BYTES = 8, PACKET_MOST_BYTES = 1024, CONFIGURATIONS_MAX = 8 };

/* ---- one device ---- */

/* Bits 11 and 12 mean something for other kinds of endpoints alone. A packet that does not divide what we
 * ask for could bring more than there is room for. */
static bool take_packet(const struct libusb_endpoint_descriptor *e, uint16_t *ret_bytes)
{
    uint16_t bytes = e->wMaxPacketSize;
    *ret_bytes = bytes;
    return bytes >= PACKET_LEAST_BYTES && bytes <= PACKET_MOST_BYTES && QS_USB_TRANSFER_BYTES % bytes == 0;
}

static bool take_endpoints(const struct libusb_interface_descriptor *i, struct qs_usb_board *ret)
{
    bool ok = i->bNumEndpoints == 2 && i->endpoint;
    uint16_t in_packet = 0;
    ret->in = ret->out = 0;
    for (int k = 0; k < 2 && ok; k++) {
        const struct libusb_endpoint_descriptor *e = &i->endpoint[k];
        bool in = (e->bEndpointAddress & LIBUSB_ENDPOINT_DIR_MASK) == LIBUSB_ENDPOINT_IN;
        ok = (e->bmAttributes & LIBUSB_TRANSFER_TYPE_MASK) == LIBUSB_TRANSFER_TYPE_BULK &&
             take_packet(e, in ? &in_packet : &ret->out_packet_bytes);
        *(in ? &ret->in : &ret->out) = e->bEndpointAddress;
    }
    return ok && ret->in && ret->out;
}

static bool take_configuration(const struct libusb_config_descriptor *c, struct qs_usb_board *ret)
{
    for (int k = 0; k < c->bNumInterfaces; k++) {
        const struct libusb_interface *i = &c->interface[k];
        const struct libusb_interface_descriptor *first = i->num_altsetting > 0 ? &i->altsetting[0] : NULL;
        if (!first || first->bInterfaceClass != QS_USB_CLASS ||
            first->bInterfaceSubClass != QS_USB_SUBCLASS || first->bInterfaceProtocol != QS_USB_PROTOCOL ||
            !take_endpoints(first, ret))
            continue;
        ret->configuration = c->bConfigurationValue;
        ret->interface = first->bInterfaceNumber;
        return true;
    }
    return false;
}

static bool take_place(libusb_device *device, struct qs_usb_board *ret)
{
    uint8_t ports[PORTS_MAX];
    int count = libusb_get_port_numbers(device, ports, PORTS_MAX);
    size_t n = 0;
    ret->bus = libusb_get_bus_number(device);
    ret->number = libusb_get_device_address(device);
    if (count <= 0 || count > PORTS_MAX)
        return false; /* the controller itself */
    n += (size_t)snprintf(ret->place, sizeof ret->place, "%u", (unsigned)ret->bus);
    for (int i = 0; i < count; i++)
        n += (size_t)snprintf(ret->place + n, sizeof ret->place - n, "%c%u", i == 0 ? '-' : '.',
                              (unsigned)ports[i]);
    return true;
}

/* It becomes a name, and part of addresses: whatever the device says, nothing else is left of it. */
static void take_text(const char *place, const char *what, char *ret, size_t room)
{
    qs_usb_text(place, what, ret, room);
    for (char *c = ret; *c; c++) {
        if (!isalnum((unsigned char)*c) && !strchr("._-", *c))
            *c = '_';
    }
}

bool qs_usb_board_of(libusb_device *device, struct qs_usb_board *ret)
{
    struct libusb_device_descriptor about;
    bool ours = false;
    memset(ret, 0, sizeof *ret);
    if (libusb_get_device_descriptor(device, &about) != 0 || !take_place(device, ret))
        return false;
    for (uint8_t k = 0; k < about.bNumConfigurations && k < CONFIGURATIONS_MAX && !ours; k++) {
        struct libusb_config_descriptor *c = NULL;
        if (libusb_get_config_descriptor(device, k, &c) != 0)
            continue;
        ours = take_configuration(c, ret);
        libusb_free_config_descriptor(c);
    }
    if (!ours)
        return false;
    take_text(ret->place, "serial", ret->serial, sizeof ret->serial);
    take_text(ret->place, "product", ret->model, sizeof ret->model);
    return true;
}

/* ---- all ---- */

const char *qs_usb_why(int code)
{
    return code == LIBUSB_ERROR_NO_DEVICE ? "it was unplugged" : libusb_strerror(code);
}

static bool get_list(libusb_context *context, libusb_device ***ret_list, size_t *ret_count,
                     struct qs_err *err)
{
    ssize_t count = libusb_get_device_list(context, ret_list);
    *ret_count = count > 0 ? (size_t)count : 0;
    return count >= 0 ||
           qs_fail(err, QS_E_RESOURCE, "cannot read the list of USB devices: %s", qs_usb_why((int)count));
}

bool qs_usb_boards(libusb_context *context, struct qs_usb_board *ret, size_t most, size_t *ret_count,
                   struct qs_err *err)
{
    libusb_device **list = NULL;
    size_t all = 0;
    *ret_count = 0;
    if (!get_list(context, &list, &all, err))
        return false;
    for (size_t i = 0; i < all && *ret_count < most; i++)
        *ret_count += qs_usb_board_of(list[i], &ret[*ret_count]) ? 1 : 0;
    libusb_free_device_list(list, 1);
    return true;
}

static bool is_at(const struct qs_usb_board *board, const char *address)
{
    size_t n = sizeof BY_PLACE - 1;
    bool by_place = strncmp(address, BY_PLACE, n) == 0;
    return strcmp(by_place ? address + n : address, by_place ? board->place : board->serial) == 0;
}

bool qs_usb_board_find(libusb_context *context, const char *address, libusb_device **ret_device,
                       struct qs_usb_board *ret, struct qs_err *err)
{
    libusb_device **list = NULL;
    struct qs_usb_board one;
    size_t all = 0, fit = 0;
    QS_BUF(places);
    *ret_device = NULL;
    if (!get_list(context, &list, &all, err))
        return false;
    for (size_t i = 0; i < all; i++) {
        if (!qs_usb_board_of(list[i], &one) || !is_at(&one, address))
            continue;
        qs_buf_fmt(&places, "%s" BY_PLACE "%s", fit > 0 ? ", " : "", one.place);
        if (fit++ == 0) {
            *ret_device = libusb_ref_device(list[i]);
            *ret = one;
        }
    }
    libusb_free_device_list(list, 1);
    if (fit == 1)
        return true;
    if (*ret_device)
        libusb_unref_device(*ret_device);
    *ret_device = NULL;
    return fit == 0 ? qs_fail(err, QS_E_LINK,
                              "no USB device `%s` with an agent is plugged in (on the device: quiesce-agent "
                              "--usb)",
                              qs_show(address).text)
                    : qs_fail(err, QS_E_LINK, "%zu USB devices have the serial `%s`: use their places, %s",
                              fit, qs_show(address).text, places.data);
}

/* "1-4.2" */
static bool is_place(const char *text)
{
    unsigned parts = 0;
    for (bool more = true; more; parts++) {
        char *end = NULL;
        unsigned long number = isdigit((unsigned char)*text) ? strtoul(text, &end, 10) : 0;
        more = number > 0 && number <= UINT8_MAX && *end == (parts == 0 ? '-' : '.');
        if (number == 0 || number > UINT8_MAX || (!more && *end != '\0'))
            return false;
        text = end + 1;
    }
    return parts >= 2 && parts <= PORTS_MAX + 1;
}

bool qs_usb_check_address(const char *address, struct qs_err *err)
{
    size_t n = sizeof BY_PLACE - 1;
    bool ok = strncmp(address, BY_PLACE, n) == 0
                  ? is_place(address + n)
                  : qs_text_is_word(address, "._-") && strlen(address) < QS_USB_TEXT_BYTES;
    return ok ||
           qs_fail(err, QS_E_CONFIG,
                   "`%s` is no USB device: write its serial, or its place on the bus, such as usb:1-4.2",
                   qs_show(address).text);
}
