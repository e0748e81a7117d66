/* A board by USB as a link, over a libusb that is made for the test. */
#include "usb_bench.h"

#include <stdlib.h>

#include "link/usb/board.h"

/* ---- what is an agent's ---- */

static void only_an_agent_is_one(void **state)
{
    (void)state;
    struct qs_usb_board found;
    fake_init();
    struct libusb_device *b = fake_board("R5 C/t", port_4_2, 2);
    b->configuration = 2;
    b->configurations = 2;
    assert_true(qs_usb_board_of(b, &found));
    assert_string_equal(found.place, "1-4.2");
    assert_string_equal(found.serial, "R5_C_t");
    assert_string_equal(found.model, "Bench_board");
    assert_int_equal(found.bus, 1);
    assert_int_equal(found.number, 5);
    assert_int_equal(found.configuration, 2);
    assert_int_equal(found.interface, 3);
    assert_int_equal(found.in, 0x81);
    assert_int_equal(found.out, 0x02);
    assert_int_equal(found.out_packet_bytes, 512);
#define IS(change, wanted)                                                                                   \
    do {                                                                                                     \
        const struct libusb_device before = *b;                                                              \
        change;                                                                                              \
        if (qs_usb_board_of(b, &found) != (wanted))                                                          \
            fail_msg("%s: %d", #change, !(wanted));                                                          \
        *b = before;                                                                                         \
    } while (0)
    IS(b->class = 0xfe, false);
    IS(b->subclass = 0x42, false);
    IS(b->protocol = 2, false);
    IS(b->altsettings = 0, false);
    IS(b->configurations = 0, false);
    IS(b->configurations = 9, false); /* nobody has so many */
    IS(b->config_code = LIBUSB_ERROR_IO, false);
    IS(b->port_count = 0, false);
    IS(b->port_count = 7, true);
    IS(b->endpoint_count = 0, false);
    IS(b->endpoint_count = 1, false);
    IS(b->endpoint_count = 3, false);
    IS(b->endpoints[0].bEndpointAddress = 0x82, false);
    IS(b->endpoints[1].bEndpointAddress = 0x01, false);
    IS(b->endpoints[0].bmAttributes = LIBUSB_TRANSFER_TYPE_INTERRUPT, false);
    static const uint16_t packets[][2] = {{0, 0},     {4, 0},      {7, 0},     {8, 1},    {24, 0},
                                          {64, 1},    {512, 1},    {1000, 0},  {1024, 1}, {2048, 0},
                                          {16384, 0}, {0xffff, 0}, {0x0a00, 0}};
    for (size_t i = 0; i < sizeof packets / sizeof *packets; i++) {
        IS(b->endpoints[0].wMaxPacketSize = packets[i][0], packets[i][1] == 1);
        IS(b->endpoints[1].wMaxPacketSize = packets[i][0], packets[i][1] == 1);
    }
    fake_done();
}

static void addresses_are_serials_and_places(void **state)
{
    (void)state;
    static const char *const good[] = {"R5CT", "a-b_c.d", "usb:1-4", "usb:12-4.2.1.1.1.1.1"};
    static const char *const bad[] = {"",
                                      "a b",
                                      "usb:",
                                      "usb:1",
                                      "usb:1-",
                                      "usb:1-0",
                                      "usb:1-4.",
                                      "usb:1.4",
                                      "usb:1-4-2",
                                      "usb:256-1",
                                      "usb:1-4 ",
                                      "usb:-1-4",
                                      "usb:+1-4",
                                      "usb:1-4.x",
                                      "usb:1-1.1.1.1.1.1.1.1",
                                      "a2345678901234567890123456789012345678901234567890123456789012345"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        assert_true(qs_usb_check_address(good[i], NULL));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct qs_err err = QS_ERR_INIT;
        if (qs_usb_check_address(bad[i], &err))
            fail_msg("`%s` is taken", bad[i]);
        assert_int_equal(err.code, QS_E_CONFIG);
        assert_non_null(strstr(err.text, "write its serial, or its place on the bus, such as usb:1-4.2"));
    }
}

/* ---- a session ---- */

static void a_session_begins_with_a_nonce(void **state)
{
    (void)state;
    struct fixture f;
    fake_init();
    struct libusb_device *b = fake_board("R5", port_4, 1);
    b->keeps_nonce = true;
    uint8_t old[16] = {1}, twice[32];
    init(&f, "R5");
    assert_true(fixture_open(&f));
    run_until(&f, &b->out_count, 1);
    static const uint8_t begin[] = {0x41, 0x51, 1, 0, 3, 0, 16, 0};
    assert_int_equal(b->setup_count, 1);
    assert_memory_equal(b->setups[0], begin, sizeof begin);
    assert_int_equal(b->outs[0], 16); /* and it is the nonce: the board looks */
    memcpy(twice, b->nonce, 16);
    memcpy(twice + 16, b->nonce, 16);
    fake_send(b, "left over", 9);
    fake_send(b, old, sizeof old);
    fake_send(b, twice, sizeof twice);
    fake_send(b, b->nonce, 15);
    fake_send(b, NULL, 0);
    turn(&f);
    assert_int_equal(f.ups, 0);
    fake_send(b, b->nonce, 16);
    fake_send(b, b->nonce, 16); /* by now these are bytes */
    fake_send(b, NULL, 0);
    fake_send(b, "hello", 5);
    run_until(&f, &f.ups, 1);
    turn(&f);
    assert_int_equal(f.got.len, 21);
    assert_memory_equal(f.got.data, b->nonce, 16);
    assert_memory_equal(f.got.data + 16, "hello", 5);
    qs_link_close(f.link);
    turn(&f);
    static const uint8_t end[] = {0x41, 0x51, 2, 0, 3, 0, 0, 0};
    assert_int_equal(b->setup_count, 2);
    assert_memory_equal(b->setups[1], end, sizeof end);
    assert_string_equal(fake.log.data, "BEGIN END release close exit");
    /* and the next one has another */
    uint8_t first[16];
    memcpy(first, b->nonce, sizeof first);
    b->keeps_nonce = false;
    b->out_count = 0;
    assert_true(fixture_open(&f));
    run_until(&f, &f.ups, 2);
    assert_memory_not_equal(first, b->nonce, sizeof first);
    done(&f);
}

static void who_only_sends_is_left(void **state)
{
    (void)state;
    struct fixture f;
    uint8_t many[4096] = {7};
    fake_init();
    struct libusb_device *b = fake_board("R5", port_4, 1);
    b->keeps_nonce = true;
    init(&f, "R5");
    assert_true(fixture_open(&f));
    run_until(&f, &b->out_count, 1);
    for (int i = 0; i < 256; i++) {
        if (b->chunk_count == FAKE_CHUNKS)
            turn(&f);
        if (b->chunk_at == b->chunk_count)
            b->chunk_at = b->chunk_count = 0;
        fake_send(b, many, sizeof many);
    }
    turn(&f);
    assert_int_equal(f.downs, 0); /* as much may be left over */
    fake_send(b, many, 1);
    run_until(&f, &f.downs, 1);
    says(&f, QS_E_PROTOCOL, "does not begin the session");
    done(&f);
}

/* ---- bytes ---- */

enum {
    IN_FOUR = 4 * 16383
}; /* bytes: no transfer that is full ends with a full packet, and needs an empty one */

static void full_packets_are_followed_by_none(void **state)
{
    (void)state;
    static const int lengths[] = {1, 511, 512, 513, 1024, 16383, 64};
    struct fixture f;
    uint8_t bytes[16384];
    fake_init();
    struct libusb_device *b = fake_board("R5", port_4, 1);
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)(i * 31 + i / 256);
    up(&f, "R5");
    QS_BUF(sent);
    for (int i = 0; i < 7; i++) {
        fixture_send(&f, bytes, (size_t)lengths[i]);
        qs_buf_add(&sent, bytes, (size_t)lengths[i]);
        run_until(&f, &b->out_count, i + 2);
        assert_int_equal(b->outs[i + 1], lengths[i] % 512 == 0 ? -lengths[i] : lengths[i]);
    }
    assert_int_equal(b->got.len, sent.len);
    assert_memory_equal(b->got.data, sent.data, sent.len);
    turn(&f);
    struct qs_link_counters c;
    qs_link_counters(f.link, &c);
    assert_true(c.has_segments && c.are_transfers);
    assert_int_equal(c.bytes_out, sent.len + 16);
    assert_int_equal(c.segments_out, 8); /* the nonce, too */
    assert_int_equal(c.data_segments_out, 8);
    assert_int_equal(c.segments_in, 1);
    fake_send(b, "hello", 5);
    fake_send(b, NULL, 0);
    turn(&f);
    qs_link_counters(f.link, &c);
    assert_int_equal(c.bytes_in, 5);
    assert_int_equal(c.segments_in, 3);
    assert_int_equal(c.data_segments_in, 2);
    assert_int_equal(c.segments_out, 8);
    done(&f);
}

