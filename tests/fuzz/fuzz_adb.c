/* Any bytes as what adb's server and a device's shell send: blocks with their lists of devices, and packets.
 * However they are cut, the same comes out, and nothing is lost. */
#include <string.h>

#include "fuzz.h"
#include "link/adb/text.h"
#include "link/agents.h"

static void read_devices(const struct qs_buf *block)
{
    QS_BUF(copy);
    struct qs_adb_device device;
    qs_buf_add(&copy, block->data, block->len);
    char *at = copy.data;
    while (qs_adb_next_device(&at, &device)) {
        const char *texts[] = {device.state, device.usb, device.product, device.model, device.device};
        fuzz_require(*device.state != '\0' && (*device.serial != '\0' || *device.usb != '\0'));
        for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
            fuzz_require(strchr(texts[i], '\n') == NULL);
    }
    fuzz_require(at <= copy.data + copy.len);
}

static void read_blocks(const uint8_t *data, size_t size)
{
    QS_BUF(in);
    QS_BUF(block);
    size_t taken = 0;
    int got;
    qs_buf_add(&in, data, size);
    while ((got = qs_adb_block(&in, &block)) > 0) {
        taken += 4 + block.len;
        read_devices(&block);
    }
    fuzz_require(taken + in.len == size);
}

static size_t read_packets(const uint8_t *data, size_t size, size_t piece)
{
    QS_BUF(in);
    QS_BUF(bytes);
    enum qs_adb_stream stream;
    size_t count = 0;
    for (size_t at = 0; at < size; at += piece) {
        int got;
        qs_buf_add(&in, data + at, size - at < piece ? size - at : piece);
        while ((got = qs_adb_packet(&in, &stream, &bytes)) > 0) {
            fuzz_require(bytes.len <= QS_ADB_BLOCK_BYTES);
            count++;
        }
        if (got < 0)
            return count;
    }
    return count;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    read_blocks(data, size);
    fuzz_require(read_packets(data, size, 1) == read_packets(data, size, size + 1));
    (void)qs_agents_elf(data, size);
    return 0;
}
