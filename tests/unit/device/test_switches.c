/* What is written for the switches, governors and processors that a job names, on made-up devices and on the
 * trees (argument 1: tests/data/sysfs); what is said where it cannot be; and that a profile alone makes a new
 * one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/json.h"
#include "base/mem.h"
#include "config/document/load.h"
#include "device/board/pin.h"
#include "tree.h"

static const char *boards;

enum { RW = QS_BOARD_READABLE | QS_BOARD_WRITABLE };
#define CPU "devices/system/cpu/"

/* Four processors, of which 2 and 3 are the faster ones; with idle states, boost, a fan, and a battery. */
static void add_files(struct qs_survey *s)
{
    static const struct {
        const char *path, *value;
        unsigned access;
    } files[] = {{CPU "present", "0-3", QS_BOARD_READABLE},
                 {CPU "online", "0-3", QS_BOARD_READABLE},
                 {CPU "cpu0/cpu_capacity", "400", RW},
                 {CPU "cpu1/cpu_capacity", "400", RW},
                 {CPU "cpu2/cpu_capacity", "1024", RW},
                 {CPU "cpu3/cpu_capacity", "1024", RW},
                 {CPU "cpu1/online", "1", RW},
                 {CPU "cpu2/online", "1", RW},
                 {CPU "cpu3/online", "0", RW},
                 {CPU "cpu0/cpuidle/state0/disable", "0", RW},
                 {CPU "cpu0/cpuidle/state1/disable", "0", RW},
                 {CPU "cpu0/cpuidle/state2/disable", "0", RW},
                 {CPU "cpu1/cpuidle/state0/disable", "0", RW},
                 {CPU "cpu1/cpuidle/state10/disable", "0", RW},
                 {CPU "cpufreq/boost", "1", RW},
                 {"class/hwmon/hwmon0/name", "fan", QS_BOARD_READABLE},
                 {"class/hwmon/hwmon0/pwm1", "100", RW},
                 {"class/hwmon/hwmon1/pwm1", "90", RW},
                 {"class/hwmon/hwmon2/pwm1", "80", QS_BOARD_READABLE},
                 {"class/power_supply/battery/charging_enabled", "1", RW},
                 {CPU "cpufreq/policy0/scaling_governor", "schedutil", RW},
                 {CPU "cpufreq/policy0/scaling_available_governors", "schedutil userspace performance", RW},
                 {CPU "cpufreq/policy0/scaling_available_frequencies", "600000 1200000", RW},
                 {CPU "cpufreq/policy0/scaling_min_freq", "600000", RW},
                 {CPU "cpufreq/policy0/scaling_max_freq", "1200000", RW},
                 {CPU "cpufreq/policy0/scaling_setspeed", "<unsupported>", RW},
                 {CPU "cpufreq/policy0/related_cpus", "0 1", QS_BOARD_READABLE}};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        qs_survey_add(s, files[i].path, files[i].access, QS_READING_OK, 0, files[i].value,
                      strlen(files[i].value));
}

static struct qs_board *made_up(void)
{
    QS_SCOPED(qs_profiles_done) struct qs_profiles profiles = {0};
    QS_SCOPED(qs_survey_done) struct qs_survey survey = {0};
    tree_profiles(&profiles, false);
    add_files(&survey);
    return qs_board_new(&profiles, &survey, NULL);
}

/* "FILE=VALUE[p][?] ...": paths without what all of a CPU's have; p: persistent, ?: it may fail. */
static void print(const struct qs_pins *pins, struct qs_buf *out)
{
    for (size_t i = 0; i < pins->items.count; i++) {
        const struct qs_pin_item *item = &pins->items.at[i];
        const char *path = strncmp(item->path, CPU, strlen(CPU)) == 0 ? item->path + strlen(CPU) : item->path;
        qs_buf_fmt(out, "%s%s=%s%s%s", i > 0 ? " " : "", path, item->value,
                   item->flags & QS_PIN_PERSISTENT ? "p" : "", item->flags & QS_PIN_MAY_FAIL ? "?" : "");
    }
    qs_buf_str(out, pins->survey_again ? " again" : "");
}

