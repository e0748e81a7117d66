/* A host of USB by hand, over the kernel's usbfs: what a well-behaved one would not send, and what it would.
 *   host SERIAL STEP...
 * Steps: control:TYPE:REQUEST:VALUE:INDEX:LENGTH (hexadecimal; zeros are the data), begin:HH... (the nonce),
 * end, out:N:HH (N bytes of HH), nonce:HH... (16 bytes), in:MS. Each says what became of it on a line of its
 * own. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/usbdevice_fs.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { PATIENCE_MS = 1000, TRANSFER_BYTES = 16384 };

struct device {
    int fd;
    unsigned interface, in, out;
};

static long read_text(const char *device, const char *name, char *text, size_t cap)
{
    char path[512];
    snprintf(path, sizeof path, "/sys/bus/usb/devices/%s/%s", device, name);
    int fd = open(path, O_RDONLY);
    ssize_t n = fd >= 0 ? read(fd, text, cap - 1) : -1;
    close(fd);
    text[n > 0 ? n : 0] = '\0';
    text[strcspn(text, "\n")] = '\0';
    return n;
}

/* The interface by its class, the endpoints by their direction. */
static int find_interface(struct device *d)
{
    uint8_t bytes[1024];
    ssize_t n = read(d->fd, bytes, sizeof bytes);
    int ours = 0;
    for (ssize_t i = 0; i + 7 <= n && bytes[i] > 0; i += bytes[i]) {
        if (bytes[i + 1] == 4) {
            ours = bytes[i + 5] == 0xff && bytes[i + 6] == 0x51 && bytes[i + 7] == 1;
            d->interface = ours ? bytes[i + 2] : d->interface;
        } else if (bytes[i + 1] == 5 && ours) {
            *(bytes[i + 2] & 0x80 ? &d->in : &d->out) = bytes[i + 2];
        }
    }
    return d->in && d->out;
}

static int open_device(struct device *d, const char *serial)
{
    DIR *all = opendir("/sys/bus/usb/devices");
    for (struct dirent *e; all && (e = readdir(all));) {
        char text[128], bus[32], number[32], path[128];
        if (read_text(e->d_name, "serial", text, sizeof text) <= 0 || strcmp(text, serial) != 0) {
            continue;
        }
        read_text(e->d_name, "busnum", bus, sizeof bus);
        read_text(e->d_name, "devnum", number, sizeof number);
        snprintf(path, sizeof path, "/dev/bus/usb/%03d/%03d", atoi(bus), atoi(number));
        d->fd = open(path, O_RDWR);
        if (d->fd < 0) {
            printf("cannot open %s: %s\n", path, strerror(errno));
            return 0;
        }
        return find_interface(d) && ioctl(d->fd, USBDEVFS_CLAIMINTERFACE, &d->interface) == 0;
    }
    printf("no device %s\n", serial);
    return 0;
}

static void tell(const char *step, int got)
{
    if (got >= 0) {
        printf("%s: %d\n", step, got);
    } else {
        printf("%s: %s\n", step,
               errno == EPIPE       ? "stalled"
               : errno == ETIMEDOUT ? "timeout"
                                    : strerror(errno));
    }
}

static void control(const struct device *d, const char *step, unsigned type, unsigned request, unsigned value,
                    unsigned at, unsigned n, void *data)
{
    struct usbdevfs_ctrltransfer setup = {
        (uint8_t)type, (uint8_t)request, (uint16_t)value, (uint16_t)at, (uint16_t)n, PATIENCE_MS, data};
    tell(step, ioctl(d->fd, USBDEVFS_CONTROL, &setup));
}

static size_t from_hex(const char *text, uint8_t *bytes, size_t cap)
{
    size_t n = 0;
    for (unsigned byte; n < cap && sscanf(text + 2 * n, "%2x", &byte) == 1; n++) {
        bytes[n] = (uint8_t)byte;
    }
    return n;
}

static void transfer(const struct device *d, const char *step, unsigned endpoint, unsigned n, unsigned ms,
                     uint8_t *data)
{
    struct usbdevfs_bulktransfer bulk = {endpoint, n, ms, data};
    int got = ioctl(d->fd, USBDEVFS_BULK, &bulk);
    tell(step, got);
    for (int i = 0; (endpoint & 0x80) && i < got && i < 64; i++) {
        printf("%02x%s", data[i], i + 1 == got || i == 63 ? "\n" : "");
    }
}

static void take(const struct device *d, char *step)
{
    static uint8_t data[65536];
    unsigned a, b, c, e, f;
    char *words = strchr(step, ':');
    memset(data, 0, sizeof data);
    if (sscanf(step, "control:%x:%x:%x:%x:%x", &a, &b, &c, &e, &f) == 5) {
        control(d, step, a, b, c, e, f, data);
    } else if (strncmp(step, "begin:", 6) == 0) {
        from_hex(words + 1, data, 16);
        control(d, step, 0x41, 0x51, 1, d->interface, 16, data);
    } else if (strcmp(step, "end") == 0) {
        control(d, step, 0x41, 0x51, 2, d->interface, 0, data);
    } else if (sscanf(step, "out:%u:%x", &a, &b) == 2 && a <= TRANSFER_BYTES) {
        memset(data, (int)b, a);
        transfer(d, step, d->out, a, PATIENCE_MS, data);
    } else if (strncmp(step, "nonce:", 6) == 0) {
        transfer(d, step, d->out, (unsigned)from_hex(words + 1, data, 16), PATIENCE_MS, data);
    } else if (sscanf(step, "in:%u", &a) == 1) {
        transfer(d, step, d->in, TRANSFER_BYTES, a, data);
    } else {
        printf("%s: no such step\n", step);
    }
}

int main(int argc, char **argv)
{
    struct device d = {.fd = -1};
    if (argc < 2 || !open_device(&d, argv[1])) {
        return 1;
    }
    for (int i = 2; i < argc; i++) {
        take(&d, argv[i]);
    }
    return 0;
}
