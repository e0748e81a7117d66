/* The files of the virtual board: rights, links, faults, the witness, and trees that are none. */
#include "board_case.h"

#include <errno.h>
#include <stdio.h>

#define P0   CPU "cpufreq/policy0/"
#define REL  "devices/system/cpu/cpufreq/policy0/"
#define RAMP "class/thermal/thermal_zone0/temp"

static void modes_are_honoured(void **state)
{
    struct qs_vboard *b = board_of("pixel6-oriole");
    char text[256];
    (void)state;
    assert_int_equal(put(b, P0 "scaling_cur_freq", "1"), EACCES); /* 0444, for root as well */
    assert_int_equal(qs_vboard_write(b, P0 "scaling_max_freq", 2000, "300000", 6),
                     -EACCES); /* system's, 0644 */
    assert_int_equal(qs_vboard_write(b, P0 "scaling_max_freq", 1000, "300000", 6), 0);
    assert_int_equal(qs_vboard_read(b, P0 "scaling_max_freq", 2000, text, sizeof text), 7);
    assert_int_equal(qs_vboard_may(b, P0 "scaling_max_freq", 2000, QS_VBOARD_READ), 0);
    assert_int_equal(qs_vboard_may(b, P0 "scaling_max_freq", 2000, QS_VBOARD_WRITE), -EACCES);
    assert_int_equal(qs_vboard_may(b, P0 "scaling_max_freq", 0, QS_VBOARD_WRITE), 0);
    assert_int_equal(qs_vboard_may(b, P0 "scaling_cur_freq", 0, QS_VBOARD_WRITE), -EACCES);
    b->nodes[qs_vboard_init(b, "/sys/a\t0200\troot:root\t5\tK\n", 26) ? 0 : 1].uid = 0;
    assert_int_equal(try_get(b, "sys/a"), EACCES);
    tune(b, "sys/a", "6");
    assert_int_equal(put(b, "sys/b", "6"), ENOENT);
}

static void links_are_followed(void **state)
{
    struct qs_vboard *b = board_of("odroid-xu3");
    const struct qs_vboard_node *node;
    (void)state;
    is(b, "sys/class/thermal/thermal_zone0/type", "cpu0-thermal");
    is(b, CPU "cpu5/cpufreq/scaling_max_freq", "2000000");
    is(b, "sys/class/../class/./thermal/cooling_device0/type", "pwm-fan");
    assert_int_equal(qs_vboard_look(b, "sys/class/thermal/thermal_zone0", &node), QS_VBOARD_LINK);
    assert_string_equal(node->text, "../../devices/virtual/thermal/thermal_zone0");
    assert_int_equal(qs_vboard_look(b, "sys/class", &node), QS_VBOARD_FOLDER);
    assert_null(node);
    assert_int_equal(qs_vboard_look(b, "sys/class/t", &node), QS_VBOARD_NOTHING);
    assert_int_equal(try_get(b, "sys/class/thermal/thermal_zone0"), ENOENT);
    const char *round = "/sys/a\tlink\tb\t\tK\n/sys/b\tlink\ta\t\tK\n";
    assert_true(qs_vboard_init(b, round, strlen(round)));
    assert_int_equal(try_get(b, "sys/a"), ENOENT);
}

static void folders_are_listed(void **state)
{
    struct qs_vboard *b = board_of("odroid-xu3");
    char name[64];
    char all[256] = "";
    (void)state;
    for (name[0] = '\0';
         qs_vboard_next(b, "sys/devices/system/cpu", strcpy(all + 200, name), name, sizeof name);) {
        size_t used = strlen(all);
        snprintf(all + used, 200 - used, "%s ", name);
    }
    assert_string_equal(all,
                        "cpu0 cpu1 cpu2 cpu3 cpu4 cpu5 cpu6 cpu7 cpufreq offline online possible present ");
    tell(b, "vanish devices/system/cpu/cpufreq");
    assert_true(qs_vboard_next(b, "sys/devices/system/cpu", "cpu7", name, sizeof name));
    assert_string_equal(name, "offline");
}

