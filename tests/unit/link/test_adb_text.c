/* What passes between adb and us, as bytes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "link/adb/text.h"

static void requests_say_their_length(void **state)
{
    (void)state;
    QS_BUF(out);
    qs_adb_request(&out, "host:devices-l");
    qs_adb_request(&out, "");
    assert_string_equal(out.data, "000ehost:devices-l0000");
    uint32_t n;
    assert_true(qs_adb_length("00fF", &n));
    assert_int_equal(n, 255);
    assert_false(qs_adb_length("00g0", &n));
    assert_false(qs_adb_length("-001", &n));
    assert_false(qs_adb_length(" 1\0\0", &n));
}

static void blocks_come_in_pieces(void **state)
{
    (void)state;
    const char *text = "0005hello0000zz";
    QS_BUF(in);
    QS_BUF(block);
    for (size_t i = 0; i < 8; i++) {
        qs_buf_add(&in, text + i, 1);
        assert_int_equal(qs_adb_block(&in, &block), 0);
    }
    qs_buf_add(&in, text + 8, 5);
    assert_int_equal(qs_adb_block(&in, &block), 1);
    assert_string_equal(block.data, "hello");
    assert_int_equal(qs_adb_block(&in, &block), 1);
    assert_int_equal(block.len, 0);
    assert_int_equal(in.len, 0);
    qs_buf_str(&in, "zz00");
    assert_int_equal(qs_adb_block(&in, &block), -1);
}

/* As servers 29 and 34 print them (the first four with -l), and what is no device. */
static void lines_become_devices(void **state)
{
    (void)state;
    char text[] =
        "10.77.0.2:5555         device transport_id:1\n"
        "21131FDF6000A1         unauthorized usb:1-4.2 transport_id:2\n"
        "emulator-5554          device product:sdk_gphone64 model:sdk_gphone64 device:emu64xa "
        "transport_id:3\n"
        "lonely\n"
        "\n"
        "(no serial number)     device usb:3-1 product:box\n"
        "(no serial number)     device\n"
        "PHONE0                 no permissions (user in plugdev group; are your udev rules wrong?); see "
        "[http://developer.android.com/tools/device.html] usb:1-1 transport_id:1\n"
        "0123\toffline usb:2-1";
    const struct qs_adb_device want[] = {
        {"10.77.0.2:5555", "device", "", "", "", ""},
        {"21131FDF6000A1", "unauthorized", "1-4.2", "", "", ""},
        {"emulator-5554", "device", "", "sdk_gphone64", "sdk_gphone64", "emu64xa"},
        {"", "device", "3-1", "box", "", ""},
        {"PHONE0", "no", "1-1", "", "", ""},
        {"0123", "offline", "2-1", "", "", ""},
    };
    char *at = text;
    struct qs_adb_device got;
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        assert_true(qs_adb_next_device(&at, &got));
        assert_string_equal(got.serial, want[i].serial);
        assert_string_equal(got.state, want[i].state);
        assert_string_equal(got.usb, want[i].usb);
        assert_string_equal(got.product, want[i].product);
        assert_string_equal(got.model, want[i].model);
        assert_string_equal(got.device, want[i].device);
    }
    assert_false(qs_adb_next_device(&at, &got));
}

/* Recorded of a real adbd: `echo out; echo err >&2; exit 3`. */
static void packets_of_a_shell(void **state)
{
    (void)state;
    static const char wire[] = "\x01\x04\0\0\0out\n\x02\x04\0\0\0err\n\x03\x01\0\0\0\x03";
    static const struct {
        enum qs_adb_stream stream;
        const char *bytes;
    } want[] = {{QS_ADB_STDOUT, "out\n"}, {QS_ADB_STDERR, "err\n"}, {QS_ADB_EXIT, "\x03"}};
    QS_BUF(in);
    QS_BUF(bytes);
    enum qs_adb_stream stream = QS_ADB_STDOUT;
    size_t got = 0;
    for (size_t i = 0; i < sizeof wire - 1; i++) { /* a byte at a time */
        qs_buf_add(&in, wire + i, 1);
        int taken = qs_adb_packet(&in, &stream, &bytes);
        assert_true(taken >= 0);
        if (taken > 0) {
            assert_int_equal(stream, want[got].stream);
            assert_string_equal(bytes.data, want[got++].bytes);
        }
    }
    assert_int_equal(got, 3);
    assert_int_equal(in.len, 0);
    qs_buf_add(&in, "\x01\0\0\x01\0", 5); /* 64 KiB: more than a packet has */
    assert_int_equal(qs_adb_packet(&in, &stream, &bytes), -1);
    qs_buf_clear(&in);
    qs_buf_add(&in, "\x04\0\0\0\0", 5); /* no such stream */
    assert_int_equal(qs_adb_packet(&in, &stream, &bytes), -1);
}

static void messages_of_sync(void **state)
{
    (void)state;
    QS_BUF(out);
    qs_adb_sync(&out, "STAT", "/a", 2);
    qs_adb_sync(&out, "DONE", NULL, 0x01020304);
    assert_int_equal(out.len, 18);
    assert_memory_equal(out.data, "STAT\2\0\0\0/aDONE\4\3\2\1", 18);
    assert_int_equal(qs_adb_u32(out.data + 14), 0x01020304);
    assert_int_equal(qs_adb_u32("\xff\xff\xff\xff"), UINT32_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(requests_say_their_length), cmocka_unit_test(blocks_come_in_pieces),
        cmocka_unit_test(lines_become_devices),      cmocka_unit_test(packets_of_a_shell),
        cmocka_unit_test(messages_of_sync),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
