#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

#include "base/mem.h"
#include "link/usb/wire_impl.h"

enum { REAP_MS = 5, REAPS = 40 }; /* what was cancelled is back at once; this often it is looked for */

static void LIBUSB_CALL on_transfer(struct libusb_transfer *transfer)
{
    struct qs_usb_slot *s = transfer->user_data;
    struct qs_usb_wire *w = s->wire;
    s->busy = false;
    s->next = NULL;
    *(w->first ? &w->last->next : &w->first) = s;
    w->last = s;
}

struct qs_usb_slot *qs_usb_take_back(struct qs_usb_wire *w)
{
    struct qs_usb_slot *s = w->first;
    if (s)
        w->first = s->next;
    return s;
}

int qs_usb_submit(struct qs_usb_slot *s)
{
    int code = libusb_submit_transfer(s->transfer);
    s->busy = code == 0;
    s->wire->gone = s->wire->gone || code == LIBUSB_ERROR_NO_DEVICE;
    return code;
}

void qs_usb_make_slots(struct qs_usb_wire *w)
{
    for (size_t i = 0; i < QS_USB_SLOTS; i++) {
        struct qs_usb_slot *s = &w->slots[i];
        size_t bytes =
            i == QS_USB_CONTROL ? LIBUSB_CONTROL_SETUP_SIZE + QS_USB_NONCE_BYTES : QS_USB_TRANSFER_BYTES;
        s->wire = w;
        s->transfer = libusb_alloc_transfer(0);
        assert(s->transfer); /* as memory elsewhere */
        libusb_fill_bulk_transfer(s->transfer, w->handle, i < QS_USB_INS ? w->board.in : w->board.out,
                                  qs_malloc(bytes), (int)bytes, on_transfer, s, 0);
    }
}

int qs_usb_ask(struct qs_usb_wire *w, uint16_t what, unsigned limit_ms)
{
    struct qs_usb_slot *s = &w->slots[QS_USB_CONTROL];
    uint16_t n = what == QS_USB_BEGIN ? QS_USB_NONCE_BYTES : 0;
    libusb_fill_control_setup(s->transfer->buffer,
                              (uint8_t)LIBUSB_ENDPOINT_OUT | LIBUSB_REQUEST_TYPE_VENDOR |
                                  LIBUSB_RECIPIENT_INTERFACE,
                              QS_USB_REQUEST, what, w->board.interface, n);
    memcpy(s->transfer->buffer + LIBUSB_CONTROL_SETUP_SIZE, w->nonce, n);
    libusb_fill_control_transfer(s->transfer, w->handle, s->transfer->buffer, on_transfer, s, limit_ms);
    int code = qs_usb_submit(s);
    qs_usb_poll_limit(w->poll);
    return code;
}

static bool is_busy(const struct qs_usb_wire *w, size_t to)
{
    for (size_t i = 0; i < to; i++) {
        if (w->slots[i].busy)
            return true;
    }
    return false;
}

/* Linux has it back as soon as it is cancelled. */
void qs_usb_cancel(struct qs_usb_wire *w, size_t to)
{
    struct timeval moment = {.tv_usec = REAP_MS * 1000};
    for (size_t i = 0; i < to; i++) {
        if (w->slots[i].busy)
            (void)libusb_cancel_transfer(w->slots[i].transfer);
    }
    for (int i = 0; i < REAPS && is_busy(w, to); i++)
        (void)libusb_handle_events_timeout_completed(w->context, &moment, NULL);
}

void qs_usb_release(struct qs_usb_wire *w)
{
    if (w->where)
        *w->where = NULL;
    w->where = NULL;
    w->over = w->turning;
    if (w->over)
        return;
    if (w->poll)
        qs_usb_cancel(w, QS_USB_SLOTS);
    bool stuck = is_busy(w, QS_USB_SLOTS);
    qs_usb_poll_stop(w->poll);
    qs_timer_stop(w->timer);
    w->poll = NULL;
    w->timer = NULL;
    qs_buf_done(&w->queue);
    free(w->address);
    free(w->name);
    if (stuck)
        return; /* the kernel may still write there: better lost than written to */
    for (size_t i = 0; i < QS_USB_SLOTS && w->slots[i].transfer; i++) {
        free(w->slots[i].transfer->buffer);
        libusb_free_transfer(w->slots[i].transfer);
    }
    qs_usb_let_go(w);
    free(w);
}