/* What does not fit on the bus waits, in order, and not without limit; another board knows nothing of it. */
static void a_board_that_does_not_read_stops_itself(void **state)
{
    (void)state;
    struct fixture f, other;
    fake_init();
    struct libusb_device *b = fake_board("R5", port_4, 1), *c = fake_board("R6", port_4_2, 2);
    up(&f, "R5");
    up(&other, "R6");
    b->is_full = true;
    uint8_t *many = calloc(1, QS_LINK_QUEUE_BYTES);
    assert_non_null(many);
    for (size_t i = 0; i < QS_LINK_QUEUE_BYTES; i++)
        many[i] = (uint8_t)(i * 7 + i / 251);
    fixture_send(&f, many, IN_FOUR); /* transfers */
    assert_int_equal(b->out_count, 5);
    fixture_send(&f, many, QS_LINK_QUEUE_BYTES);
    assert_int_equal(b->out_count, 5);
    struct qs_err err = QS_ERR_INIT;
    for (int taken = 0; taken < 50; taken++) { /* room for exactly what has gone, wherever the rest lies */
        assert_false(qs_link_send(f.link, many, 1, &err));
        assert_int_equal(err.code, QS_E_AGENT);
        fake_take(b);
        turn(&f);
        assert_int_equal(b->out_count, 6 + taken);
        assert_false(qs_link_send(f.link, many, IN_FOUR / 4 + 1, &err));
        fixture_send(&f, many, IN_FOUR / 4);
    }
    assert_int_equal(b->got.len, IN_FOUR + 50 * (IN_FOUR / 4));
    assert_memory_equal(b->got.data, many, IN_FOUR);
    assert_memory_equal(b->got.data + IN_FOUR, many, 50 * (IN_FOUR / 4));
    fixture_send(&other, "hello", 5);
    fake_send(c, "there", 5);
    turn(&other);
    assert_int_equal(other.got.len, 5);
    assert_int_equal(c->got.len, 5);
    free(many);
    qs_link_free(other.link);
    other.link = NULL;
    turn(&other);
    fixture_done(&other);
    done(&f);
}