static void check(const struct qs_board *b, const struct qs_wishes *wishes, bool settled, const char *items,
                  const char *choices)
{
    struct qs_err err = QS_ERR_INIT;
    QS_SCOPED(qs_pins_done) struct qs_pins pins = {0};
    QS_BUF(out);
    QS_BUF(texts);
    if (!qs_board_pin(b, wishes, settled, &pins, &err))
        fail_msg("%s", err.text);
    print(&pins, &out);
    for (size_t i = 0; i < pins.choices.count; i++)
        qs_buf_fmt(&texts, "%s%s", i > 0 ? "; " : "", pins.choices.at[i].text);
    assert_string_equal(out.len > 0 ? out.data : "", items);
    assert_string_equal(texts.len > 0 ? texts.data : "", choices);
}

static void refuse(const struct qs_board *b, const struct qs_wishes *wishes, enum qs_errc code,
                   const char *text)
{
    struct qs_err err = QS_ERR_INIT;
    struct qs_pins pins;
    assert_false(qs_board_pin(b, wishes, false, &pins, &err));
    assert_string_equal(err.text, text);
    assert_int_equal(err.code, code);
    assert_int_equal(pins.items.count + pins.choices.count, 0);
}

#define SWITCHES(...)                                                                                        \
    {                                                                                                        \
        .switches = (struct qs_switch_wish[]){__VA_ARGS__},                                                  \
        .switch_count = sizeof((struct qs_switch_wish[]){__VA_ARGS__}) / sizeof(struct qs_switch_wish)       \
    }

static void test_switches_by_name(void **state)
{
    (void)state;
    QS_SCOPED(qs_board_free_at) struct qs_board *b = made_up();
    const struct qs_wishes some =
        SWITCHES({.of = (char *)"fan:hwmon[01]", .to = QS_SWITCH_NUMBER, .number = 255},
                 {.of = (char *)"charging:battery", .to = QS_SWITCH_OFF});
    check(b, &some, false,
          "class/hwmon/hwmon0/pwm1=255 class/hwmon/hwmon1/pwm1=255 "
          "class/power_supply/battery/charging_enabled=0p",
          "fan:hwmon[01]: 255; charging:battery: off");
    const struct qs_wishes low = SWITCHES({.of = (char *)"fan:hwmon0", .to = QS_SWITCH_NUMBER, .number = 0});
    check(b, &low, false, "class/hwmon/hwmon0/pwm1=0", "fan:hwmon0: 0");
    const struct qs_wishes one = SWITCHES({.of = (char *)"online:cpu3", .to = QS_SWITCH_ON});
    check(b, &one, false, "cpu3/online=1 again", "online:cpu3: on");
}

static void test_switches_refused(void **state)
{
    (void)state;
    QS_SCOPED(qs_board_free_at) struct qs_board *b = made_up();
    const struct qs_wishes word = SWITCHES({.of = (char *)"fan:hwmon0", .to = QS_SWITCH_ON});
    refuse(b, &word, QS_E_JOB, "the switch `fan:hwmon0` takes a number from 0 to 255");
    const struct qs_wishes large =
        SWITCHES({.of = (char *)"fan:hwmon0", .to = QS_SWITCH_NUMBER, .number = 256});
    refuse(b, &large, QS_E_JOB, "the switch `fan:hwmon0` takes 0 to 255, not 256");
    const struct qs_wishes number = SWITCHES({.of = (char *)"boost", .to = QS_SWITCH_NUMBER, .number = 1});
    refuse(b, &number, QS_E_JOB, "the switch `boost` takes on or off, not 1");
    const struct qs_wishes closed = SWITCHES({.of = (char *)"fan:*", .to = QS_SWITCH_NUMBER, .number = 1});
    refuse(b, &closed, QS_E_DENIED,
           "the switch `fan:hwmon2` cannot be set: class/hwmon/hwmon2/pwm1 may not be written by the agent's "
           "user, or a profile says never to; as root it may");
    const struct qs_wishes none = SWITCHES({.of = (char *)"turbo", .to = QS_SWITCH_OFF});
    refuse(
        b, &none, QS_E_NOT_FOUND,
        "this device has no switch `turbo`: it has online:cpu1, online:cpu2, online:cpu3, "
        "idle:cpu0.state0, idle:cpu0.state1, idle:cpu0.state2, idle:cpu1.state0, idle:cpu1.state10, boost, "
        "charging:battery, fan:hwmon0, fan:hwmon1 and 1 more");
    struct qs_wishes twice = SWITCHES({.of = (char *)"boost", .to = QS_SWITCH_OFF});
    twice.boost = QS_SWITCH_ON;
    refuse(b, &twice, QS_E_JOB, "the job sets `boost` twice: by its name, a pattern or a word for its kind");
    QS_SCOPED(qs_board_free_at) struct qs_board *pi = tree_board(boards, "rpi4b", true);
    refuse(pi, &(struct qs_wishes){.boost = QS_SWITCH_OFF}, QS_E_NOT_FOUND,
           "this device has no switch `boost`: it has online:cpu1, online:cpu2, online:cpu3");
    refuse(pi, &(struct qs_wishes){.idle = true}, QS_E_NOT_FOUND,
           "this device has no switch `idle_states`: it has online:cpu1, online:cpu2, online:cpu3");
}

