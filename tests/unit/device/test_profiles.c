/* Which profiles hold for a device, what a special one changes, and devices that nobody knows (argument 1:
 * the trees). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "tree.h"

static const char *boards;

enum { RW = QS_BOARD_READABLE | QS_BOARD_WRITABLE };
#define COUNT(list) (sizeof(list) / sizeof *(list))

static void say(struct qs_survey *s, const char *path, const char *value)
{
    qs_survey_add(s, path, RW, QS_READING_OK, 0, value, strlen(value));
}

static void add(struct qs_profiles *profiles, const char *text)
{
    QS_SCOPED(qs_problems_done) struct qs_problems problems = {0};
    QS_SCOPED(qs_doc_free_at) struct qs_doc *doc = NULL;
    QS_FREED char *yaml = qs_asprintf("# a brace at the front would be JSON\n%s", text);
    if (!qs_doc_read("test", yaml, strlen(yaml), false, &doc, &problems) ||
        !qs_profiles_add(profiles, doc, false, &problems))
        fail_msg("%s", problems.at[0].what);
}

/* A device without a profile has what the kernel offers. */
static void test_unknown_device(void **state)
{
    (void)state;
    static const struct {
        const char *tree, *domains[8];
        size_t sensors, not_ok;
        const char *gpu;
    } rows[] = {
        {"pixel6-oriole",
         {"policy0", "policy4", "policy6", "mali", "17000010.devfreq_mif", "17000020.devfreq_int"},
         32,
         4,
         NULL},
        {"odroid-xu3",
         {"policy0", "policy4", "11800000.gpu", "10c20000.memory-controller"},
         8,
         0,
         "thermal:gpu-thermal"},
        {"huawei-p8lite2017", {"policy0", "policy4", "gpufreq", "ddrfreq"}, 13, 0, "thermal:gpu"},
        {"sony-xperia-z-unrooted", {"cpu0", "cpu1", "kgsl"}, 14, 1, NULL},
        {"rpi4b", {"policy0"}, 5, 0, NULL},
        {"rock5b-rk3588", {"policy0", "policy4", "policy6", "fb000000.gpu"}, 12, 0, "thermal:gpu-thermal"}};
    QS_SCOPED(qs_profiles_done) struct qs_profiles generic = {0};
    tree_profiles(&generic, false);
    for (size_t i = 0; i < COUNT(rows); i++) {
        QS_SCOPED(qs_board_free_at) struct qs_board *b = tree_board_by(&generic, boards, rows[i].tree, true);
        size_t n = 0, not_ok = 0;
        assert_int_equal(b->profiles.count, 1);
        assert_string_equal(b->profiles.at[0], "generic");
        for (; n < 8 && rows[i].domains[n] != NULL; n++) {
            assert_true(n < b->domains.count);
            assert_string_equal(b->domains.at[n].name, rows[i].domains[n]);
            assert_int_equal(b->domains.at[n].hold, QS_HOLD_OK);
        }
        assert_int_equal(b->domains.count, n);
        for (size_t k = 0; k < b->sensors.count; k++)
            not_ok += b->sensors.at[k].status != QS_SENSOR_OK;
        assert_int_equal(b->sensors.count, rows[i].sensors);
        assert_int_equal(not_ok, rows[i].not_ok);
        if (rows[i].gpu != NULL)
            assert_int_equal(qs_board_sensor(b, rows[i].gpu)->role, QS_ROLE_GPU);
    }
}

static struct qs_board *with(const struct qs_profiles *profiles, const char *facts)
{
    QS_SCOPED(qs_survey_done) struct qs_survey s = {0};
    say(&s, "firmware/devicetree/base/model", "Odd Board 3");
    say(&s, "class/devfreq/one/cur_freq", "100000");
    return qs_board_new(profiles, &s, facts);
}

