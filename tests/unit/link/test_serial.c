/* A serial line as a link: a pseudo-terminal whose other end is ours. */
#include "link_fixture.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct line {
    int other; /* the board's end */
    char address[128];
    struct qs_farm_device device;
};

static void line_init(struct line *l, const char *speed)
{
    l->other = posix_openpt(O_RDWR | O_NOCTTY);
    assert_true(l->other >= 0 && grantpt(l->other) == 0 && unlockpt(l->other) == 0);
    snprintf(l->address, sizeof l->address, "%s%s", ptsname(l->other), speed);
    l->device =
        (struct qs_farm_device){.name = (char *)"board", .link = QS_LINK_SERIAL, .address = l->address};
}

/* Each byte, also those by which a terminal would edit, end or stop. */
static void bytes_pass_as_they_are(void **state)
{
    (void)state;
    struct line l;
    struct fixture f;
    uint8_t all[256], got[sizeof all];
    for (size_t i = 0; i < sizeof all; i++)
        all[i] = (uint8_t)i;
    line_init(&l, ",921600");
    fixture_init(&f, &l.device);
    assert_true(fixture_open(&f));
    qs_loop_run(f.loop);
    assert_int_equal(f.ups, 1);
    f.want = sizeof all;
    assert_int_equal(write(l.other, all, sizeof all), sizeof all);
    qs_loop_run(f.loop);
    assert_int_equal(f.got.len, sizeof all);
    assert_memory_equal(f.got.data, all, sizeof all);
    /* what woke the line comes first */
    for (uint8_t last[2] = ""; last[0] != 'e' || last[1] != '\n';) {
        last[0] = last[1];
        assert_int_equal(read(l.other, &last[1], 1), 1);
    }
    fixture_send(&f, all, sizeof all);
    for (size_t n = 0; n < sizeof got;) {
        ssize_t more = read(l.other, got + n, sizeof got - n);
        assert_true(more > 0);
        n += (size_t)more;
    }
    assert_memory_equal(got, all, sizeof all);
    f.at_down = DO_STOP_LOOP;
    close(l.other); /* unplugged */
    qs_loop_run(f.loop);
    assert_int_equal(f.downs, 1);
    fixture_done(&f);
}

#define SPEEDS(found)                                                                                        \
    "`" found "` is not a speed of serial lines: write one of 9600, 19200, 38400, 57600, 115200, 230400, "   \
    "460800, 921600, 1000000, 1500000, 2000000, 3000000"

/* Said before it is opened, and when it is. */
static void refused(const char *address, enum qs_errc code, const char *part)
{
    struct qs_farm_device device = {
        .name = (char *)"board", .link = QS_LINK_SERIAL, .address = (char *)address};
    struct qs_err err = QS_ERR_INIT;
    struct fixture f;
    const char *key = NULL;
    assert_int_equal(qs_link_check_address(&device, &key, &err), code != QS_E_CONFIG);
    assert_int_equal(err.code, code == QS_E_CONFIG ? code : QS_E_NONE);
    fixture_init(&f, &device);
    assert_false(qs_link_open(f.link, &err));
    assert_int_equal(err.code, code);
    if (!strstr(err.text, part))
        fail_msg("\"%s\" does not say \"%s\"", err.text, part);
    fixture_done(&f);
}

static void what_is_no_line_is_refused(void **state)
{
    (void)state;
    struct line l;
    char long_path[200];
    memset(long_path, 'x', sizeof long_path - 1);
    long_path[0] = '/';
    long_path[sizeof long_path - 1] = '\0';
    refused("/dev/null", QS_E_LINK, "/dev/null cannot be used as a serial line");
    refused("/nowhere/tty,9600", QS_E_LINK, "cannot open the serial line /nowhere/tty: No such file");
    refused("/dev/null,1234", QS_E_CONFIG, SPEEDS("1234"));
    refused("/dev/null,115200x", QS_E_CONFIG, SPEEDS("115200x"));
    refused("/dev/null,", QS_E_CONFIG, SPEEDS(""));
    refused("ttyUSB0", QS_E_CONFIG, "`ttyUSB0` is not the whole path of a serial line");
    refused(long_path, QS_E_CONFIG, "at most 107 bytes");
    line_init(&l, "");
    struct fixture f;
    fixture_init(&f, &l.device);
    assert_true(fixture_open(&f)); /* 115200 */
    if (geteuid() != 0)
        refused(l.address, QS_E_LINK, "another program has it"); /* root may */
    fixture_done(&f);
    close(l.other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_pass_as_they_are),
        cmocka_unit_test(what_is_no_line_is_refused),
    };
    return cmocka_run_group_tests_name("link serial", tests, NULL, NULL);
}