/* What protects a device from its own heat is switched by its name alone. */
static void test_protection(void **state)
{
    (void)state;
    QS_SCOPED(qs_board_free_at) struct qs_board *b = tree_board(boards, "sony-xperia-z-unrooted", true);
    const struct qs_wishes all = SWITCHES({.of = (char *)"*", .to = QS_SWITCH_ON});
    check(b, &all, false, "cpu2/online=1 cpu3/online=1 again", "*: on");
    const struct qs_wishes named = SWITCHES({.of = (char *)"msm-thermal", .to = QS_SWITCH_OFF});
    check(b, &named, false, "module/msm_thermal/parameters/enabled=N", "msm-thermal: off");
}

static void test_idle_and_boost(void **state)
{
    (void)state;
    QS_SCOPED(qs_board_free_at) struct qs_board *b = made_up();
    check(b, &(struct qs_wishes){.idle = true}, false,
          "cpu0/cpuidle/state1/disable=1 cpu0/cpuidle/state2/disable=1 cpu1/cpuidle/state10/disable=1",
          "idle states deeper than 0: off (3 files)");
    check(b, &(struct qs_wishes){.idle = true, .idle_deepest = 2}, false, "cpu1/cpuidle/state10/disable=1",
          "idle states deeper than 2: off (1 files)");
    check(b, &(struct qs_wishes){.idle = true, .idle_deepest = 10}, false, "",
          "idle states deeper than 10: off (0 files)");
    check(b, &(struct qs_wishes){.boost = QS_SWITCH_OFF}, false, "cpufreq/boost=0 again", "boost: off");
    check(b, &(struct qs_wishes){.boost = QS_SWITCH_ON}, false, "cpufreq/boost=1", "boost: on");
    check(b, &(struct qs_wishes){.boost = QS_SWITCH_OFF, .idle = true, .idle_deepest = 2}, true,
          "cpufreq/boost=0 cpu1/cpuidle/state10/disable=1",
          "boost: off; idle states deeper than 2: off (1 files)");
}