static void check_layers(const struct qs_profiles *profiles, const char *facts, const char *names)
{
    QS_SCOPED(qs_board_free_at) struct qs_board *b = with(profiles, facts);
    QS_BUF(found);
    for (size_t i = 0; i < b->profiles.count; i++)
        qs_buf_fmt(&found, "%s%s", i > 0 ? " " : "", b->profiles.at[i]);
    assert_string_equal(found.data, names);
}

static void test_match(void **state)
{
    (void)state;
    QS_SCOPED(qs_profiles_done) struct qs_profiles p = {0};
    add(&p, "profile: base");
    add(&p, "{profile: by-fact, extends: base, match: [{facts: {model: \"pixel 6*\"}}]}");
    add(&p, "{profile: a-file, extends: base, match: [{files: {firmware/devicetree/base/model: \"Odd*\"}}]}");
    add(&p,
        "{profile: both, extends: a-file, match: [{facts: {model: x}, files: {firmware/*/*/model: \"*\"}}]}");
    add(&p, "{profile: either, extends: base, match: [{facts: {model: y}}, {facts: {model: z}}]}");
    add(&p, "{profile: alone, match: [{files: {firmware/devicetree/base/model: \"Even*\"}}]}");
    check_layers(&p, NULL, "a-file base");
    check_layers(&p, "{}", "a-file base");
    check_layers(&p, "[", "a-file base");
    check_layers(&p, "{\"model\":\"Pixel 6 Pro\"}", "a-file by-fact base");
    check_layers(&p, "{\"model\":\"Pixel 7\"}", "a-file base");
    check_layers(&p, "{\"model\":[\"pixel 6\"]}", "a-file base");
    check_layers(&p, "{\"model\":\"x\"}", "both a-file base");
    check_layers(&p, "{\"model\":\"z\"}", "a-file either base");
    check_layers(&p, "{\"model\":\"x\",\"device\":{\"model\":\"z\"}}", "a-file either base");
}

/* What a special profile says of a folder, a type, or a row's name goes first. */
static void says(const char *facts, const char *text)
{
    QS_BUF(out);
    qs_board_fingerprint(facts, &out);
    assert_string_equal(out.data, text);
}

static void test_fingerprint(void **state)
{
    (void)state;
    says("{\"kernel\": \"Linux 6.1\", \"machine\": \"aarch64\", \"x\": \"y\"}", "aarch64; Linux 6.1");
    says("{\"machine\": \"host\", \"device\": {\"kernel\": \"Linux 4.9\", \"fingerprint\": "
         "\"google/oriole\"}}",
         "google/oriole; Linux 4.9");
    says("{\"machine\": 7}", "7");
    says("{}", "unknown");
    says("no facts", "unknown");
    says(NULL, "unknown");
}

static void test_special_first(void **state)
{
    (void)state;
    QS_SCOPED(qs_profiles_done) struct qs_profiles p = {0};
    add(&p, "{profile: base, domains: {all: {kind: other, name: \"{folder}\", each: class/devfreq/*, "
            "current: cur_freq}, "
            "old: {kind: gpu, name: old, each: class/kgsl/*, current: clk}}, "
            "types: [{types: [\"*\"], unit: mC, role: other}], "
            "sensors: {zone: {name: \"{type}\", each: class/thermal/*, type: type, value: temp}}}");
    add(&p,
        "{profile: special, extends: base, match: [{files: {x: \"*\"}}], "
        "domains: {mine: {kind: memory, name: mine, each: class/devfreq/one, current: cur_freq, unit: MHz}, "
        "old: {kind: gpu, name: new, each: class/kgsl/*, current: clk, replaces: class/devfreq/tw*}}, "
        "types: [{types: [HOT], unit: C}], avoid: [class/devfreq/three/max_freq]}");
    for (int special = 0; special < 2; special++) {
        QS_SCOPED(qs_survey_done) struct qs_survey s = {0};
        say(&s, "class/devfreq/one/cur_freq", "100");
        say(&s, "class/devfreq/two/cur_freq", "200");
        say(&s, "class/kgsl/g/clk", "300");
        say(&s, "class/thermal/a/type", "hot");
        say(&s, "class/thermal/a/temp", "40");
        if (special == 1)
            say(&s, "x", "");
        QS_SCOPED(qs_board_free_at) struct qs_board *b = qs_board_new(&p, &s, NULL);
        assert_int_equal(b->domains.count, special == 1 ? 2 : 3);
        assert_string_equal(b->domains.at[0].name, special == 1 ? "new" : "old");
        assert_string_equal(b->domains.at[1].name, special == 1 ? "mine" : "one");
        assert_int_equal(b->domains.at[1].current_khz, special == 1 ? 100000 : 100);
        assert_int_equal(b->sensors.count, 1);
        assert_int_equal(b->sensors.at[0].value, special == 1 ? 40000 : 40);
    }
}