static void writes_are_refused_and_ignored(void **state)
{
    struct qs_vboard *b = board_of("rpi4b");
    (void)state;
    tell(b, "refuse " REL "scaling_max_freq EBUSY");
    assert_int_equal(put(b, P0 "scaling_max_freq", "800000"), EBUSY);
    tell(b, "refuse " REL "scaling_max_freq EPERM");
    assert_int_equal(put(b, P0 "scaling_max_freq", "800000"), EPERM);
    is(b, P0 "scaling_max_freq", "1500000");
    tell(b, "heal " REL "scaling_max_freq");
    tune(b, P0 "scaling_max_freq", "800000");
    tell(b, "ignore " REL "scaling_governor");
    tune(b, P0 "scaling_governor", "performance");
    tune(b, P0 "scaling_governor", "nonsense");
    is(b, P0 "scaling_governor", "ondemand");
    tell(b, "heal");
    assert_int_equal(put(b, P0 "scaling_governor", "nonsense"), EINVAL);
}

static void writes_come_late(void **state)
{
    struct qs_vboard *b = board_of("rpi4b");
    (void)state;
    tell(b, "delay " REL "scaling_governor 500");
    tune(b, P0 "scaling_governor", "performance");
    assert_int_equal(put(b, P0 "scaling_governor", "nonsense"), EINVAL);
    wait_ms(b, 490);
    is(b, P0 "scaling_governor", "ondemand");
    wait_ms(b, 10);
    is(b, P0 "scaling_governor", "performance");
    assert_int_equal(khz(b, "policy0"), 1500000);
    tell(b, "delay " REL "scaling_max_freq 300"); /* each at its own time, whichever was written first */
    tell(b, "delay " REL "scaling_governor 100");
    tune(b, P0 "scaling_max_freq", "800000");
    tune(b, P0 "scaling_governor", "ondemand");
    tune(b, P0 "scaling_max_freq", "1000000");
    tune(b, P0 "scaling_max_freq", "900000");
    wait_ms(b, 100);
    is(b, P0 "scaling_governor", "ondemand");
    is(b, P0 "scaling_max_freq", "1500000");
    wait_ms(b, 200);
    is(b, P0 "scaling_max_freq", "900000");
    tune(b, P0 "scaling_max_freq", "800000"); /* those of one time in their order */
    tune(b, P0 "scaling_max_freq", "1000000");
    tune(b, P0 "scaling_max_freq", "1200000");
    wait_ms(b, 300);
    is(b, P0 "scaling_max_freq", "1200000");
    for (int i = 0; i < QS_VBOARD_DELAYED_MAX; i++) {
        tune(b, P0 "scaling_governor", "powersave");
    }
    assert_int_equal(put(b, P0 "scaling_governor", "powersave"), EBUSY);
}

static void inert_reads_back(void **state)
{
    struct qs_vboard *b = board_of("rpi4b");
    (void)state;
    tell(b, "inert " REL "scaling_governor");
    is(b, P0 "scaling_governor", "ondemand");
    tune(b, P0 "scaling_governor", "performance");
    is(b, P0 "scaling_governor", "performance");
    is(b, P0 "scaling_cur_freq", "600000");
    assert_int_equal(khz(b, "policy0"), 600000);
    assert_int_equal(put(b, P0 "scaling_governor", "nonsense"), EINVAL);
    is(b, P0 "scaling_governor", "performance");
    tell(b, "inert devices/system/cpu/cpu3/online");
    tune(b, CPU "cpu3/online", "0");
    is(b, CPU "cpu3/online", "0");
    is(b, CPU "online", "0-3");
    tell(b, "inert devices/virtual/thermal/cooling_device0/cur_state");
    tune(b, COOL "0/cur_state", "4");
    is(b, COOL "0/cur_state", "4");
    is(b, P0 "scaling_max_freq", "1500000");
}