/* Those that come on stand before those that go. */
static void test_online(void **state)
{
    (void)state;
    QS_SCOPED(qs_board_free_at) struct qs_board *b = made_up();
    check(b, &(struct qs_wishes){.online = (char *)"0,3"}, false,
          "cpu3/online=1 cpu1/online=0 cpu2/online=0 again", "processors 0,3: online, others off");
    check(b, &(struct qs_wishes){.online = (char *)"little"}, false, "cpu2/online=0 again",
          "processors 0-1: online, others off");
    check(b, &(struct qs_wishes){.online = (char *)"all"}, false, "cpu3/online=1 again",
          "processors 0-3: online, others off");
    refuse(b, &(struct qs_wishes){.online = (char *)"big"}, QS_E_DENIED,
           "`online: big`: processor 0 cannot be switched off, so list it too: it has no file for it");
    refuse(b, &(struct qs_wishes){.online = (char *)"0,4"}, QS_E_NOT_FOUND,
           "the processors 0,4 are not all there: the device has 0-3");
    refuse(b, &(struct qs_wishes){.online = (char *)"prime"}, QS_E_NOT_FOUND,
           "this device has no processors `prime`: it has little (0-1) and big (2-3); write one of these, or "
           "CPUs such as 0-3");
    struct qs_wishes held = {.frequency = {[QS_DOMAIN_CPU] = {.how = QS_WISH_MAX}}};
    check(b, &held, false, "cpu3/online=1? again", "");
    held.online = (char *)"0-2"; /* those that the job wants off stay so */
    check(b, &held, true,
          "cpu1/online=1 cpu2/online=1 cpu3/online=0 cpufreq/policy0/scaling_governor=performance "
          "cpufreq/policy0/scaling_min_freq=600000 cpufreq/policy0/scaling_max_freq=1200000 "
          "cpufreq/policy0/scaling_min_freq=1200000",
          "processors 0-2: online, others off; policy0: 1200 MHz (its highest)");
}

static void test_governors(void **state)
{
    (void)state;
    QS_SCOPED(qs_board_free_at) struct qs_board *b = made_up();
    struct qs_wishes wishes = {.governor = {(char *)"userspace"}};
    check(b, &wishes, false, "cpufreq/policy0/scaling_governor=userspace", "policy0: governor userspace");
    wishes.frequency[QS_DOMAIN_CPU].how = QS_WISH_MIN; /* held under it, and set by its own file */
    check(b, &wishes, true,
          "cpufreq/policy0/scaling_governor=userspace cpufreq/policy0/scaling_min_freq=600000 "
          "cpufreq/policy0/scaling_max_freq=600000 cpufreq/policy0/scaling_min_freq=600000 "
          "cpufreq/policy0/scaling_setspeed=600000",
          "policy0: 600 MHz (its lowest)");
    refuse(b, &(struct qs_wishes){.governor = {(char *)"walt"}}, QS_E_JOB,
           "`governor: walt`: policy0 has no such governor: it has schedutil, userspace, performance");
    refuse(b, &(struct qs_wishes){.governor = {[QS_DOMAIN_GPU] = (char *)"performance"}}, QS_E_NOT_FOUND,
           "this device has no gpu governor: it has policy0 (cpu); leave `governor` out of it");
    QS_SCOPED(qs_board_free_at) struct qs_board *phone = tree_board(boards, "sony-xperia-z-unrooted", false);
    refuse(phone, &(struct qs_wishes){.governor = {(char *)"performance"}}, QS_E_DENIED,
           "`governor: performance`: the governor of cpu0 cannot be set: it has no file for it that the "
           "agent's user may write (as root it may)");
    QS_SCOPED(qs_board_free_at) struct qs_board *odroid = tree_board(boards, "odroid-xu3", true);
    check(odroid, &(struct qs_wishes){.governor = {(char *)"powersave"}}, false,
          "cpufreq/policy0/scaling_governor=powersave cpufreq/policy4/scaling_governor=powersave",
          "policy0: governor powersave; policy4: governor powersave");
}

