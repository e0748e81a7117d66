/* What is written to hold a frequency, on the boards of the trees (argument 1: tests/data/sysfs): which
 * operating point, in which order, and what is said where it cannot be. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "device/board/pin.h"
#include "tree.h"

static const char *boards;

#define POLICY0 "devices/system/cpu/cpufreq/policy0/"
#define POLICY4 "devices/system/cpu/cpufreq/policy4/"
#define POLICY6 "devices/system/cpu/cpufreq/policy6/"

struct write {
    const char *path, *value;
    unsigned flags;
};

static struct qs_wish wish_of(const char *text)
{
    struct qs_wish wish;
    struct qs_scalar_why why;
    if (!qs_wish_read(text, &wish, &why))
        fail_msg("%s", why.text);
    return wish;
}

static struct qs_wishes wishes_of(enum qs_domain_kind kind, const char *text)
{
    struct qs_wishes wishes = {0};
    wishes.frequency[kind] = wish_of(text);
    return wishes;
}

static void check_writes(const struct qs_pins *pins, const struct write *want, size_t count)
{
    for (size_t i = 0; i < count && i < pins->items.count; i++) {
        assert_string_equal(pins->items.at[i].path, want[i].path);
        assert_string_equal(pins->items.at[i].value, want[i].value);
        assert_int_equal(pins->items.at[i].flags, want[i].flags);
    }
    assert_int_equal(pins->items.count, count);
}

static void check_texts(const struct qs_pins *pins, const char *const *want, size_t count)
{
    assert_int_equal(pins->choices.count, count);
    for (size_t i = 0; i < count; i++)
        assert_string_equal(pins->choices.at[i].text, want[i]);
}

#define COUNT(list) (sizeof(list) / sizeof *(list))

/* Governors of all, then each: down, its upper limit, its lower limit. */
static void test_order(void **state)
{
    (void)state;
    static const struct write want[] = {{POLICY0 "scaling_governor", "performance", 0},
                                        {POLICY4 "scaling_governor", "performance", 0},
                                        {POLICY6 "scaling_governor", "performance", 0},
                                        {POLICY0 "scaling_min_freq", "300000", QS_PIN_NO_READ_BACK},
                                        {POLICY0 "scaling_max_freq", "738000", 0},
                                        {POLICY0 "scaling_min_freq", "738000", 0},
                                        {POLICY4 "scaling_min_freq", "400000", QS_PIN_NO_READ_BACK},
                                        {POLICY4 "scaling_max_freq", "1024000", 0},
                                        {POLICY4 "scaling_min_freq", "1024000", 0},
                                        {POLICY6 "scaling_min_freq", "500000", QS_PIN_NO_READ_BACK},
                                        {POLICY6 "scaling_max_freq", "1277000", 0},
                                        {POLICY6 "scaling_min_freq", "1277000", 0}};
    static const char *const texts[] = {
        "policy0: 738 MHz (50% of 1803 MHz is 901.5 MHz; the nearest at or below it)",
        "policy4: 1024 MHz (50% of 2253 MHz is 1126.5 MHz; the nearest at or below it)",
        "policy6: 1277 MHz (50% of 2802 MHz is 1401 MHz; the nearest at or below it)"};
    struct qs_err err = QS_ERR_INIT;
    QS_SCOPED(qs_pins_done) struct qs_pins pins = {0};
    QS_SCOPED(qs_board_free_at) struct qs_board *b = tree_board(boards, "pixel6-oriole", true);
    struct qs_wishes wishes = wishes_of(QS_DOMAIN_CPU, "50%");
    assert_true(qs_board_pin(b, &wishes, true, &pins, &err));
    check_writes(&pins, want, COUNT(want));
    check_texts(&pins, texts, COUNT(texts));
    assert_int_equal(pins.choices.at[1].khz, 1024000);
    assert_false(pins.survey_again);
}

