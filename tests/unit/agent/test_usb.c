/* What a USB link has below its bytes, and what `--usb` refuses. The rest needs a kernel with a device
 * controller: tests/beds/usb. */
#include "linux/usb_wire.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static void is_hex(const uint8_t *bytes, size_t n, const char *hex)
{
    char text[512] = "";
    for (size_t i = 0; i < n; i++) {
        snprintf(text + 2 * i, sizeof text - 2 * i, "%02x", bytes[i]);
    }
    assert_string_equal(text, hex);
}

static void descriptors_are_these_bytes(void **state)
{
    (void)state;
    is_hex(qs_usb_descriptors, sizeof qs_usb_descriptors,
           "03000000" /* FUNCTIONFS_DESCRIPTORS_MAGIC_V2 */
           "69000000" /* 105 bytes */
           "07000000" /* full, high, super speed */
           "030000000300000005000000"
           "0904000002ff510101" /* interface 0: two endpoints, class ff, subclass 51, protocol 01, string 1 */
           "07058102400000"     /* IN, bulk, 64 bytes */
           "07050202400000"     /* OUT */
           "0904000002ff510101"
           "07058102000200" /* 512 bytes */
           "07050202000200"
           "0904000002ff510101"
           "07058102000400" /* 1024 bytes */
           "063000000000"   /* companion: no bursts */
           "07050202000400"
           "063000000000");
    is_hex(qs_usb_strings, sizeof qs_usb_strings,
           "02000000" /* FUNCTIONFS_STRINGS_MAGIC */
           "1a000000"
           "0100000001000000"   /* one string, one language */
           "0904"               /* English */
           "5175696573636500"); /* Quiesce */
}

static void no_transfer_ends_with_a_full_packet(void **state)
{
    (void)state;
    for (size_t n = 1; n <= QS_USB_WRITE_BYTES; n++) {
        size_t first = qs_usb_cut(n);
        assert_true(first % 64 != 0);
        assert_int_equal(first, n % 64 == 0 ? n - 1 : n);
        if (first < n) {
            assert_int_equal(qs_usb_cut(n - first), 1);
        }
    }
}

static void only_two_requests_are_obeyed(void **state)
{
    static const uint8_t begin[8] = {0x41, 0x51, 1, 0, 0, 0, 16, 0}, end[8] = {0x41, 0x51, 2, 0, 0, 0, 0, 0};
    (void)state;
    assert_int_equal(qs_usb_read_setup(begin), QS_USB_BEGIN);
    assert_int_equal(qs_usb_read_setup(end), QS_USB_END);
    for (size_t i = 0; i < 8; i++) {
        for (int change = 1; change < 256; change++) {
            uint8_t other[8];
            memcpy(other, begin, sizeof other);
            other[i] = (uint8_t)(other[i] ^ change);
            assert_int_equal(qs_usb_read_setup(other), QS_USB_STALL);
            memcpy(other, end, sizeof other);
            other[i] = (uint8_t)(other[i] ^ change);
            assert_int_equal(qs_usb_read_setup(other), QS_USB_STALL);
        }
    }
}

static void gadgets_are_known_by_their_names(void **state)
{
    (void)state;
    assert_string_equal(qs_usb_controller_of("quiesce-dummy_udc.0"), "dummy_udc.0");
    assert_string_equal(qs_usb_controller_of("quiesce-a-31-byte-controller-is-taken.."),
                        "a-31-byte-controller-is-taken..");
    assert_null(qs_usb_controller_of("quiesce-one-of-32-bytes-is-none-of-ours.."));
    assert_null(qs_usb_controller_of("quiesce-"));
    assert_null(qs_usb_controller_of("quiesce"));
    assert_null(qs_usb_controller_of("Quiesce-dummy_udc.0"));
    assert_null(qs_usb_controller_of("g1"));
    assert_null(qs_usb_controller_of("."));
    assert_null(qs_usb_controller_of(""));
}

static void ids_and_serials_are_checked(void **state)
{
    static const char *const ids[] = {"1d6b:0104", "ABCD:ef09", "0000:ffff"}, *const none[] = {
                                                                                  "",           "1d6b",
                                                                                  "1d6b:",      "1d6b:104",
                                                                                  "1d6b:01040", "11d6b:0104",
                                                                                  "1d6g:0104",  "1d6b-0104",
                                                                                  " 1d6b:0104", "0x1d:0104",
                                                                                  "1d6b:0104 "};
    char text[80];
    (void)state;
    for (size_t i = 0; i < sizeof ids / sizeof ids[0]; i++) {
        assert_true(qs_usb_is_id(ids[i]));
    }
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++) {
        assert_false(qs_usb_is_id(none[i]));
    }
    memset(text, '~', sizeof text);
    text[64] = '\0';
    assert_true(qs_usb_is_serial(text));
    assert_true(qs_usb_is_serial("!"));
    text[64] = '~';
    text[65] = '\0';
    assert_false(qs_usb_is_serial(text));
    assert_false(qs_usb_is_serial(""));
    assert_false(qs_usb_is_serial("a b"));
    assert_false(qs_usb_is_serial("a\n"));
    assert_false(qs_usb_is_serial("a\x7f"));
    assert_false(qs_usb_is_serial("\xc3\xa9"));
}

static void refuses(const char *options, int code, const char *said)
{
    char command[512], text[1024];
    snprintf(command, sizeof command, "%s %s 2>&1", getenv("QS_AGENT"), options);
    FILE *pipe = popen(command, "r");
    size_t n = fread(text, 1, sizeof text - 1, pipe);
    text[n] = '\0';
    int status = pclose(pipe);
    if (!strstr(text, said) || !WIFEXITED(status) || WEXITSTATUS(status) != code) {
        fail_msg("%s: %d, \"%s\" does not say \"%s\"", options, status, text, said);
    }
}

static void its_options_are_checked(void **state)
{
    (void)state;
    refuses("--usb --stdio", 2, "choose one of --stdio, --serial PATH, --listen ADDRESS and --usb");
    refuses("--usb=x --listen unix:x", 2, "choose one of");
    refuses("--usb --key-file x", 2, "there is no key on a --usb link, remove '--key-file'");
    refuses("--stdio --usb-id 1d6b:0104", 2, "only --usb has '--usb-id'");
    refuses("--stdio --serial-number 1", 2, "only --usb has '--serial-number'");
    refuses("--usb --usb-id 1d6b", 2, "the ids of a USB device are written as 1d6b:0104, not as '1d6b'");
    refuses("--usb x --serial-number 'a b'", 2,
            "a serial number has 1 to 64 printable characters and no blanks, not 'a b'");
    refuses("--usb --serial-number", 2, "a value is missing after '--serial-number'");
}

static void without_a_controller_it_says_so(void **state)
{
    (void)state;
    if (access("/sys/class/udc", F_OK) == 0) {
        puts("# why: this machine has USB device controllers");
        skip();
    }
    refuses("--usb", 3, "this kernel has no USB device controller (nothing is in /sys/class/udc)");
    refuses("--usb x", 3, "this kernel has no USB device controller");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(descriptors_are_these_bytes),
        cmocka_unit_test(no_transfer_ends_with_a_full_packet),
        cmocka_unit_test(only_two_requests_are_obeyed),
        cmocka_unit_test(gadgets_are_known_by_their_names),
        cmocka_unit_test(ids_and_serials_are_checked),
        cmocka_unit_test(its_options_are_checked),
        cmocka_unit_test(without_a_controller_it_says_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
