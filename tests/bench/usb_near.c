/* The near end of the cable in usb.py.
 *   usb_near raw|link SERIAL STEP...     raw: libusb and nothing else; link: our link of kind usb
 *     trips:BYTES:COUNT                  round trips, in ns
 *     out:MIB, in:MIB                    so much to the device, or from it, in ns
 *   usb_near watch LOG WORDS COMMAND
 *     what COMMAND begins takes until libusb tells that the device has come, and until WORDS stand in what is
 *     added to LOG, in ns (-1: it never did)
 *   usb_near now                         what time it is, in ns since 1970
 * Both ways have transfers of the same size under way, and as many. Messages are those of
 * usb_far.c; bytes go in messages of half a MiB, each of which is answered or asked for. */
#include <fcntl.h>
#include <libusb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "base/loop.h"
#include "link/link.h"
#include "link/usb/board.h"

enum { DEPTH = 4, MESSAGE_BYTES = 512 * 1024, PAUSE_US = 2000, PATIENCE_S = 120 };

struct raw {
    libusb_context *context;
    libusb_device_handle *handle;
    struct qs_usb_board board;
    struct libusb_transfer *ins[DEPTH], *outs[DEPTH];
    int busy_outs; /* a mask */
};

struct near {
    size_t came_bytes; /* of what is waited for */
    bool up;
    struct raw raw;
    struct qs_loop *loop; /* NULL: raw */
    struct qs_link *link;
};

static _Noreturn void die(const char *what, const char *why)
{
    fprintf(stderr, "usb_near: %s: %s\n", what, why);
    exit(1);
}