static void test_avoid(void **state)
{
    (void)state;
    QS_SCOPED(qs_profiles_done) struct qs_profiles p = {0};
    QS_SCOPED(qs_survey_done) struct qs_survey s = {0};
    add(&p, "{profile: a, avoid: [\"a/*/max\", \"s/*\"], domains: {d: {kind: other, name: d, each: a/*, min: "
            "min, max: max}}, "
            "switches: {s: {kind: other, name: s, each: s, file: on, on: \"1\", off: \"0\"}, "
            "t: {kind: fan, name: \"t:{folder}\", each: t, file: pwm, low: 0, high: 9, persistent: true}}}");
    say(&s, "a/x/min", "100000");
    say(&s, "a/x/max", "200000");
    say(&s, "s/on", "1");
    say(&s, "t/pwm", "3");
    QS_SCOPED(qs_board_free_at) struct qs_board *b = qs_board_new(&p, &s, NULL);
    assert_int_equal(b->domains.at[0].hold, QS_HOLD_AVOIDED);
    assert_string_equal(b->domains.at[0].why, "a profile says never to write a/x/max");
    assert_false(b->switches.at[0].writable);
    assert_string_equal(b->switches.at[1].name, "t:t");
    assert_string_equal(b->switches.at[1].said, "3");
    assert_true(b->switches.at[1].writable);
    assert_true(b->switches.at[1].persistent);
    assert_int_equal(b->switches.at[1].hi, 9);
    assert_null(b->switches.at[1].on);
}

/* Each pattern once, in order, and none that another covers. */
static void test_patterns(void **state)
{
    (void)state;
    static const char *const want[] = {"a/*/max",  "a/*/t1",  "a/*/t2",     "b/[xy]/max",
                                       "b/x1/max", "c/*/max", "cpus/*/cap", "m"};
    QS_SCOPED(qs_profiles_done) struct qs_profiles p = {0};
    QS_SCOPED(qs_strings_done) struct qs_strings found = {0};
    add(&p, "{profile: a, cpus: {capacity: cpus/*/cap}, match: [{files: {m: \"*\", a/one/max: \"*\"}}], "
            "domains: {d: {kind: other, name: d, each: [a/*, a/x*, b/x1, \"b/[xy]\", b/x, \"c/?\", c/*], "
            "max: max}, "
            "t: {kind: other, name: d, each: a/*, table: [t1 + t2, t1]}}}");
    qs_board_survey_patterns(&p, &found);
    for (size_t i = 0; i < COUNT(want) && i < found.count; i++)
        assert_string_equal(found.at[i], want[i]);
    assert_int_equal(found.count, COUNT(want));
}