static void test_clusters(void **state)
{
    (void)state;
    static const struct {
        const char *tree, *word, *cpus;
    } rows[] = {{"pixel6-oriole", "little", "0-3"},
                {"pixel6-oriole", "big", "4-5"},
                {"pixel6-oriole", "prime", "6-7"},
                {"pixel6-oriole", "all", "0-7"},
                {"rpi4b", "all", "0-3"},
                {"rpi4b", "1,3", "1,3"}};
    struct qs_err err = QS_ERR_INIT;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        QS_SCOPED(qs_board_free_at) struct qs_board *b = tree_board(boards, rows[i].tree, true);
        QS_FREED char *cpus = qs_board_cpus_of(b, rows[i].word, &err);
        assert_string_equal(cpus, rows[i].cpus);
    }
    QS_SCOPED(qs_board_free_at) struct qs_board *pixel = tree_board(boards, "pixel6-oriole", true);
    static const char *const turn[] = {"4", "5", "4", "5"};
    for (size_t i = 0; i < 4; i++) {
        QS_FREED char *one = qs_board_one_big(pixel, i, &err);
        assert_string_equal(one, turn[i]);
    }
    QS_SCOPED(qs_board_free_at) struct qs_board *pi = tree_board(boards, "rpi4b", true);
    assert_null(qs_board_one_big(pi, 0, &err));
    assert_string_equal(err.text,
                        "this device has no processors `big`: it has all (0-3); write one of these, or "
                        "CPUs such as 0-3");
    QS_SCOPED(qs_board_free_at) struct qs_board *empty = qs_calloc(1, sizeof *empty);
    assert_null(qs_board_cpus_of(empty, "all", &err));
    assert_string_equal(err.text,
                        "this device has no processors `all`: its processors are not told apart; write "
                        "one of these, or CPUs such as 0-3");
    assert_null(qs_board_cpus_of(empty, "0", &err));
}

/* A knob that nobody here has heard of: a row of a profile, and no more. */
static void test_a_profile_alone(void **state)
{
    (void)state;
    static const char text[] = "profile: mine\n"
                               "extends: generic\n"
                               "switches:\n"
                               "  governor-of-ram:\n"
                               "    {kind: other, name: ram-refresh, each: devices/ram, file: refresh, low: "
                               "8, high: 64, persistent: true}\n"
                               "  lights: {kind: other, name: \"light:{folder}\", each: class/leds/*, file: "
                               "brightness, low: 0, high: 255}\n";
    QS_SCOPED(qs_profiles_done) struct qs_profiles profiles = {0};
    QS_SCOPED(qs_problems_done) struct qs_problems problems = {0};
    QS_SCOPED(qs_doc_free_at) struct qs_doc *doc = NULL;
    QS_SCOPED(qs_survey_done) struct qs_survey survey = {0};
    tree_profiles(&profiles, false);
    assert_true(qs_doc_read("mine", text, strlen(text), false, &doc, &problems) &&
                qs_profiles_add(&profiles, doc, false, &problems));
    QS_SCOPED(qs_strings_done) struct qs_strings patterns = {0};
    qs_board_survey_patterns(&profiles, &patterns);
    bool asked = false;
    for (size_t i = 0; i < patterns.count; i++)
        asked = asked || strcmp(patterns.at[i], "devices/ram/refresh") == 0;
    assert_true(asked);
    add_files(&survey);
    qs_survey_add(&survey, "devices/ram/refresh", RW, QS_READING_OK, 0, "32\n", 3);
    qs_survey_add(&survey, "class/leds/red/brightness", RW, QS_READING_OK, 0, "0\n", 2);
    qs_survey_add(&survey, "class/leds/blue/brightness", RW, QS_READING_OK, 0, "0\n", 2);
    QS_SCOPED(qs_board_free_at) struct qs_board *b = qs_board_new(&profiles, &survey, NULL);
    const struct qs_wishes wishes =
        SWITCHES({.of = (char *)"ram-refresh", .to = QS_SWITCH_NUMBER, .number = 64},
                 {.of = (char *)"light:*", .to = QS_SWITCH_NUMBER, .number = 0});
    check(b, &wishes, false,
          "devices/ram/refresh=64p class/leds/blue/brightness=0 class/leds/red/brightness=0",
          "ram-refresh: 64; light:*: 0");
}

/* Options of the kernel, services with rows of their own and others, and what takes the processor from
 * SCHED_FIFO. */