static void a_daemon_resets(void **state)
{
    struct qs_vboard *b = board_of("rpi4b");
    (void)state;
    tune(b, P0 "scaling_max_freq", "1400000");
    tell(b, "reset " REL "scaling_max_freq every 200");
    tune(b, P0 "scaling_max_freq", "800000");
    wait_ms(b, 190);
    is(b, P0 "scaling_max_freq", "800000");
    wait_ms(b, 10);
    is(b, P0 "scaling_max_freq", "1400000");
    tune(b, P0 "scaling_max_freq", "900000");
    wait_ms(b, 190);
    is(b, P0 "scaling_max_freq", "900000");
    wait_ms(b, 10);
    is(b, P0 "scaling_max_freq", "1400000");
}

static void files_vanish(void **state)
{
    struct qs_vboard *b = board_of("rpi4b");
    const struct qs_vboard_node *node;
    (void)state;
    tell(b, "vanish " RAMP);
    assert_int_equal(try_get(b, "sys/" RAMP), ENODEV);
    assert_int_equal(put(b, "sys/" RAMP, "1"), ENODEV);
    assert_int_equal(qs_vboard_may(b, "sys/" RAMP, 0, QS_VBOARD_READ), -ENOENT);
    assert_int_equal(qs_vboard_look(b, ZONE "0/temp", &node), QS_VBOARD_NOTHING);
    tell(b, "vanish devices/system/cpu/cpufreq/policy0");
    assert_int_equal(qs_vboard_look(b, CPU "cpufreq", &node), QS_VBOARD_NOTHING);
    tell(b, "heal class/thermal/thermal_zone0/temp");
    is(b, "sys/" RAMP, "46738");
}

static void sensors_lie(void **state)
{
    static const struct {
        const char *line, *text;
    } cases[] = {{"lie " RAMP " with -99.9", "-99.9"},
                 {"lie " RAMP " with 0", "0"},
                 {"lie " RAMP " with constant 85000", "85000"},
                 {"stuck " RAMP, "50000"}};
    struct qs_vboard *b = board_of("rpi4b");
    (void)state;
    tell(b, "heat 50");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        tell(b, "heat 50");
        tell(b, "heal");
        tell(b, cases[i].line);
        tell(b, "heat 70");
        is(b, "sys/" RAMP, cases[i].text);
        assert_int_equal(mc(b, "cpu-thermal"), 70000);
    }
    tell(b, "lie " RAMP " with EAGAIN");
    assert_int_equal(try_get(b, "sys/" RAMP), EAGAIN);
    tell(b, "lie " RAMP " with jump 20000"); /* in place of the last lie */
    is(b, "sys/" RAMP, "70000");
    is(b, "sys/" RAMP, "90000");
    is(b, "sys/" RAMP, "70000");
}

static void slow_is_told_to_the_front(void **state)
{
    struct qs_vboard *b = board_of("rpi4b");
    (void)state;
    tell(b, "slow " RAMP " 1500");
    assert_int_equal(qs_vboard_slow_ms(b, "sys/" RAMP), 1500);
    assert_int_equal(qs_vboard_slow_ms(b, ZONE "0/temp"), 1500);
    assert_int_equal(qs_vboard_slow_ms(b, ZONE "0/type"), 0);
}