/* Each kind by its own wish and in its own files and units; `free` is left alone. */
static void test_kinds(void **state)
{
    (void)state;
    static const struct write pixel[] = {
        {"devices/platform/1c500000.mali/power_policy", "always_on", 0},
        {"class/devfreq/17000010.devfreq_mif/governor", "performance", 0},
        {"devices/platform/1c500000.mali/scaling_min_freq", "151000", QS_PIN_NO_READ_BACK},
        {"devices/platform/1c500000.mali/scaling_max_freq", "762000", 0},
        {"devices/platform/1c500000.mali/scaling_min_freq", "762000", 0},
        {"class/devfreq/17000010.devfreq_mif/min_freq", "421000", QS_PIN_NO_READ_BACK},
        {"class/devfreq/17000010.devfreq_mif/max_freq", "1014000", 0},
        {"class/devfreq/17000010.devfreq_mif/min_freq", "1014000", 0}};
    static const struct write huawei[] = {
        {"class/devfreq/ddrfreq/governor", "userspace", 0},
        {"class/devfreq/ddrfreq/min_freq", "120000000", QS_PIN_NO_READ_BACK},
        {"class/devfreq/ddrfreq/max_freq", "120000000", 0},
        {"class/devfreq/ddrfreq/min_freq", "120000000", 0}};
    struct qs_err err = QS_ERR_INIT;
    QS_SCOPED(qs_pins_done) struct qs_pins pins = {0}, others = {0};
    QS_SCOPED(qs_board_free_at) struct qs_board *b = tree_board(boards, "pixel6-oriole", true);
    QS_SCOPED(qs_board_free_at) struct qs_board *h = tree_board(boards, "huawei-p8lite2017", true);
    struct qs_wishes wishes = wishes_of(QS_DOMAIN_GPU, "max");
    wishes.frequency[QS_DOMAIN_MEMORY] = wish_of("1014MHz");
    assert_true(qs_board_pin(b, &wishes, true, &pins, &err));
    check_writes(&pins, pixel, COUNT(pixel));
    assert_string_equal(pins.choices.at[0].text, "mali: 762 MHz (its highest)");
    assert_string_equal(pins.choices.at[1].text, "mif: 1014 MHz (as asked)");
    wishes = wishes_of(QS_DOMAIN_MEMORY, "min");
    assert_true(qs_board_pin(h, &wishes, true, &others, &err));
    check_writes(&others, huawei, COUNT(huawei));
    assert_string_equal(others.choices.at[0].text, "ddrfreq: 120 MHz (its lowest)");
}

/* Old Adreno: levels, 0 the fastest; its governor stays. Processors that are off come on first. */
static void test_levels_and_online(void **state)
{
    (void)state;
    static const struct write first[] = {{"devices/system/cpu/cpu2/online", "1", QS_PIN_MAY_FAIL},
                                         {"devices/system/cpu/cpu3/online", "1", QS_PIN_MAY_FAIL}};
    static const struct write want[] = {
        {"devices/system/cpu/cpu0/cpufreq/scaling_governor", "performance", 0},
        {"devices/system/cpu/cpu1/cpufreq/scaling_governor", "performance", 0},
        {"devices/system/cpu/cpu0/cpufreq/scaling_min_freq", "384000", QS_PIN_NO_READ_BACK},
        {"devices/system/cpu/cpu0/cpufreq/scaling_max_freq", "1026000", 0},
        {"devices/system/cpu/cpu0/cpufreq/scaling_min_freq", "1026000", 0},
        {"devices/system/cpu/cpu1/cpufreq/scaling_min_freq", "384000", QS_PIN_NO_READ_BACK},
        {"devices/system/cpu/cpu1/cpufreq/scaling_max_freq", "1026000", 0},
        {"devices/system/cpu/cpu1/cpufreq/scaling_min_freq", "1026000", 0},
        {"class/kgsl/kgsl-3d0/min_pwrlevel", "3", QS_PIN_NO_READ_BACK},
        {"class/kgsl/kgsl-3d0/max_pwrlevel", "1", 0},
        {"class/kgsl/kgsl-3d0/min_pwrlevel", "1", 0}};
    static const char *const texts[] = {
        "cpu0: 1026 MHz (70% of 1512 MHz is 1058.4 MHz; the nearest at or below it)",
        "cpu1: 1026 MHz (70% of 1512 MHz is 1058.4 MHz; the nearest at or below it)",
        "kgsl: 320 MHz (80% of 400 MHz is 320 MHz)"};
    struct qs_err err = QS_ERR_INIT;
    QS_SCOPED(qs_pins_done) struct qs_pins pins = {0}, online = {0};
    QS_SCOPED(qs_board_free_at) struct qs_board *b = tree_board(boards, "sony-xperia-z-unrooted", true);
    struct qs_wishes wishes = wishes_of(QS_DOMAIN_CPU, "70%");
    wishes.frequency[QS_DOMAIN_GPU] = wish_of("80%");
    assert_true(qs_board_pin(b, &wishes, false, &online, &err));
    check_writes(&online, first, COUNT(first));
    assert_true(online.survey_again);
    assert_true(qs_board_pin(b, &wishes, true, &pins, &err));
    check_writes(&pins, want, COUNT(want));
    check_texts(&pins, texts, COUNT(texts));
    assert_false(pins.survey_again);
}