/* Four kinds of processors; more than sixteen; a board that tells nothing of them. */
static void test_clusters(void **state)
{
    (void)state;
    QS_SCOPED(qs_profiles_done) struct qs_profiles generic = {0};
    tree_profiles(&generic, false);
    for (unsigned kinds = 4; kinds <= 17; kinds += 13) {
        QS_SCOPED(qs_survey_done) struct qs_survey s = {0};
        for (unsigned i = 0; i < 20; i++) {
            QS_FREED char *path = qs_asprintf("devices/system/cpu/cpu%u/cpu_capacity", i);
            QS_FREED char *value = qs_asprintf("%u", 100 + i % kinds);
            say(&s, path, value);
        }
        say(&s, "devices/system/cpu/present", "0-19\n");
        QS_SCOPED(qs_board_free_at) struct qs_board *b = qs_board_new(&generic, &s, NULL);
        assert_string_equal(b->cpus, "0-19");
        assert_null(b->online);
        assert_int_equal(b->clusters.count, kinds == 4 ? 4 : 0);
        assert_int_equal(b->notes.count, kinds == 4 ? 0 : 1);
        if (kinds == 17)
            continue;
        static const char *const names[] = {"little", "big", "big.2", "prime"};
        for (size_t i = 0; i < 4; i++)
            assert_string_equal(b->clusters.at[i].name, names[i]);
        assert_string_equal(b->clusters.at[2].cpus, "2,6,10,14,18");
        assert_int_equal(b->clusters.at[2].capacity, 102);
    }
    static const char *const lists[] = {"",   "x",    "3-1",  "0-1024", "0-99999999999999999999",
                                        "1-", "0--1", "1 2x", "3-1,5"};
    for (size_t i = 0; i < COUNT(lists); i++) {
        QS_SCOPED(qs_survey_done) struct qs_survey s = {0};
        say(&s, "devices/system/cpu/present", lists[i]);
        QS_SCOPED(qs_board_free_at) struct qs_board *b = qs_board_new(&generic, &s, NULL);
        assert_null(b->cpus);
        assert_int_equal(b->clusters.count, 0);
    }
}

static void write_file(const char *folder, const char *name, const char *text)
{
    QS_FREED char *path = qs_asprintf("%s/%s", folder, name);
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_true(fputs(text, f) >= 0);
    assert_int_equal(fclose(f), 0);
}

/* Files of a folder, as name and text in turn, added to the built-in profiles; then all of it is removed. */
static bool add_folder(struct qs_profiles *p, const char *const *files, struct qs_buf *problems,
                       struct qs_err *err)
{
    char folder[] = "profiles.XXXXXX";
    assert_non_null(mkdtemp(folder));
    tree_profiles(p, true);
    for (size_t i = 0; files[i] != NULL; i += 2)
        write_file(folder, files[i], files[i + 1]);
    bool ok = qs_profiles_add_folder(p, folder, problems, err);
    for (size_t i = 0; files[i] != NULL; i += 2) {
        QS_FREED char *path = qs_asprintf("%s/%s", folder, files[i]);
        assert_int_equal(unlink(path), 0);
    }
    assert_int_equal(rmdir(folder), 0);
    return ok;
}

/* A folder of own ones: in the place of built-in ones, and each finds what it extends, whatever the files'
 * names. They go before those that are built in, with what extends them. */
static void test_folder(void **state)
{
    static const char *const files[] = {"a.yaml",
                                        "# YAML\n{profile: mine, extends: yours}",
                                        "b.yaml",
                                        "# YAML\n{profile: odroid-xu3, about: another}",
                                        "c.yml",
                                        "{\"profile\": \"yours\", \"extends\": \"rpi4b\"}",
                                        ".hidden.yaml",
                                        "nonsense",
                                        "notes.txt",
                                        "nonsense",
                                        NULL};
    (void)state;
    struct qs_err err = QS_ERR_INIT;
    QS_BUF(problems);
    QS_SCOPED(qs_profiles_done) struct qs_profiles built_in = {0};
    QS_SCOPED(qs_profiles_done) struct qs_profiles p = {0};
    tree_profiles(&built_in, true);
    assert_true(add_folder(&p, files, &problems, &err));
    assert_string_equal(problems.data, "");
    assert_int_equal(p.count, built_in.count + 2);
    assert_string_equal(qs_profiles_find(&p, "odroid-xu3")->about, "another");
    assert_string_equal(qs_profiles_find(&p, "mine")->extends, "yours");
    assert_non_null(strstr(qs_profiles_find(&p, "mine")->file, "/a.yaml"));
    assert_null(qs_profiles_find(&p, "rpi4b")->file);
    check_layers(&p, "{}", "mine yours odroid-xu3 rpi4b generic");
    assert_false(qs_profiles_add_folder(&p, "absent", &problems, &err));
    assert_int_equal(err.code, QS_E_IO);
}

