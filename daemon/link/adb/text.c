#include "link/adb/text.h"

#include <ctype.h>
#include <string.h>

void qs_adb_request(struct qs_buf *out, const char *text)
{
    qs_buf_fmt(out, "%04zx%s", strlen(text) & 0xffff, text);
}

bool qs_adb_length(const char digits[4], uint32_t *ret)
{
    *ret = 0;
    for (int i = 0; i < 4; i++) {
        int c = tolower((unsigned char)digits[i]);
        if (!isxdigit(c))
            return false;
        *ret = *ret * 16 + (uint32_t)(isdigit(c) ? c - '0' : c - 'a' + 10);
    }
    return true;
}

int qs_adb_block(struct qs_buf *in, struct qs_buf *block)
{
    uint32_t n;
    qs_buf_clear(block);
    if (in->len < 4)
        return 0;
    if (!qs_adb_length(in->data, &n))
        return -1;
    if (in->len - 4 < n)
        return 0;
    qs_buf_add(block, in->data + 4, n);
    qs_buf_drop_front(in, 4 + (size_t)n);
    return 1;
}

/* The next word of a line, cut off there; "" at its end. */
static char *word(char **line)
{
    char *begin = *line + strspn(*line, " \t");
    char *end = begin + strcspn(begin, " \t");
    *line = *end ? end + 1 : end;
    *end = '\0';
    return begin;
}

static void read_attribute(struct qs_adb_device *device, const char *text)
{
    const struct {
        const char *key, **value;
    } known[] = {{"usb:", &device->usb},
                 {"product:", &device->product},
                 {"model:", &device->model},
                 {"device:", &device->device}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        size_t n = strlen(known[i].key);
        if (strncmp(text, known[i].key, n) == 0)
            *known[i].value = text + n;
    }
}

/* The first word of a line, but for what adb has in the place of a serial number that is none. */
static const char *read_serial(char **line)
{
    static const char none[] = "(no serial number)";
    if (strncmp(*line, none, sizeof none - 1) != 0)
        return word(line);
    *line += sizeof none - 1;
    return "";
}

bool qs_adb_next_device(char **text, struct qs_adb_device *ret)
{
    while (**text) {
        char *line = *text, *end = line + strcspn(line, "\n");
        *text = *end ? end + 1 : end;
        *end = '\0';
        *ret = (struct qs_adb_device){.usb = "", .product = "", .model = "", .device = ""};
        ret->serial = read_serial(&line);
        ret->state = word(&line);
        if (*ret->state == '\0')
            continue;
        for (const char *attribute = word(&line); *attribute; attribute = word(&line))
            read_attribute(ret, attribute);
        if (*ret->serial || *ret->usb)
            return true;
    }
    return false;
}

uint32_t qs_adb_u32(const char bytes[4])
{
    const unsigned char *b = (const unsigned char *)bytes;
    return b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

int qs_adb_packet(struct qs_buf *in, enum qs_adb_stream *stream, struct qs_buf *bytes)
{
    qs_buf_clear(bytes);
    if (in->len < 5)
        return 0;
    uint32_t n = qs_adb_u32(in->data + 1);
    if (n > QS_ADB_BLOCK_BYTES || in->data[0] < QS_ADB_STDOUT || in->data[0] > QS_ADB_EXIT)
        return -1;
    if (in->len - 5 < n)
        return 0;
    *stream = (enum qs_adb_stream)in->data[0];
    qs_buf_add(bytes, in->data + 5, n);
    qs_buf_drop_front(in, 5 + (size_t)n);
    return 1;
}

void qs_adb_sync(struct qs_buf *out, const char id[4], const void *bytes, uint32_t n)
{
    const uint8_t length[4] = {(uint8_t)n, (uint8_t)(n >> 8), (uint8_t)(n >> 16), (uint8_t)(n >> 24)};
    qs_buf_add(out, id, 4);
    qs_buf_add(out, length, sizeof length);
    if (bytes)
        qs_buf_add(out, bytes, n);
}
