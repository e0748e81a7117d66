/* Which device a word means. */
#include "cm.h"

#include <string.h>

#include "ctl/run/pick.h"

static const char farm[] =
    "[{\"name\":\"local\",\"link\":\"exec\",\"local\":true,\"state\":\"ready\",\"labels\":[\"serial=here\"]},"
    " {\"name\":\"2A1B\",\"local\":false,\"state\":\"ready\",\"labels\":[\"serial=2A1B\",\"model=Pixel_6\"]},"
    " {\"name\":\"2A1BFF\",\"local\":false,\"state\":\"down\",\"labels\":[\"serial=2A1BFF\",\"model=Pixel_"
    "6a\"]},"
    " {\"name\":\"10.0.0.7-5555\",\"local\":false,\"state\":\"ready\","
    "  \"labels\":[\"rack\",\"serial=10.0.0.7:5555\",\"model=SM_G991B\",\"product=pixel\"]},"
    " {\"name\":\"board\",\"local\":false,\"link\":\"ssh\",\"state\":\"connecting\",\"labels\":[]},"
    " {\"name\":\"rig\",\"local\":false,\"link\":\"usb\",\"state\":\"ready\",\"labels\":[\"model=Sshd\"]}]";

static void means(const char *word, const char *list)
{
    json_auto_t *devices = json_loads(farm, 0, NULL);
    assert_non_null(devices);
    json_auto_t *found = qs_pick_devices(devices, word);
    QS_BUF(said);
    qs_pick_list(found, &said);
    assert_string_equal(said.data, list);
}

#define PIXEL_6  "2A1B (Pixel_6, ready)"
#define PIXEL_6A "2A1BFF (Pixel_6a, down)"
#define GALAXY   "10.0.0.7-5555 (SM_G991B, ready)"
#define BOARD    "board (connecting)"
#define RIG      "rig (Sshd, ready)"

static void a_name_comes_before_its_parts(void **state)
{
    (void)state;
    means("2A1B", PIXEL_6);
    means("2a1b", PIXEL_6);
    means("2A1BFF", PIXEL_6A);
    means("board", BOARD);
    means("Pixel_6", PIXEL_6);
    means("pixel 6", PIXEL_6);
    means("PIXEL_6A", PIXEL_6A);
    means("10.0.0.7:5555", GALAXY);
    means("10.0.0.7-5555", GALAXY);
}

static void a_kind_means_the_one_of_it(void **state)
{
    (void)state;
    means("usb", RIG);
    means("ssh", BOARD); /* before parts of a model */
    means("sshd", RIG);
    means("exec", ""); /* this machine is none */
}

static void a_part_means_whoever_has_it(void **state)
{
    (void)state;
    means("boa", BOARD);
    means("OARD", BOARD);
    means("2A1BF", PIXEL_6A);
    means("a1b", PIXEL_6 ", " PIXEL_6A);
    means("pixel", PIXEL_6 ", " PIXEL_6A); /* a product is no name */
    means("6a", PIXEL_6A);
    means(":5555", GALAXY);
    means("g991", GALAXY);
    means("sm g", GALAXY);
}

static void what_nothing_has_means_nothing(void **state)
{
    (void)state;
    means("boards", "");
    means("rack", "");
    means("", "");
    means("2A1B ", "");
}

static void this_machine_is_meant_by_its_whole_name(void **state)
{
    (void)state;
    means("local", "local (ready)");
    means("loc", "");
    means("LOCAL", "");
    means("here", "");
    means(NULL, PIXEL_6 ", " PIXEL_6A ", " GALAXY ", " BOARD ", " RIG);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_name_comes_before_its_parts),
        cmocka_unit_test(a_kind_means_the_one_of_it),
        cmocka_unit_test(a_part_means_whoever_has_it),
        cmocka_unit_test(what_nothing_has_means_nothing),
        cmocka_unit_test(this_machine_is_meant_by_its_whole_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