static struct qs_board *with_options(unsigned access)
{
    static const char text[] = "profile: mine\n"
                               "extends: generic\n"
                               "switches:\n"
                               "  cool: {kind: thermal, name: \"service:coold\", get: [q, coold], set_on: "
                               "[start, coold], set_off: [stop, coold], "
                               "on: running, off: stopped}\n"
                               "  any: {kind: other, name: \"service:{arg}\", get: [q, \"{arg}\"], set_on: "
                               "[start, \"{arg}\"], set_off: [stop, "
                               "\"{arg}\"], on: running, off: stopped}\n"
                               "  other: {kind: thermal, name: \"thermal-service:{arg}\", get: [q, "
                               "\"{arg}\"], set_on: [start, \"{arg}\"], "
                               "set_off: [stop, \"{arg}\"], on: running, off: stopped}\n";
    QS_SCOPED(qs_profiles_done) struct qs_profiles profiles = {0};
    QS_SCOPED(qs_problems_done) struct qs_problems problems = {0};
    QS_SCOPED(qs_doc_free_at) struct qs_doc *doc = NULL;
    QS_SCOPED(qs_survey_done) struct qs_survey survey = {0};
    tree_profiles(&profiles, false);
    if (!qs_doc_read("mine", text, strlen(text), false, &doc, &problems) ||
        !qs_profiles_add(&profiles, doc, false, &problems))
        fail_msg("%s", problems.at[0].what);
    qs_survey_add(&survey, "proc/sys/kernel/sched_rt_runtime_us", access, QS_READING_OK, 0, "950000\n", 7);
    qs_survey_add(&survey, "proc/sys/kernel/randomize_va_space", access, QS_READING_OK, 0, "2\n", 2);
    qs_survey_add(&survey, "proc/sys/vm/swappiness", access, QS_READING_OK, 0, "60\n", 3);
    return qs_board_new(&profiles, &survey, NULL);
}

static void test_options_of_the_kernel(void **state)
{
    (void)state;
    QS_SCOPED(qs_board_free_at) struct qs_board *b = with_options(RW);
    const struct qs_wishes some =
        SWITCHES({.of = (char *)"kernel:aslr", .to = QS_SWITCH_OFF},
                 {.of = (char *)"kernel:swappiness", .to = QS_SWITCH_NUMBER, .number = 0});
    check(b, &some, false, "proc/sys/kernel/randomize_va_space=0 proc/sys/vm/swappiness=0",
          "kernel:aslr: off; kernel:swappiness: 0");
    const struct qs_wishes drop = SWITCHES({.of = (char *)"drop-caches", .to = QS_SWITCH_ON});
    check(b, &drop, false, "off\n\non\tsh\t-c\tsync; sysctl -w vm.drop_caches=3\noff\ttrue=on",
          "drop-caches: on");
}

/* What is at fault for a processor that goes is off for SCHED_FIFO, and nobody has to ask for that. */
static void test_unthrottled(void **state)
{
    (void)state;
    QS_SCOPED(qs_board_free_at) struct qs_board *b = with_options(RW);
    QS_SCOPED(qs_board_free_at) struct qs_board *closed = with_options(QS_BOARD_READABLE);
    QS_SCOPED(qs_board_free_at) struct qs_board *none = made_up();
    check(b, &(struct qs_wishes){.unthrottled = true}, false, "proc/sys/kernel/sched_rt_runtime_us=-1?",
          "kernel:realtime-throttling: off");
    struct qs_wishes own = SWITCHES({.of = (char *)"kernel:realtime-throttling", .to = QS_SWITCH_ON});
    own.unthrottled = true; /* the job says otherwise */
    check(b, &own, false, "proc/sys/kernel/sched_rt_runtime_us=950000", "kernel:realtime-throttling: on");
    check(closed, &(struct qs_wishes){.unthrottled = true}, false, "", "");
    check(none, &(struct qs_wishes){.unthrottled = true}, false, "", "");
}

static void check_thermal(const struct qs_board *b, const char *name, enum qs_switch_to to, const char *names,
                          const char *items)
{
    struct qs_err err = QS_ERR_INIT;
    QS_SCOPED(qs_pins_done) struct qs_pins pins = {0};
    QS_BUF(found);
    QS_BUF(out);
    const struct qs_wishes wishes = SWITCHES({.of = (char *)name, .to = to});
    if (!qs_board_pin(b, &wishes, false, &pins, &err))
        fail_msg("%s", err.text);
    for (size_t i = 0; i < pins.thermal.count; i++)
        qs_buf_fmt(&found, "%s%s", i > 0 ? " " : "", pins.thermal.at[i]);
    assert_string_equal(found.data, names);
    print(&pins, &out);
    assert_string_equal(out.data, items);
}