static void words_are_judged(void **state)
{
    static const struct {
        const char *line, *why;
    } cases[] = {
        {"explode", "explode: there is no such word"},
        {"ambient warm", "ambient: warm is no temperature"},
        {"ambient", "ambient: 1 words are not what it takes"},
        {"load 101", "load: 101 is neither `rest` nor 0 to 100"},
        {"load 5 policy9", "load: there is no clock of this name"},
        {"heat 400", "heat: 400 is no temperature"},
        {"heat 40 gpu", "heat: there is no zone of this type"},
        {"heal " RAMP, "heal: " RAMP " has no fault"},
        {"ignore class/none", "ignore: there is no file class/none"},
        {"stuck class/thermal", "stuck: there is no file class/thermal"},
        {"refuse " RAMP " EVIL", "refuse: EVIL is no error that a kernel gives here"},
        {"delay " RAMP " soon", "delay: soon is no time in milliseconds"},
        {"delay " RAMP " 0", "delay: 0 is no time in milliseconds"},
        {"delay " RAMP, "delay: 2 words are not what it takes"},
        {"reset " RAMP " after 5", "reset: it is `reset PATH every MS`"},
        {"lie " RAMP " about 5", "lie: it is `lie PATH with WHAT`"},
        {"lie " RAMP " with jump far", "lie: jump needs a number"},
        {"lie " RAMP " with 5 6", "lie: only `constant` has a text"},
        {"a b c d e f", "the line has too many words"},
    };
    struct qs_vboard *b = board_of("rpi4b");
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_false(qs_vboard_command(b, cases[i].line));
        assert_string_equal(b->why, cases[i].why);
    }
    assert_true(qs_vboard_command(b, "\n"));
    assert_int_equal(b->fault_count, 0);
    for (int i = 0; i < QS_VBOARD_FAULTS_MAX; i++) {
        char line[64];
        snprintf(line, sizeof line, "ignore devices/system/cpu/cpu%d/%s", i % 4,
                 i % 4 ? "online" : "topology/core_id");
        tell(b, line);
    }
    assert_int_equal(b->fault_count, 4); /* the same again is one */
}

static void the_witness_keeps_a_log(void **state)
{
    struct qs_vboard *b = board_of("rpi4b");
    static char text[QS_VBOARD_REPORT_BYTES];
    (void)state;
    wait_ms(b, 1230);
    tune(b, CPU "cpu1/cpufreq/scaling_max_freq", "800000\n");
    (void)put(b, P0 "scaling_max_freq", "1");
    (void)put(b, P0 "scaling_cur_freq", "1"); /* it could not even be opened */
    tell(b, "ignore " REL "scaling_min_freq");
    tune(b, P0 "scaling_min_freq", "700000");
    qs_vboard_report(b, QS_VBOARD_LOG, text, sizeof text);
    assert_string_equal(text, "1230 " REL "scaling_max_freq 800000 ok\n1230 " REL
                              "scaling_max_freq 1 EINVAL\n1230 " REL "scaling_min_freq 700000 ok\n");
    qs_vboard_report(b, QS_VBOARD_FAULTS, text, sizeof text);
    assert_string_equal(text, "ignore " REL "scaling_min_freq\n");
    for (int i = 0; i < QS_VBOARD_LOG_MAX; i++) {
        (void)put(b, P0 "scaling_max_freq", "900000");
    }
    qs_vboard_report(b, QS_VBOARD_LOG, text, sizeof text);
    assert_null(strstr(text, " 1 "));
    assert_non_null(strstr(text, " 900000 ok"));
}

static void trees_are_judged(void **state)
{
    static const struct {
        const char *tree, *why;
    } cases[] = {
        {"# a tree\n/sys/a\t0444\troot:root\t1\n", "line 2: it has not the five fields of a tree"},
        {"/sys/a\t0999\troot:root\t1\tK\n", "line 1: its mode is neither octal nor `link`"},
        {"sys/a\t0444\troot:root\t1\tK\n", "line 1: its path is not /FOLDER/..., or too long"},
        {"/sys\t0444\troot:root\t1\tK\n", "line 1: its path is not /FOLDER/..., or too long"},
        {"/sys/a\t0444\tann:root\t1\tK\n",
         "line 1: its owner is none of root, system and shell, as user:group"},
        {"/sys/a\t0444\troot\t1\tK\n", "line 1: its owner is none of root, system and shell, as user:group"},
    };
    struct qs_vboard *b = board_of("rpi4b");
    static char many[1 << 15];
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_false(qs_vboard_init(b, cases[i].tree, strlen(cases[i].tree)));
        assert_string_equal(b->why, cases[i].why);
    }
    for (int i = 0; i <= QS_VBOARD_NODES_MAX; i++) {
        snprintf(many + strlen(many), 64, "/sys/a%d\t0444\troot:root\t1\tK\n", i);
    }
    assert_false(qs_vboard_init(b, many, strlen(many)));
    assert_non_null(strstr(b->why, "line 641: the tree has more than a board can hold"));
}

