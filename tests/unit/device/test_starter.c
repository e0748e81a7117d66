/* Starter profiles: what is written for each tree reads back, fits the device it was made of, and leaves its
 * board as it was. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "config/document/load.h"
#include "device/board/starter.h"
#include "tree.h"

static const char *trees, *golden;

#define WALL INT64_C(1795363303144541281) /* 2026-11-22 */

static struct qs_board *made(const struct qs_profiles *profiles, const struct qs_survey *survey,
                             const char *facts)
{
    return qs_board_new(profiles, survey, facts);
}

/* Adds the text as a profile of the farm's own. */
static void take(struct qs_profiles *profiles, const char *text)
{
    QS_SCOPED(qs_problems_done) struct qs_problems problems = {0};
    QS_SCOPED(qs_doc_free_at) struct qs_doc *doc = NULL;
    QS_BUF(why);
    bool ok = qs_doc_read("starter.yaml", text, strlen(text), false, &doc, &problems) &&
              qs_profiles_add(profiles, doc, true, &problems);
    qs_problems_text(&problems, text, &why);
    if (!ok)
        fail_msg("%s\n%s", why.data, text);
}

/* The same but for its profiles: the new one stands first. */
static void check_same(const struct qs_board *before, struct qs_board *after, const char *name,
                       const char *text)
{
    QS_BUF(want);
    QS_BUF(got);
    if (after->profiles.count != before->profiles.count + 1 || strcmp(after->profiles.at[0], name) != 0)
        fail_msg("%s does not fit its device:\n%s", name, text);
    free(after->profiles.at[0]);
    after->profiles.count--;
    memmove(after->profiles.at, after->profiles.at + 1, after->profiles.count * sizeof *after->profiles.at);
    qs_board_json(before, &want);
    qs_board_json(after, &got);
    assert_string_equal(got.data, want.data);
}

/* Writes a profile of what the survey has, reads it, and makes the board again; the text is the caller's. */
static char *round_trip(const struct qs_survey *survey, const char *facts, const char *device,
                        const char *name)
{
    QS_SCOPED(qs_profiles_done) struct qs_profiles profiles = {0};
    tree_profiles(&profiles, true);
    QS_SCOPED(qs_board_free_at) struct qs_board *before = made(&profiles, survey, facts);
    struct qs_starter of = {.device = device,
                            .board = before,
                            .facts_json = facts,
                            .profiles = &profiles,
                            .probed_wall_ns = WALL};
    QS_FREED char *its = NULL;
    QS_BUF(text);
    qs_starter_profile(&of, &text, &its);
    assert_string_equal(its, name);
    take(&profiles, text.data);
    QS_SCOPED(qs_board_free_at) struct qs_board *after = made(&profiles, survey, facts);
    check_same(before, after, name, text.data);
    return qs_buf_take(&text);
}

static void check_golden(const char *tree, const char *text)
{
    size_t len = 0;
    struct qs_err err = QS_ERR_INIT;
    QS_FREED char *path = qs_asprintf("%s/%s.starter.yaml", golden, tree);
    if (getenv("QS_GOLDEN_UPDATE") != NULL) {
        FILE *f = fopen(path, "wb");
        assert_non_null(f);
        assert_int_equal(fwrite(text, 1, strlen(text), f), strlen(text));
        assert_int_equal(fclose(f), 0);
    }
    QS_FREED char *expected = qs_load_text(path, &len, &err);
    assert_non_null(expected);
    assert_int_equal(len, strlen(text));
    assert_memory_equal(text, expected, len);
}

static const char *const names[] = {"huawei-p8lite2017", "odroid-xu3", "pixel6-oriole",
                                    "rock5b-rk3588",     "rpi4b",      "sony-xperia-z-unrooted"};

static void survey_of(const char *tree, bool root, struct qs_survey *ret)
{
    QS_SCOPED(qs_profiles_done) struct qs_profiles profiles = {0};
    QS_SCOPED(qs_strings_done) struct qs_strings patterns = {0};
    QS_FREED char *path = qs_asprintf("%s/%s.tree.tsv", trees, tree);
    tree_profiles(&profiles, true);
    qs_board_survey_patterns(&profiles, &patterns);
    tree_survey(path, &patterns, root, ret);
}