static void much_arrives_in_order(void **state)
{
    (void)state;
    struct fixture f;
    uint8_t *many = calloc(1, QS_LINK_QUEUE_BYTES);
    fake_init();
    struct libusb_device *b = fake_board("R5", port_4, 1);
    assert_non_null(many);
    for (size_t i = 0; i < QS_LINK_QUEUE_BYTES; i++)
        many[i] = (uint8_t)(i * 7 + i / 251);
    up(&f, "R5");
    fixture_send(&f, many, QS_LINK_QUEUE_BYTES);
    run_until(&f, &b->out_count, 66);
    turn(&f);
    for (int i = 1; i <= 64; i++) /* the nonce is before them */
        assert_int_equal(b->outs[i], 16383);
    assert_int_equal(b->outs[65], 64);
    assert_int_equal(b->got.len, QS_LINK_QUEUE_BYTES);
    assert_memory_equal(b->got.data, many, QS_LINK_QUEUE_BYTES);
    fixture_send(&f, many, 100); /* room again */
    free(many);
    done(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_an_agent_is_one),
        cmocka_unit_test(addresses_are_serials_and_places),
        cmocka_unit_test(a_session_begins_with_a_nonce),
        cmocka_unit_test(who_only_sends_is_left),
        cmocka_unit_test(full_packets_are_followed_by_none),
        cmocka_unit_test(a_board_that_does_not_read_stops_itself),
        cmocka_unit_test(much_arrives_in_order),
    };
    return cmocka_run_group_tests_name("usb", tests, NULL, NULL);
}