/* n times a few lines, with the number where they have %d. */
static const char *repeated(const char *lines, int n)
{
    static char tree[1 << 16];
    size_t used = 0;
    for (int i = 0; i < n; i++) {
        for (const char *p = lines; *p && used + 8 < sizeof tree; p++) {
            bool number = p[0] == '%' && p[1] == 'd';
            used += (size_t)snprintf(tree + used, sizeof tree - used, number ? "%d" : "%c", number ? i : *p);
            p += number;
        }
    }
    return tree;
}

/* As much as fits, and one more: of clocks the tree is refused, zones and coolers beyond are files that stand
 * still. */
static void boards_have_bounds(void **state)
{
    struct qs_vboard *b = board_of("rpi4b");
    const char *clock = "/sys/devices/x/devfreq/c%d/available_frequencies\t0444\troot:root\t100 200\tK\n";
    (void)state;
    for (int n = QS_VBOARD_CLOCKS_MAX; n <= QS_VBOARD_CLOCKS_MAX + 1; n++) {
        const char *tree = repeated(clock, n);
        assert_int_equal(qs_vboard_init(b, tree, strlen(tree)), n == QS_VBOARD_CLOCKS_MAX);
    }
    assert_string_equal(b->why, "the tree has more than a board can hold");
    const char *tree = repeated("/sys/t/thermal_zone%d/temp\t0444\troot:root\t41000\tK\n"
                                "/sys/t/thermal_zone%d/type\t0444\troot:root\tcpu%d\tK\n"
                                "/sys/t/cooling_device%d/type\t0444\troot:root\tfcc\tK\n"
                                "/sys/t/cooling_device%d/max_state\t0444\troot:root\t3\tK\n"
                                "/sys/t/cooling_device%d/cur_state\t0644\troot:root\t0\tK\n",
                                QS_VBOARD_ZONES_MAX + 1);
    assert_true(qs_vboard_init(b, tree, strlen(tree)));
    tell(b, "heat 50");
    is(b, "sys/t/thermal_zone31/temp", "50000");
    is(b, "sys/t/thermal_zone32/temp", "41000");
    assert_int_equal(put(b, "sys/t/cooling_device15/cur_state", "4"), EINVAL);
    assert_int_equal(put(b, "sys/t/cooling_device16/cur_state", "4"), 0);
}

static void of_two_with_one_path_the_first_is_found(void **state)
{
    const char tree[] = "/sys/t/b\t0444\troot:root\tsecond\tK\n/sys/t/a\t0444\troot:root\tfirst\tK\n"
                        "/sys/t/c\t0444\troot:root\tthird\tK\n/sys/t/a\t0444\troot:root\tagain\tK\n";
    struct qs_vboard *b = board_of("rpi4b");
    (void)state;
    assert_true(qs_vboard_init(b, tree, strlen(tree)));
    is(b, "sys/t/a", "first");
    is(b, "sys/t/b", "second");
    is(b, "sys/t/c", "third");
    assert_int_equal(try_get(b, "sys/t/0"), ENOENT);
    assert_int_equal(try_get(b, "sys/t/d"), ENOENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(of_two_with_one_path_the_first_is_found),
        cmocka_unit_test(modes_are_honoured),
        cmocka_unit_test(links_are_followed),
        cmocka_unit_test(folders_are_listed),
        cmocka_unit_test(writes_are_refused_and_ignored),
        cmocka_unit_test(writes_come_late),
        cmocka_unit_test(inert_reads_back),
        cmocka_unit_test(a_daemon_resets),
        cmocka_unit_test(files_vanish),
        cmocka_unit_test(sensors_lie),
        cmocka_unit_test(slow_is_told_to_the_front),
        cmocka_unit_test(words_are_judged),
        cmocka_unit_test(the_witness_keeps_a_log),
        cmocka_unit_test(trees_are_judged),
        cmocka_unit_test(boards_have_bounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