static void test_every_tree(void **state)
{
    static const char facts[] = "{\"cpu_model\":\"a [board] \\\"with\\\" *\",\"machine\":\"aarch64\"}";
    static const char phone[] =
        "{\"fingerprint\":\"google/oriole/oriole:13/TQ1A.230105.002/9325679:user\",\"machine\":\"aarch64\"}";
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct qs_survey survey = {0};
        bool root = strstr(names[i], "unrooted") == NULL;
        survey_of(names[i], root, &survey);
        QS_FREED char *text = round_trip(&survey, facts, "board", "board");
        assert_non_null(strstr(
            text,
            "  - facts: {\"machine\": \"aarch64\", \"cpu_model\": \"a [[]board] \\\"with\\\" [*]\"}\n"));
        check_golden(names[i], text);
        QS_FREED char *android = round_trip(&survey, phone, "a phone: 1", "a phone: 1");
        assert_non_null(
            strstr(android, "  - facts: {\"fingerprint\": \"google/oriole/oriole:*\"}\n    files: {"));
        QS_FREED char *bare = round_trip(&survey, NULL, "rpi4b", "rpi4b-2"); /* that one is built in */
        assert_non_null(strstr(bare, "\nmatch:\n  - files: {\"devices/"));
        qs_survey_done(&survey);
    }
}

static void add(struct qs_survey *survey, const char *path, const char *value)
{
    qs_survey_add(survey, path, QS_BOARD_READABLE, QS_READING_OK, 0, value, strlen(value));
}

static void add_zone(struct qs_survey *survey, unsigned n, const char *type, const char *temp)
{
    char path[64];
    snprintf(path, sizeof path, "class/thermal/thermal_zone%u/type", n);
    add(survey, path, type);
    snprintf(path, sizeof path, "class/thermal/thermal_zone%u/temp", n);
    add(survey, path, temp);
}

/* Types with all that YAML and patterns have signs for; of one type in two units nothing is said. */
static void test_odd_types(void **state)
{
    struct qs_survey survey = {0};
    (void)state;
    add_zone(&survey, 0, "we\"ird*[x]?\\{}: #&", "42000");
    add_zone(&survey, 1, "twice", "42");
    add_zone(&survey, 2, "Twice", "43000");
    add_zone(&survey, 3, "off", "0");
    add_zone(&survey, 4, "- a", "400");
    add_zone(&survey, 5, "vdroop1", "7");
    QS_FREED char *text = round_trip(&survey, "{\"cpu_model\":\"x\\ty\"}", "# \"d\\", "# \"d\\");
    qs_survey_done(&survey);
    static const char *const wanted[] = {
        "profile: \"# \\\"d\\\\\"\n",
        "extends: \"generic\"\n",
        "facts: {\"cpu_model\": \"x\\x09y\"}\n",
        "  - {role: other, unit: mC, types: [\"we\\\"ird[*][[]x][?]\\\\{}: #&\"]}\n",
        "  - {role: other, unit: dC, types: [\"- a\"]}\n",
        "  - {types: [\"vdroop1\"], reject: \"an alarm or a state, no temperature\"}\n",
        "  # - {types: [\"off\"], reject: \"it reads exactly 0: no sensor is connected\"}\n"};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        if (strstr(text, wanted[i]) == NULL)
            fail_msg("no `%s` in:\n%s", wanted[i], text);
    assert_null(strstr(text, "wice"));
}

