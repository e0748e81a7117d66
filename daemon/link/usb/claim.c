#include "link/usb/wire_impl.h"

void qs_usb_let_go(struct qs_usb_wire *w)
{
    if (w->handle) {
        (void)libusb_release_interface(w->handle, w->board.interface);
        libusb_close(w->handle);
    }
    if (w->context)
        libusb_exit(w->context);
    w->handle = NULL;
    w->context = NULL;
}

static bool open_device(struct qs_usb_wire *w, libusb_device *device)
{
    int code = libusb_open(device, &w->handle);
    if (code == LIBUSB_ERROR_ACCESS)
        return qs_fail(&w->why, QS_E_DENIED,
                       "%s: this user may not open /dev/bus/usb/%03u/%03u: install the udev rule of "
                       "config/udev, and plug the device in again",
                       w->name, (unsigned)w->board.bus, (unsigned)w->board.number);
    return code == 0 || qs_fail(&w->why, QS_E_LINK, "%s: cannot open /dev/bus/usb/%03u/%03u: %s", w->name,
                                (unsigned)w->board.bus, (unsigned)w->board.number, qs_usb_why(code));
}

static bool claim(struct qs_usb_wire *w)
{
    int now = 0;
    int code = libusb_get_configuration(w->handle, &now);
    if (code == 0 && now != w->board.configuration)
        code = libusb_set_configuration(w->handle, w->board.configuration);
    if (code == 0)
        code = libusb_claim_interface(w->handle, w->board.interface);
    if (code == LIBUSB_ERROR_BUSY)
        return qs_fail(&w->why, QS_E_LINK,
                       "%s: another program has its interface, perhaps another quiesced: `fuser -v "
                       "/dev/bus/usb/%03u/%03u` shows which",
                       w->name, (unsigned)w->board.bus, (unsigned)w->board.number);
    return code == 0 || qs_fail(&w->why, QS_E_LINK, "%s: cannot claim its interface %u: %s", w->name,
                                (unsigned)w->board.interface, qs_usb_why(code));
}

void qs_usb_claim(void *user)
{
    struct qs_usb_wire *w = user;
    libusb_device *device = NULL;
    int code = libusb_init(&w->context);
    bool ok = code == 0 || qs_fail(&w->why, QS_E_RESOURCE, "libusb does not start: %s", qs_usb_why(code));
    ok = ok && qs_usb_board_find(w->context, w->address, &device, &w->board, &w->why);
    ok = ok && open_device(w, device) && claim(w);
    if (device)
        libusb_unref_device(device);
    if (!ok)
        qs_usb_let_go(w);
}
