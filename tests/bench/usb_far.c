/* The far end of the cable in usb.py: a USB device made as the agent makes its own, with no agent behind it.
 *   usb_far raw|relay CONTROLLER SERIAL
 * raw: FunctionFS's endpoints are read and written, one transfer at a time. relay: the agent's relay stands
 * between them and us.
 * The first byte of a message says what to do. 'e': it goes back as it came. Behind 't' and 'g' stand four
 * bytes (little-endian): so many follow, and one goes back behind them; or so many go back. */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "linux/usb.h"

enum { HEAD_BYTES = 5 };

struct board {
    int in, out; /* to the host, from it */
    size_t n;    /* that have come and were not looked at */
    uint8_t bytes[QS_USB_READ_BYTES];
};

static bool put(struct board *b, size_t n)
{
    while (n > 0) {
        ssize_t done = write(b->in, b->bytes, n < sizeof b->bytes ? n : sizeof b->bytes);
        if (done <= 0)
            return false;
        n -= (size_t)done;
    }
    return true;
}

static bool get(struct board *b)
{
    ssize_t n = b->n > 0 ? (ssize_t)b->n : read(b->out, b->bytes, sizeof b->bytes);
    b->n = n > 0 ? (size_t)n : 0;
    return n > 0;
}

static bool take(struct board *b, size_t n)
{
    while (n > 0) {
        if (!get(b))
            return false;
        n -= b->n < n ? b->n : n;
        b->n = 0;
    }
    return put(b, 1);
}

/* How many bytes the message is about: those behind its first one. */
static size_t read_head(struct board *b)
{
    const uint8_t *p = b->bytes + 1;
    b->n = b->n > HEAD_BYTES ? b->n - HEAD_BYTES : 0; /* which bytes follow is all the same */
    return (size_t)p[0] | (size_t)p[1] << 8 | (size_t)p[2] << 16 | (size_t)p[3] << 24;
}

/* Until the host has gone. */
static void serve(struct board *b)
{
    bool ok = true;
    while (ok && get(b)) {
        uint8_t what = b->bytes[0];
        if (what == 'e') {
            ok = put(b, b->n);
            b->n = 0;
        } else {
            size_t n = read_head(b);
            ok = what == 't' ? take(b, n) : put(b, n);
        }
    }
}

static _Noreturn void die(const char *why)
{
    fprintf(stderr, "usb_far: %s\n", why);
    exit(1);
}

static void on_end(int number) /* the read that waits ends, and then the gadget is taken down */
{
    (void)number;
}

static void serve_raw(const struct qs_usb_options *options)
{
    static struct board b;
    struct qs_usb usb;
    const struct sigaction end = {.sa_handler = on_end};
    char why[QS_LINK_ERROR_BYTES];
    sigaction(SIGTERM, &end, NULL);
    if (!qs_usb_open(&usb, options, why))
        die(why);
    b = (struct board){.in = usb.in, .out = usb.out};
    fcntl(b.in, F_SETFL, O_RDWR); /* they wait */
    fcntl(b.out, F_SETFL, O_RDWR);
    serve(&b);
    qs_usb_close(&usb);
}

static void serve_relayed(const struct qs_usb_options *options)
{
    static struct board b;
    struct qs_link link;
    struct pollfd door = {.events = POLLIN};
    char why[QS_LINK_ERROR_BYTES];
    if (!qs_usb_split(options, &link, why))
        die(why);
    door.fd = link.listen_fd;
    while (poll(&door, 1, -1) > 0) {
        int fd = accept(link.listen_fd, NULL, NULL);
        b = (struct board){.in = fd, .out = fd};
        serve(&b);
        close(fd);
    }
}

int main(int argc, char **argv)
{
    if (argc != 4)
        die("raw|relay CONTROLLER SERIAL");
    const struct qs_usb_options options = {.controller = argv[2], .serial = argv[3]};
    if (strcmp(argv[1], "raw") == 0)
        serve_raw(&options);
    else
        serve_relayed(&options);
    return 0;
}