/* The edges of shares: nothing at or below it, exactly a step, all of it. */
static void test_shares(void **state)
{
    (void)state;
    static const struct {
        const char *wish;
        size_t khz;
        const char *text;
    } rows[] = {
        {"1%", 600000, "policy0: 600 MHz (1% of 1500 MHz is 15 MHz; below all steps: the lowest)"},
        {"40%", 600000, "policy0: 600 MHz (40% of 1500 MHz is 600 MHz)"},
        {"39.9%", 600000, "policy0: 600 MHz (39.9% of 1500 MHz is 598.5 MHz; below all steps: the lowest)"},
        {"99.9%", 1400000, "policy0: 1400 MHz (99.9% of 1500 MHz is 1498.5 MHz; the nearest at or below it)"},
        {"100%", 1500000, "policy0: 1500 MHz (100% of 1500 MHz is 1500 MHz)"},
        {"max", 1500000, "policy0: 1500 MHz (its highest)"},
        {"min", 600000, "policy0: 600 MHz (its lowest)"},
        {"1.2GHz", 1200000, "policy0: 1200 MHz (as asked)"}};
    QS_SCOPED(qs_board_free_at) struct qs_board *b = tree_board(boards, "rpi4b", true);
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct qs_err err = QS_ERR_INIT;
        QS_SCOPED(qs_pins_done) struct qs_pins pins = {0};
        struct qs_wishes wishes = wishes_of(QS_DOMAIN_CPU, rows[i].wish);
        assert_true(qs_board_pin(b, &wishes, true, &pins, &err));
        assert_int_equal(pins.choices.count, 1);
        assert_int_equal(pins.choices.at[0].khz, rows[i].khz);
        assert_string_equal(pins.choices.at[0].text, rows[i].text);
    }
}

static void test_nothing_asked(void **state)
{
    (void)state;
    struct qs_err err = QS_ERR_INIT;
    QS_SCOPED(qs_pins_done) struct qs_pins pins = {0};
    QS_SCOPED(qs_board_free_at) struct qs_board *b = tree_board(boards, "sony-xperia-z-unrooted", true);
    assert_true(qs_board_pin(b, &(struct qs_wishes){0}, false, &pins, &err));
    assert_int_equal(pins.items.count + pins.choices.count, 0);
}

static void test_refusals(void **state)
{
    (void)state;
    static const struct {
        const char *tree;
        bool root;
        enum qs_domain_kind kind;
        const char *wish;
        enum qs_errc code;
        const char *text;
    } rows[] = {
        {"rpi4b", true, QS_DOMAIN_GPU, "max", QS_E_NOT_FOUND,
         "`gpu: max`: this device has no gpu frequency: it has policy0 (cpu); write `frequency: {gpu: "
         "free}`"},
        {"pixel6-oriole", true, QS_DOMAIN_CPU, "1.75GHz", QS_E_JOB,
         "policy0 has no 1750 MHz: the nearest are 1704 MHz and 1803 MHz (11 from 300 MHz to 1803 MHz)"},
        {"pixel6-oriole", true, QS_DOMAIN_CPU, "1803MHz", QS_E_JOB,
         "policy4 has no 1803 MHz: the nearest are 1663 MHz and 1836 MHz (14 from 400 MHz to 2253 MHz)"},
        {"rpi4b", true, QS_DOMAIN_CPU, "100MHz", QS_E_JOB,
         "policy0 has no 100 MHz: the nearest are 600 MHz and 700 MHz (10 from 600 MHz to 1500 MHz)"},
        {"rpi4b", true, QS_DOMAIN_CPU, "9GHz", QS_E_JOB,
         "policy0 has no 9000 MHz: the nearest are 1400 MHz and 1500 MHz (10 from 600 MHz to 1500 MHz)"},
        {"sony-xperia-z-unrooted", false, QS_DOMAIN_CPU, "max", QS_E_DENIED,
         "cpu0 cannot be held at a frequency: devices/system/cpu/cpu0/cpufreq/scaling_min_freq may not be "
         "written by the agent's user: run the agent as root (a phone: `adb root`, or `su`; a board: start "
         "it "
         "as root); or write `frequency: {cpu: free}`"}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct qs_err err = QS_ERR_INIT;
        struct qs_pins pins;
        QS_SCOPED(qs_board_free_at) struct qs_board *b = tree_board(boards, rows[i].tree, rows[i].root);
        struct qs_wishes wishes = wishes_of(rows[i].kind, rows[i].wish);
        assert_false(qs_board_pin(b, &wishes, true, &pins, &err));
        assert_string_equal(err.text, rows[i].text);
        assert_int_equal(err.code, rows[i].code);
        assert_int_equal(pins.items.count, 0);
    }
}

