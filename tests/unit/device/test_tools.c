/* Switches that are commands: what the agent is given for those of Android that a job names, word for word;
 * and which are refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "config/profile/tool.h"
#include "device/board/pin.h"
#include "tree.h"

#define ANDROID "{\"os\":\"Android\"}"
enum { SURVIVES = QS_PIN_PERSISTENT | QS_PIN_COMMAND, BLIND = QS_PIN_COMMAND | QS_PIN_NO_READ_BACK };

static struct qs_board *board_of(const char *facts)
{
    QS_SCOPED(qs_profiles_done) struct qs_profiles profiles = {0};
    QS_SCOPED(qs_survey_done) struct qs_survey survey = {0};
    tree_profiles(&profiles, true);
    return qs_board_new(&profiles, &survey, facts);
}

struct sent {
    const char *path, *value;
    unsigned flags;
};

static void check(const char *name, enum qs_switch_to to, int64_t number, const struct sent *sent,
                  size_t count)
{
    QS_SCOPED(qs_board_free_at) struct qs_board *b = board_of(ANDROID);
    QS_SCOPED(qs_pins_done) struct qs_pins pins = {0};
    struct qs_err err = QS_ERR_INIT;
    struct qs_switch_wish wish = {.of = (char *)name, .to = to, .number = number};
    const struct qs_wishes wishes = {.switches = &wish, .switch_count = 1};
    if (!qs_board_pin(b, &wishes, false, &pins, &err))
        fail_msg("%s: %s", name, err.text);
    assert_int_equal(pins.items.count, count);
    for (size_t i = 0; i < count; i++) {
        assert_string_equal(pins.items.at[i].path, sent[i].path);
        assert_string_equal(pins.items.at[i].value, sent[i].value);
        assert_int_equal(pins.items.at[i].flags, sent[i].flags);
        assert_true(qs_tool_is(pins.items.at[i].path));
    }
}

#define GLOBAL(key)                                                                                          \
    "\tsettings\tget\tglobal\t" key "\nsettings\tput\tglobal\t" key "\t{}\n"                                 \
    "null\tsettings\tdelete\tglobal\t" key
#define SYSTEM(key)                                                                                          \
    "\tsettings\tget\tsystem\t" key "\nsettings\tput\tsystem\t" key "\t{}\n"                                 \
    "null\tsettings\tdelete\tsystem\t" key
#define SECURE(key)                                                                                          \
    "\tsettings\tget\tsecure\t" key "\nsettings\tput\tsecure\t" key "\t{}\n"                                 \
    "null\tsettings\tdelete\tsecure\t" key
#define SERVICE(name) "\tgetprop\tinit.svc." name "\n\nrunning\tstart\t" name "\nstopped\tstop\t" name
#define RADIO(key, name)                                                                                     \
    "\tsettings\tget\tglobal\t" key "\n\n1\tsvc\t" name "\tenable\n0\tsvc\t" name "\tdisable"
#define AIRPLANE                                                                                             \
    "\tsettings\tget\tglobal\tairplane_mode_on\n\n1\tcmd\tconnectivity\tairplane-mode\tenable\n"             \
    "0\tcmd\tconnectivity\tairplane-mode\tdisable"

static void test_values(void **state)
{
    static const struct {
        const char *name;
        enum qs_switch_to to;
        int64_t number;
        struct sent sent;
    } rows[] = {
        {"airplane", QS_SWITCH_ON, 0, {AIRPLANE, "1", SURVIVES}},
        {"airplane", QS_SWITCH_OFF, 0, {AIRPLANE, "0", SURVIVES}},
        {"wifi", QS_SWITCH_OFF, 0, {RADIO("wifi_on", "wifi"), "0", SURVIVES}},
        {"bluetooth", QS_SWITCH_OFF, 0, {RADIO("bluetooth_on", "bluetooth"), "0", SURVIVES}},
        {"stay-awake", QS_SWITCH_ON, 0, {GLOBAL("stay_on_while_plugged_in"), "3", SURVIVES}},
        {"brightness", QS_SWITCH_NUMBER, 5, {SYSTEM("screen_brightness"), "5", SURVIVES}},
        {"brightness-auto", QS_SWITCH_OFF, 0, {SYSTEM("screen_brightness_mode"), "0", SURVIVES}},
        {"animation:window", QS_SWITCH_OFF, 0, {GLOBAL("window_animation_scale"), "0", SURVIVES}},
        {"rotation", QS_SWITCH_OFF, 0, {SYSTEM("accelerometer_rotation"), "0", SURVIVES}},
        {"auto-time", QS_SWITCH_OFF, 0, {GLOBAL("auto_time"), "0", SURVIVES}},
        {"fixed-performance",
         QS_SWITCH_ON,
         0,
         {"false\ncmd\tpower\tset-fixed-performance-mode-enabled\t{}", "true", BLIND}},
        {"standby:org.example",
         QS_SWITCH_OFF,
         0,
         {"\tam\tget-standby-bucket\torg.example\nam\tset-standby-bucket\torg.example\t{}", "40", SURVIVES}},
        {"app:org.example_2",
         QS_SWITCH_OFF,
         0,
         {"on\n\non\ttrue\noff\tam\tforce-stop\torg.example_2", "off", BLIND}},
        {"background-apps", QS_SWITCH_OFF, 0, {"on\n\non\ttrue\noff\tam\tkill-all", "off", BLIND}},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        check(rows[i].name, rows[i].to, rows[i].number, &rows[i].sent, 1);
    static const struct sent all[] = {{GLOBAL("window_animation_scale"), "0", SURVIVES},
                                      {GLOBAL("transition_animation_scale"), "0", SURVIVES},
                                      {GLOBAL("animator_duration_scale"), "0", SURVIVES}};
    check("animation:*", QS_SWITCH_OFF, 0, all, 3);
}

/* Radios and services, and what runs in the background. */
static void test_what_disturbs(void **state)
{
    static const struct {
        const char *name;
        enum qs_switch_to to;
        int64_t number;
        struct sent sent;
    } rows[] = {
        {"mobile-data", QS_SWITCH_OFF, 0, {RADIO("mobile_data", "data"), "0", SURVIVES}},
        {"nfc", QS_SWITCH_OFF, 0, {RADIO("nfc_on", "nfc"), "0", SURVIVES}},
        {"location",
         QS_SWITCH_OFF,
         0,
         {"\tsettings\tget\tsecure\tlocation_mode\nsettings\tput\tsecure\tlocation_mode\t{}", "0", SURVIVES}},
        {"screensaver", QS_SWITCH_OFF, 0, {SECURE("screensaver_enabled"), "0", SURVIVES}},
        {"screen-timeout", QS_SWITCH_NUMBER, 1800000, {SYSTEM("screen_off_timeout"), "1800000", SURVIVES}},
        {"verifier", QS_SWITCH_OFF, 0, {GLOBAL("verifier_verify_adb_installs"), "0", SURVIVES}},
        {"doze",
         QS_SWITCH_OFF,
         0,
         {"\tdumpsys\tdeviceidle\tenabled\tall\n\n1\tdumpsys\tdeviceidle\tenable\tall\n0\tdumpsys\tdeviceidle"
          "\tdisable"
          "\tall",
          "0", QS_PIN_COMMAND}},
        {"background:org.example_2",
         QS_SWITCH_OFF,
         0,
         {": "
          "\tcmd\tappops\tget\torg.example_2\tRUN_IN_BACKGROUND\ncmd\tappops\tset\torg.example_2\tRUN_IN_"
          "BACKGROUND\t{}"
          "\ndefault\tdefault",
          "ignore", SURVIVES}},
        {"service:mpdecision", QS_SWITCH_OFF, 0, {SERVICE("mpdecision"), "stopped", QS_PIN_COMMAND}},
        {"service:vendor.thermal-engine",
         QS_SWITCH_OFF,
         0,
         {SERVICE("vendor.thermal-engine"), "stopped", QS_PIN_COMMAND}},
        {"thermal-service:odm.thermal",
         QS_SWITCH_OFF,
         0,
         {SERVICE("odm.thermal"), "stopped", QS_PIN_COMMAND}},
        {"power-hal",
         QS_SWITCH_OFF,
         0,
         {"\tgetprop\tvendor.powerhal.init\nsetprop\tvendor.powerhal.init\t{}", "0", QS_PIN_COMMAND}},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        check(rows[i].name, rows[i].to, rows[i].number, &rows[i].sent, 1);
}

/* What protects it from heat is of that kind, each of them, and nothing else is. */
static void test_protection(void **state)
{
    (void)state;
    size_t thermal = 0;
    QS_SCOPED(qs_board_free_at) struct qs_board *b = board_of(ANDROID);
    assert_int_equal(b->switches.count, 32);
    for (size_t i = 0; i < b->switches.count; i++) {
        const struct qs_board_switch *s = &b->switches.at[i];
        bool protects = s->kind == QS_SWITCH_THERMAL;
        thermal += protects;
        assert_true(protects || s->kind == QS_SWITCH_OTHER);
        assert_int_equal(protects, strstr(s->name, "thermal") != NULL);
        assert_true(!protects || strstr(s->path, "\tstop\t") != NULL);
    }
    assert_int_equal(thermal, 7);
    QS_SCOPED(qs_board_free_at) struct qs_board *other = board_of("{\"os\":\"Debian GNU/Linux 12\"}");
    assert_int_equal(other->switches.count, 0);
}

/* Services of systemd and control groups, on a machine that has them. */
static void test_systemd(void **state)
{
    static const struct {
        const char *name, *path;
        enum qs_switch_kind kind;
    } rows[] = {
#define UNIT(name)                                                                                           \
    "ActiveState=\tsystemctl\tshow\t-p\tActiveState\t" name "\n\nactive\tsystemctl\tstart\t" name            \
    "\ninactive\tsystemctl\tstop\t" name
        {"service:thermald", UNIT("thermald"), QS_SWITCH_THERMAL},
        {"thermal-service:{arg}", UNIT("{arg}"), QS_SWITCH_THERMAL},
        {"service:{arg}", UNIT("{arg}"), QS_SWITCH_OTHER},
        {"freeze:user.slice", "fs/cgroup/user.slice/cgroup.freeze", QS_SWITCH_FREEZE},
        {"freeze:system.slice", "fs/cgroup/system.slice/cgroup.freeze", QS_SWITCH_FREEZE}};
    static const char *const files[] = {"fs/cgroup/init.scope/cgroup.procs",
                                        "fs/cgroup/user.slice/cgroup.freeze",
                                        "fs/cgroup/system.slice/cgroup.freeze"};
    (void)state;
    QS_SCOPED(qs_profiles_done) struct qs_profiles profiles = {0};
    QS_SCOPED(qs_survey_done) struct qs_survey survey = {0};
    tree_profiles(&profiles, true);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        qs_survey_add(&survey, files[i], QS_BOARD_READABLE | QS_BOARD_WRITABLE, QS_READING_OK, 0, "0\n", 2);
    QS_SCOPED(qs_board_free_at) struct qs_board *b = qs_board_new(&profiles, &survey, "{\"os\":\"Debian\"}");
    assert_int_equal(b->switches.count, sizeof rows / sizeof *rows);
    for (size_t i = 0; i < b->switches.count; i++) {
        size_t k = 0;
        while (k < sizeof rows / sizeof *rows && strcmp(rows[k].name, b->switches.at[i].name) != 0)
            k++;
        if (k == sizeof rows / sizeof *rows)
            fail_msg("%s", b->switches.at[i].name);
        assert_string_equal(b->switches.at[i].path, rows[k].path);
        assert_int_equal(b->switches.at[i].kind, rows[k].kind);
    }
}

static void refuse(const char *name, const char *again, const char *text)
{
    QS_SCOPED(qs_board_free_at) struct qs_board *b = board_of(ANDROID);
    QS_SCOPED(qs_pins_done) struct qs_pins pins = {0};
    struct qs_err err = QS_ERR_INIT;
    struct qs_switch_wish wishes[] = {{.of = (char *)name, .to = QS_SWITCH_OFF},
                                      {.of = (char *)again, .to = QS_SWITCH_OFF}};
    const struct qs_wishes all = {.switches = wishes, .switch_count = again != NULL ? 2 : 1};
    assert_false(qs_board_pin(b, &all, false, &pins, &err));
    if (strncmp(err.text, text, strlen(text)) != 0)
        fail_msg("%s", err.text);
}

/* What a job writes for {arg} is one word and no option: nothing else of a command is its own. */
static void test_arguments(void **state)
{
    static const char *const none[] = {"standby:",     "standby:-n",   "standby:a b",     "standby:a\tb",
                                       "standby:a\nb", "standby:$(x)", "standby:{value}", "standby:*"};
    char name[300] = "standby:";
    (void)state;
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        refuse(none[i], NULL, "this device has no switch `standby:");
    memset(name + 8, 'x', 250);
    refuse(name, NULL, "`standby:xxx");
    refuse("standby:a", "standby:a", "the job sets `standby:{arg}` twice");
    QS_SCOPED(qs_board_free_at) struct qs_board *b = board_of(ANDROID);
    QS_SCOPED(qs_pins_done) struct qs_pins pins = {0};
    struct qs_switch_wish two[] = {{.of = (char *)"standby:a", .to = QS_SWITCH_OFF},
                                   {.of = (char *)"standby:b", .to = QS_SWITCH_ON}};
    assert_true(
        qs_board_pin(b, &(struct qs_wishes){.switches = two, .switch_count = 2}, false, &pins, &QS_ERR_INIT));
    assert_int_equal(pins.items.count, 2);
    assert_string_equal(pins.items.at[1].value, "10");
    assert_string_equal(pins.items.at[1].path, "\tam\tget-standby-bucket\tb\nam\tset-standby-bucket\tb\t{}");
}

static void test_shown(void **state)
{
    static const struct {
        const char *path, *shown;
    } rows[] = {{AIRPLANE, "settings get global airplane_mode_on"},
                {"RUN: \tops\tget\tp\nops\tset\tp\t{}", "ops get p"},
                {"false\ncmd\tpower\tset\t{}", "cmd power set {}"},
                {"on\n\non\ttrue\noff\tam\tkill-all", "am kill-all"},
                {"class/leds/lamp", "class/leds/lamp"}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        QS_BUF(out);
        qs_tool_show(rows[i].path, &out);
        assert_string_equal(out.data, rows[i].shown);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),     cmocka_unit_test(test_what_disturbs),
        cmocka_unit_test(test_protection), cmocka_unit_test(test_systemd),
        cmocka_unit_test(test_arguments),  cmocka_unit_test(test_shown)};
    return cmocka_run_group_tests_name("tools", tests, NULL, NULL);
}