static int64_t time_ns(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int64_t now_ns(void)
{
    return time_ns(CLOCK_MONOTONIC);
}

/* ---- libusb alone ---- */

static void LIBUSB_CALL on_in(struct libusb_transfer *t)
{
    struct near *n = t->user_data;
    if (t->status == LIBUSB_TRANSFER_CANCELLED)
        return;
    if (t->status != LIBUSB_TRANSFER_COMPLETED || libusb_submit_transfer(t) != 0)
        die("a transfer", "failed");
    n->came_bytes += (size_t)t->actual_length;
}

static void LIBUSB_CALL on_out(struct libusb_transfer *t)
{
    struct near *n = t->user_data;
    if (t->status != LIBUSB_TRANSFER_COMPLETED)
        die("a transfer", "failed");
    for (int i = 0; i < DEPTH; i++)
        n->raw.busy_outs &= n->raw.outs[i] == t ? ~(1 << i) : ~0;
}

static struct libusb_transfer *transfer(struct near *n, uint8_t endpoint, libusb_transfer_cb_fn then)
{
    struct libusb_transfer *t = libusb_alloc_transfer(0);
    libusb_fill_bulk_transfer(t, n->raw.handle, endpoint, calloc(1, QS_USB_TRANSFER_BYTES),
                              QS_USB_TRANSFER_BYTES, then, n, 0);
    return t;
}

static void open_raw(struct near *n, const char *serial)
{
    struct raw *r = &n->raw;
    struct qs_err err = {0};
    libusb_device *device = NULL;
    if (libusb_init(&r->context) != 0 || !qs_usb_board_find(r->context, serial, &device, &r->board, &err) ||
        libusb_open(device, &r->handle) != 0 || libusb_claim_interface(r->handle, r->board.interface) != 0)
        die(serial, err.text[0] ? err.text : "cannot be opened");
    for (int i = 0; i < DEPTH; i++) {
        r->ins[i] = transfer(n, r->board.in, on_in);
        r->outs[i] = transfer(n, r->board.out, on_out);
        if (libusb_submit_transfer(r->ins[i]) != 0)
            die(serial, "cannot be read");
    }
    n->up = true;
}

static void raw_turn(struct near *n)
{
    libusb_handle_events(n->raw.context);
}

static void raw_send(struct near *n, const uint8_t *bytes, size_t count)
{
    while (count > 0) {
        size_t piece = count < QS_USB_TRANSFER_BYTES ? count : QS_USB_TRANSFER_BYTES;
        int i = 0;
        while (i < DEPTH && n->raw.busy_outs & 1 << i)
            i++;
        if (i == DEPTH) {
            raw_turn(n);
            continue;
        }
        memcpy(n->raw.outs[i]->buffer, bytes, piece);
        n->raw.outs[i]->length = (int)piece;
        n->raw.busy_outs |= 1 << i;
        if (libusb_submit_transfer(n->raw.outs[i]) != 0)
            die("a transfer", "cannot begin");
        bytes += piece;
        count -= piece;
    }
}

/* ---- our link ---- */

static void on_up(void *user)
{
    struct near *n = user;
    n->up = true;
    qs_loop_stop(n->loop);
}

static void on_bytes(const uint8_t *bytes, size_t count, void *user)
{
    struct near *n = user;
    (void)bytes;
    n->came_bytes += count;
    qs_loop_stop(n->loop);
}

static void on_down(const struct qs_err *why, void *user)
{
    (void)user;
    die("the link", why->text);
}

static void open_link(struct near *n, char *serial)
{
    struct qs_err err = {0};
    const struct qs_farm_device device = {.name = serial, .link = QS_LINK_USB, .address = serial};
    const struct qs_link_events events = {on_up, on_bytes, on_down, n};
    n->loop = qs_loop_new_real(&err);
    n->link = n->loop ? qs_link_new(n->loop, &device, &events) : NULL;
    if (!n->link || !qs_link_open(n->link, &err))
        die(serial, err.text);
    while (!n->up)
        qs_loop_run(n->loop);
}

/* ---- both ---- */

static void send_bytes(struct near *n, const uint8_t *bytes, size_t count)
{
    struct qs_err err;
    if (!n->loop)
        raw_send(n, bytes, count);
    else if (!qs_link_send(n->link, bytes, count, &err))
        die("the link", err.text);
}

static void wait_for(struct near *n, size_t bytes)
{
    while (n->came_bytes < bytes) {
        if (n->loop)
            qs_loop_run(n->loop);
        else
            raw_turn(n);
    }
    n->came_bytes = 0;
}

static void send_head(struct near *n, uint8_t what)
{
    const uint8_t head[] = {what, 0, 0, (uint8_t)(MESSAGE_BYTES >> 16), 0};
    send_bytes(n, head, sizeof head);
}

static void trips(struct near *n, size_t bytes, unsigned count)
{
    static const uint8_t message[QS_USB_TRANSFER_BYTES] = {'e'};
    printf("trips");
    for (unsigned i = 0; i <= count; i++) { /* the first one is not counted */
        int64_t before = now_ns();
        send_bytes(n, message, bytes);
        wait_for(n, bytes);
        if (i > 0)
            printf(" %lld", (long long)(now_ns() - before));
    }
    printf("\n");
}

static void flow(struct near *n, bool out, unsigned mib)
{
    static uint8_t message[MESSAGE_BYTES];
    int64_t before = now_ns();
    for (unsigned i = 0; i < mib * (1024 * 1024 / MESSAGE_BYTES); i++) {
        send_head(n, out ? 't' : 'g');
        if (out)
            send_bytes(n, message, sizeof message);
        wait_for(n, out ? 1 : sizeof message);
    }
    printf("%s %lld\n", out ? "out" : "in", (long long)(now_ns() - before));
}

static void take(struct near *n, const char *step)
{
    unsigned a, b;
    if (sscanf(step, "trips:%u:%u", &a, &b) == 2 && a > 0 && a < QS_USB_TRANSFER_BYTES)
        trips(n, a, b);
    else if (sscanf(step, "out:%u", &a) == 1 || sscanf(step, "in:%u", &a) == 1)
        flow(n, step[0] == 'o', a);
    else
        die(step, "there is no such step");
}

static void close_near(struct near *n)
{
    if (!n->loop)
        return; /* the kernel takes all back */
    qs_link_free(n->link);
    qs_loop_free(n->loop);
}

/* ---- watching ---- */

static int LIBUSB_CALL on_came(libusb_context *context, libusb_device *device, libusb_hotplug_event event,
                               void *user)
{
    struct qs_usb_board board;
    int64_t *seen = user;
    (void)context;
    (void)event;
    if (*seen < 0 && qs_usb_board_of(device, &board))
        *seen = now_ns();
    return 0;
}

/* Whether the words stand behind this place. */
static bool says(int fd, off_t from, const char *words)
{
    static char text[1 << 20];
    ssize_t n = pread(fd, text, sizeof text - 1, from);
    text[n > 0 ? n : 0] = '\0';
    return strstr(text, words) != NULL;
}

static void watch(const char *path, const char *words, const char *command)
{
    libusb_context *context;
    struct stat st;
    int64_t seen = -1, ready = -1;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st) != 0 || libusb_init(&context) != 0 ||
        libusb_hotplug_register_callback(context, LIBUSB_HOTPLUG_EVENT_DEVICE_ARRIVED, 0,
                                         LIBUSB_HOTPLUG_MATCH_ANY, LIBUSB_HOTPLUG_MATCH_ANY,
                                         LIBUSB_HOTPLUG_MATCH_ANY, on_came, &seen, NULL) != 0)
        die(path, "cannot be watched");
    int64_t before = now_ns(), end = before + PATIENCE_S * INT64_C(1000000000);
    if (system(command) != 0)
        die(command, "failed");
    while (ready < 0 && now_ns() < end) {
        struct timeval pause = {.tv_usec = PAUSE_US};
        libusb_handle_events_timeout_completed(context, &pause, NULL);
        ready = says(fd, st.st_size, words) ? now_ns() : -1;
    }
    printf("seen %lld\nready %lld\n", (long long)(seen < 0 ? -1 : seen - before),
           (long long)(ready < 0 ? -1 : ready - before));
}

int main(int argc, char **argv)
{
    static struct near n;
    if (argc == 5 && strcmp(argv[1], "watch") == 0) {
        watch(argv[2], argv[3], argv[4]);
        return 0;
    }
    if (argc == 2 && strcmp(argv[1], "now") == 0) {
        printf("%lld\n", (long long)time_ns(CLOCK_REALTIME));
        return 0;
    }
    if (argc < 4)
        die("usage", "usb_near raw|link SERIAL STEP..., or usb_near watch LOG WORDS COMMAND");
    if (strcmp(argv[1], "raw") == 0)
        open_raw(&n, argv[2]);
    else
        open_link(&n, argv[2]);
    for (int i = 3; i < argc; i++)
        take(&n, argv[i]);
    close_near(&n);
    return 0;
}