/* Words, and what is none. */
static void test_wishes(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        enum qs_wish_how how;
        int64_t value;
        const char *printed; /* NULL: refused */
    } rows[] = {{"free", QS_WISH_FREE, 0, "free"},
                {"max", QS_WISH_MAX, 0, "max"},
                {"min", QS_WISH_MIN, 0, "min"},
                {"60%", QS_WISH_SHARE, 600000, "60%"},
                {"87.5%", QS_WISH_SHARE, 875000, "87.5%"},
                {"100%", QS_WISH_SHARE, 1000000, "100%"},
                {"1.8GHz", QS_WISH_FREQUENCY, 1800000, "1800MHz"},
                {"2/5", QS_WISH_PLACE, 2, "2/5"},
                {"300500kHz", QS_WISH_FREQUENCY, 300500, "300500kHz"},
                {"0%", 0, 0, NULL},
                {"101%", 0, 0, NULL},
                {"-5%", 0, 0, NULL},
                {"", 0, 0, NULL},
                {"%", 0, 0, NULL},
                {"maximum", 0, 0, NULL},
                {"1800", 0, 0, NULL},
                {"0MHz", 0, 0, NULL},
                {"1.8GHz2", 0, 0, NULL}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct qs_wish wish;
        struct qs_scalar_why why = {0};
        QS_BUF(out);
        bool ok = qs_wish_read(rows[i].text, &wish, &why);
        assert_int_equal(ok, rows[i].printed != NULL);
        assert_true(ok || why.text[0] != '\0');
        if (!ok)
            continue;
        assert_int_equal(wish.how, rows[i].how);
        assert_int_equal(wish.value, rows[i].value);
        qs_wish_print(&wish, &out);
        assert_string_equal(out.data, rows[i].printed);
    }
}

/* Places lie evenly over the steps there are, with both ends; where there is no table, over the range. */
static void test_places(void **state)
{
    (void)state;
    static const struct {
        const char *tree, *wish, *text;
    } rows[] = {{"rpi4b", "1/5", "policy0: 600 MHz (place 1 of 5, of 10 steps)"},
                {"rpi4b", "2/5", "policy0: 800 MHz (place 2 of 5, of 10 steps)"},
                {"rpi4b", "3/5", "policy0: 1100 MHz (place 3 of 5, of 10 steps)"},
                {"rpi4b", "4/5", "policy0: 1300 MHz (place 4 of 5, of 10 steps)"},
                {"rpi4b", "5/5", "policy0: 1500 MHz (place 5 of 5, of 10 steps)"},
                {"rpi4b", "32/32", "policy0: 1500 MHz (place 32 of 32, of 10 steps)"},
                {"pixel6-oriole", "2/5", "policy0: 930 MHz (place 2 of 5, of 11 steps)"}};
    struct qs_err err = QS_ERR_INIT;
    for (size_t i = 0; i < COUNT(rows); i++) {
        QS_SCOPED(qs_pins_done) struct qs_pins pins = {0};
        QS_SCOPED(qs_board_free_at) struct qs_board *b = tree_board(boards, rows[i].tree, true);
        struct qs_wishes wishes = wishes_of(QS_DOMAIN_CPU, rows[i].wish);
        assert_true(qs_board_pin(b, &wishes, true, &pins, &err));
        assert_string_equal(pins.choices.at[0].text, rows[i].text);
    }
    QS_SCOPED(qs_pins_done) struct qs_pins pins = {0};
    QS_SCOPED(qs_board_free_at) struct qs_board *b = tree_board(boards, "rpi4b", true);
    struct qs_wishes wishes = wishes_of(QS_DOMAIN_CPU, "2/3");
    b->domains.at[0].range = true; /* from 600 to 1500 MHz: no step is in the middle */
    assert_true(qs_board_pin(b, &wishes, true, &pins, &err));
    assert_string_equal(pins.choices.at[0].text, "policy0: 1050 MHz (place 2 of 3)");
    assert_int_equal(pins.choices.at[0].khz, 1050000);
}

int main(int argc, char **argv)
{
    if (argc != 3)
        return 2;
    boards = argv[1];
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order),    cmocka_unit_test(test_kinds),
        cmocka_unit_test(test_shares),   cmocka_unit_test(test_levels_and_online),
        cmocka_unit_test(test_refusals), cmocka_unit_test(test_nothing_asked),
        cmocka_unit_test(test_places),   cmocka_unit_test(test_wishes)};
    return cmocka_run_group_tests_name("device pin", tests, NULL, NULL);
}