/* Whatever extends it, an own one is before every built-in one that does not extend it. */
static void test_own_first(void **state)
{
    static const char *const files[] = {
        "x.yaml", "profile: zz\nmatch: [{files: {firmware/devicetree/base/model: 'Odd*'}}]\n", "y.yaml",
        "profile: generic\n", NULL};
    (void)state;
    QS_BUF(problems);
    QS_SCOPED(qs_profiles_done) struct qs_profiles p = {0};
    assert_true(add_folder(&p, files + 2, &problems, &QS_ERR_INIT));
    add(&p, "{profile: builtin, extends: generic, match: [{files: {firmware/devicetree/base/model: '*'}}]}");
    check_layers(&p, NULL, "builtin generic");
    qs_profiles_done(&p);
    const char *const one[] = {files[0], files[1], NULL};
    assert_true(add_folder(&p, one, &problems, &QS_ERR_INIT));
    add(&p, "{profile: builtin, extends: generic, match: [{files: {firmware/devicetree/base/model: '*'}}]}");
    check_layers(&p, NULL, "zz builtin generic");
}

/* Mistakes with their places, each of them; what is right in other files is there all the same. */
static void test_folder_mistakes(void **state)
{
    static const char *const files[] = {
        "a.yaml", "profile: one\nwhat: 1\n",          "b.yaml", "profile: two\n",
        "c.yaml", "profile: two\nextends: generic\n", "d.yaml", "profile: four\nextends: five\n",
        "e.yaml", "profile: five\nextends: four\n",   "f.yaml", "profile: [\n",
        NULL};
    (void)state;
    struct qs_err err = QS_ERR_INIT;
    QS_BUF(problems);
    QS_SCOPED(qs_profiles_done) struct qs_profiles p = {0};
    assert_false(add_folder(&p, files, &problems, &err));
    assert_int_equal(err.code, QS_E_CONFIG);
    assert_non_null(strstr(err.text, "5 mistakes in the profiles of profiles."));
    static const char *const said[] = {"/a.yaml:2:1: what: unknown key",
                                       "/c.yaml:1:10: profile: `two` is the profile of profiles.",
                                       "/b.yaml, too\n",
                                       "/d.yaml:2:10: extends: there is no profile `five`",
                                       "/e.yaml:2:10: extends: there is no profile `four`",
                                       "/f.yaml:2:1: not YAML",
                                       "    2 | what: 1\n"};
    for (size_t i = 0; i < COUNT(said); i++)
        if (strstr(problems.data, said[i]) == NULL)
            fail_msg("`%s` is not said:\n%s", said[i], problems.data);
    assert_null(qs_profiles_find(&p, "one"));
    assert_null(qs_profiles_find(&p, "two")->extends);
}

int main(int argc, char **argv)
{
    if (argc != 3)
        return 2;
    boards = argv[1];
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_unknown_device),  cmocka_unit_test(test_match),
        cmocka_unit_test(test_special_first),   cmocka_unit_test(test_avoid),
        cmocka_unit_test(test_patterns),        cmocka_unit_test(test_clusters),
        cmocka_unit_test(test_folder),          cmocka_unit_test(test_own_first),
        cmocka_unit_test(test_folder_mistakes), cmocka_unit_test(test_fingerprint)};
    return cmocka_run_group_tests_name("device profiles", tests, NULL, NULL);
}