#define SERVICE(name) "\tq\t" name "\n\nrunning\tstart\t" name "\nstopped\tstop\t" name

/* A job that takes protection away is told from one that does not; a row of its own goes before one for all.
 */
static void test_what_is_protection(void **state)
{
    (void)state;
    QS_SCOPED(qs_board_free_at) struct qs_board *b = with_options(RW);
    check_thermal(b, "service:coold", QS_SWITCH_OFF, "service:coold", SERVICE("coold") "=stopped");
    check_thermal(b, "service:coold", QS_SWITCH_ON, "", SERVICE("coold") "=running");
    check_thermal(b, "service:cron", QS_SWITCH_OFF, "", SERVICE("cron") "=stopped");
    check_thermal(b, "thermal-service:my.coold", QS_SWITCH_OFF, "thermal-service:{arg}",
                  SERVICE("my.coold") "=stopped");
    check_thermal(b, "kernel:aslr", QS_SWITCH_OFF, "", "proc/sys/kernel/randomize_va_space=0");
}

/* Levels are places in a table, in which a frequency may stand twice: the first of them is taken. */
static void test_repeated_levels(void **state)
{
    (void)state;
    static const struct {
        const char *wish, *level;
    } rows[] = {{"max", "0"}, {"300MHz", "2"}, {"50%", "4"}, {"min", "4"}};
    QS_SCOPED(qs_profiles_done) struct qs_profiles profiles = {0};
    QS_SCOPED(qs_survey_done) struct qs_survey survey = {0};
    tree_profiles(&profiles, false);
#define KGSL "class/kgsl/kgsl-3d0/"
    static const char table[] = "450000000 450000000 300000000 300000000 200000000 200000000 27000000\n";
    qs_survey_add(&survey, KGSL "gpu_available_frequencies", RW, QS_READING_OK, 0, table, strlen(table));
    qs_survey_add(&survey, KGSL "min_pwrlevel", RW, QS_READING_OK, 0, "5", 1);
    qs_survey_add(&survey, KGSL "max_pwrlevel", RW, QS_READING_OK, 0, "1", 1);
    QS_SCOPED(qs_board_free_at) struct qs_board *b = qs_board_new(&profiles, &survey, NULL);
    const struct qs_board_domain *d = qs_board_domain(b, "kgsl");
    assert_non_null(d);
    assert_int_equal(d->steps_khz.count, 3);
    assert_int_equal(d->min_khz, 200000);
    assert_int_equal(d->max_khz, 450000);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct qs_err err = QS_ERR_INIT;
        struct qs_scalar_why why;
        struct qs_wishes wishes = {.switch_count = 0};
        QS_SCOPED(qs_pins_done) struct qs_pins pins = {0};
        assert_true(qs_wish_read(rows[i].wish, &wishes.frequency[QS_DOMAIN_GPU], &why));
        assert_true(qs_board_pin(b, &wishes, true, &pins, &err));
        assert_int_equal(pins.items.count, 3);
        assert_string_equal(pins.items.at[0].value, "4");
        assert_string_equal(pins.items.at[1].value, rows[i].level);
        assert_string_equal(pins.items.at[2].value, rows[i].level);
    }
}

int main(int argc, char **argv)
{
    if (argc != 3)
        return 2;
    boards = argv[1];
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_switches_by_name),
                                       cmocka_unit_test(test_switches_refused),
                                       cmocka_unit_test(test_protection),
                                       cmocka_unit_test(test_idle_and_boost),
                                       cmocka_unit_test(test_online),
                                       cmocka_unit_test(test_governors),
                                       cmocka_unit_test(test_clusters),
                                       cmocka_unit_test(test_a_profile_alone),
                                       cmocka_unit_test(test_options_of_the_kernel),
                                       cmocka_unit_test(test_unthrottled),
                                       cmocka_unit_test(test_what_is_protection),
                                       cmocka_unit_test(test_repeated_levels)};
    return cmocka_run_group_tests_name("device switches", tests, NULL, NULL);
}