/* More than its rows have room for. */
static void test_many(void **state)
{
    struct qs_survey survey = {0};
    char type[16];
    (void)state;
    for (unsigned i = 0; i < 250; i++) {
        snprintf(type, sizeof type, i % 2 ? "zone%u" : "vdroop%u", i);
        add_zone(&survey, i, type, "42000");
    }
    QS_FREED char *text = round_trip(&survey, "{\"machine\":\"m\"}", "many", "many");
    qs_survey_done(&survey);
    assert_non_null(strstr(text, "\"zone249\"]}\n"));
    assert_non_null(strstr(text, "  # - {types: [\"vdroop248\"], reject: "));
    assert_non_null(strstr(text, "  - {types: [\"vdroop0\"], reject: "));
}

/* Nothing is known: the text says that it is for every device. */
static void test_nothing(void **state)
{
    struct qs_survey survey = {0};
    (void)state;
    add(&survey, "devices/system/cpu/present", "0-3");
    QS_FREED char *text = round_trip(&survey, NULL, "bare", "bare");
    qs_survey_done(&survey);
    assert_non_null(strstr(text, "  # every device, until you write what tells this one from others\n"));
    assert_null(strstr(text, "\ntypes:"));
}

/* What was tried: clocks that follow, settings and sensors that cannot be relied on. */
static void test_what_was_tried(void **state)
{
    struct qs_survey survey = {0};
    (void)state;
    survey_of("odroid-xu3", true, &survey);
    QS_SCOPED(qs_profiles_done) struct qs_profiles profiles = {0};
    tree_profiles(&profiles, true);
    QS_SCOPED(qs_board_free_at) struct qs_board *before = made(&profiles, &survey, NULL);
    const struct qs_knob_row knobs[] = {
        {.name = "policy0", .kind = "cpu", .sticks = "yes", .effect = "yes"},
        {.name = "policy4",
         .kind = "cpu",
         .sticks = "ignored",
         .effect = "unknown",
         .why = "200\rwas written\n- x"},
        {.name = "idle:cpu0.state1", .kind = "idle", .sticks = "untried", .effect = "unknown", .why = "no"}};
    const struct qs_model_row sensors[] = {
        {.kind = "sensor", .sensor = "thermal:cpu0-thermal", .says = "still", .why = "it stayed at 45.0 C"}};
    struct qs_starter of = {.device = "xu",
                            .board = before,
                            .profiles = &profiles,
                            .probed_wall_ns = WALL,
                            .knobs = knobs,
                            .knob_count = 3,
                            .sensors = sensors,
                            .sensor_count = 1};
    QS_FREED char *name = NULL;
    QS_BUF(text);
    qs_starter_profile(&of, &text, &name);
    assert_non_null(strstr(
        text.data,
        "#   policy0 (cpu, CPUs 0-3): 200 to 1400 MHz, in steps; can be held, and its clock follows\n"));
    assert_non_null(
        strstr(text.data, "#   policy4 (cpu, CPUs 4-7): 200 to 2000 MHz, in steps; can be held\n"));
    assert_non_null(strstr(text.data,
                           "What cannot be held, or cannot be relied on, and what it would need:\n"
                           "#   policy4 cannot be relied on (ignored): 200 was written\n#   - x\n"));
    assert_null(strstr(text.data, "was tried"));
    assert_null(strstr(text.data, "idle:cpu0"));
    assert_non_null(strstr(text.data, "  - {types: [\"cpu0-thermal\"], reject: \"it stayed at 45.0 C\"}\n"));
    take(&profiles, text.data);
    QS_SCOPED(qs_board_free_at) struct qs_board *after = made(&profiles, &survey, NULL);
    qs_survey_done(&survey);
    const struct qs_board_sensor *s = qs_board_sensor(after, "thermal:cpu0-thermal");
    assert_non_null(s);
    assert_int_equal(s->status, QS_SENSOR_NOT_TEMPERATURE);
    assert_int_equal(qs_board_sensor(after, "thermal:cpu1-thermal")->status, QS_SENSOR_OK);
}

int main(int argc, char **argv)
{
    assert_true(argc == 3);
    trees = argv[1];
    golden = argv[2];
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_tree), cmocka_unit_test(test_odd_types),
                                       cmocka_unit_test(test_many), cmocka_unit_test(test_nothing),
                                       cmocka_unit_test(test_what_was_tried)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
