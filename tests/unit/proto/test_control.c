/* Messages about what a device has and what of it is changed: the last value that passes and the first that
 * does not, in each element of their lists, through the encoder and as bytes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "proto/bind_command.h"
#include "proto/names.h"
#include "range.h"

static uint8_t list[QS_CONTROL_MAX_BYTES * 2];

/* Does a message with this one element pass, and does its copy come back? The decoder judges the same bytes.
 */
#define ELEMENT(name, shape, member, kind, head)                                                             \
    static bool name(const struct qs_##kind *v)                                                              \
    {                                                                                                        \
        struct qs_build b;                                                                                   \
        struct qs_writer w;                                                                                  \
        struct qs_msg_##shape back;                                                                          \
        uint8_t bytes[4096] = {head};                                                                        \
        qs_build_init(&b, list, sizeof list);                                                                \
        qs_build_##kind(&b, v);                                                                              \
        struct qs_msg_##shape m = {.member = qs_build_list(&b)};                                             \
        fill_##shape(&m);                                                                                    \
        bool taken = PASSES(shape, &m);                                                                      \
        size_t at = HEAD_##shape;                                                                            \
        bytes[at] = 1;                                                                                       \
        bytes[at + 1] = 0;                                                                                   \
        memcpy(bytes + at + 2, list, b.w.len);                                                               \
        assert_int_equal(qs_msg_decode_##shape(bytes, at + 2 + b.w.len, &back) == QS_WIRE_OK, taken);        \
        return taken;                                                                                        \
    }
enum { HEAD_surveyed = 5, HEAD_bind = 4, HEAD_tune = 12, HEAD_tuned = 4, HEAD_restored = 5 };
#define TUNE_HEAD 0, 0, 0, 0, 0xe8, 3, 0, 0 /* the shortest lease */
static void fill_surveyed(struct qs_msg_surveyed *m)
{
    m->more = false;
}
static void fill_bind(struct qs_msg_bind *m)
{
    m->id = 0;
}
static void fill_tune(struct qs_msg_tune *m)
{
    m->lease_ms = QS_LEASE_MIN_MS;
}
static void fill_tuned(struct qs_msg_tuned *m)
{
    m->id = 0;
}
static void fill_restored(struct qs_msg_restored *m)
{
    m->more = false;
}
ELEMENT(found_passes, surveyed, files, found, 0)
ELEMENT(binding_passes, bind, sensors, binding, 0)
ELEMENT(tune_passes, tune, writes, tune, TUNE_HEAD)
ELEMENT(tuned_passes, tuned, writes, tuned, 0)
ELEMENT(restored_passes, restored, files, restored, 0)

/* v.field set to a good and to a bad value. */
#define ENDS(passes, v, field, good, bad)                                                                    \
    do {                                                                                                     \
        __typeof__(v) changed = (v);                                                                         \
        changed.field = (good);                                                                              \
        assert_true(passes(&changed));                                                                       \
        changed.field = (bad);                                                                               \
        assert_false(passes(&changed));                                                                      \
    } while (0)

/* The same for a path, which stays below the root. */
#define PATHS(passes, v, field)                                                                              \
    do {                                                                                                     \
        ENDS(passes, v, field, letters(QS_CONTROL_PATH_MAX_BYTES), letters(QS_CONTROL_PATH_MAX_BYTES + 1));  \
        ENDS(passes, v, field, qs_text_of("a/b"), qs_text_of(""));                                           \
        ENDS(passes, v, field, qs_text_of("a/..b"), qs_text_of("a/../b"));                                   \
        ENDS(passes, v, field, qs_text_of(".a"), qs_text_of("./a"));                                         \
        ENDS(passes, v, field, qs_text_of("a"), qs_text_of("/a"));                                           \
        ENDS(passes, v, field, qs_text_of("a/b"), qs_text_of("a//b"));                                       \
        ENDS(passes, v, field, qs_text_of("a"), qs_text_of("a/"));                                           \
    } while (0)

static void test_what_is_looked_for(void **state)
{
    const struct qs_msg_survey survey = {.id = 1, .pattern = qs_text_of("a*")};
    struct qs_writer w;
    (void)state;
    RANGE(survey, &survey, pattern, letters(QS_CONTROL_PATH_MAX_BYTES),
          letters(QS_CONTROL_PATH_MAX_BYTES + 1));
    RANGE(survey, &survey, pattern, qs_text_of("a/*/b?[c]"), qs_text_of("a/../b"));
    RANGE(survey, &survey, pattern, qs_text_of("*"), qs_text_of(""));
    RANGE(survey, &survey, after, qs_text_of(""), qs_text_of("/a"));
    RANGE(survey, &survey, after, qs_text_of("a/b"), qs_text_of("a/.."));
}

static void test_what_is_found(void **state)
{
    static char much[QS_FOUND_MAX_BYTES + 1];
    struct qs_found v = {.path = qs_text_of("a")};
    const struct qs_text some = {.p = much, .n = QS_FOUND_MAX_BYTES}, more = {.p = much, .n = sizeof much};
    const uint8_t both[] = {9, 0, 0, 0, 2, 0, 0};
    struct qs_msg_surveyed m;
    (void)state;
    PATHS(found_passes, v, path);
    ENDS(found_passes, v, access, QS_FILE_ACCESS, QS_FILE_ACCESS + 1);
    ENDS(found_passes, v, error, INT32_MAX, -1);
    ENDS(found_passes, v, value, some, more);
    struct qs_found failed = v;
    failed.error = 5;
    ENDS(found_passes, failed, value, qs_text_of(""), qs_text_of("7")); /* what was not read says nothing */
    assert_int_equal(qs_msg_decode_surveyed(both, sizeof both, &m),
                     QS_WIRE_E_VALUE); /* more: neither yes nor no */
}

static void test_a_sensor_of_the_host(void **state)
{
    struct qs_binding v = {.name = letters(1), .path = letters(1), .mul = 1, .div = 1, .lo = 3, .hi = 3};
    (void)state;
    PATHS(binding_passes, v, path);
    ENDS(binding_passes, v, name, letters(QS_NAME_MAX_BYTES), letters(QS_NAME_MAX_BYTES + 1));
    ENDS(binding_passes, v, name, letters(1), letters(0));
    ENDS(binding_passes, v, mul, QS_BIND_SCALE_MAX, INT64_C(1) + QS_BIND_SCALE_MAX);
    ENDS(binding_passes, v, mul, 1, 0);
    ENDS(binding_passes, v, div, QS_BIND_SCALE_MAX, INT64_C(1) + QS_BIND_SCALE_MAX);
    ENDS(binding_passes, v, div, 1, 0); /* nothing is divided by it */
    ENDS(binding_passes, v, hi, INT64_MAX, 2);
    ENDS(binding_passes, v, flags, QS_BIND_FLAGS & ~(QS_BIND_TABLE | QS_BIND_COMMAND), QS_BIND_FLAGS + 1);
    ENDS(binding_passes, v, flags, QS_BIND_TABLE | QS_BIND_EVIDENCE | QS_BIND_STEADY,
         QS_BIND_TABLE | QS_BIND_HELD);
    ENDS(binding_passes, v, flags, QS_BIND_TABLE, QS_BIND_TABLE | QS_BIND_BITS);
}

static void test_a_command(void **state)
{
    struct qs_binding v = {.name = letters(1), .path = qs_text_of("1000\n\n\nk\n\na"), .mul = 1, .div = 1};
    struct qs_bind_command c;
    (void)state;
    ENDS(binding_passes, v, flags, QS_BIND_FLAGS & ~QS_BIND_TABLE, QS_BIND_COMMAND | QS_BIND_TABLE);
    v.flags = QS_BIND_COMMAND;
    static const char *const good[] = {"86400000\n\n\nk\n\na", "1000\ns\nl\nk\nx\na\n\nb"};
    static const char *const bad[] = {"999\n\n\nk\n\na",   "86400001\n\n\nk\n\na", "4294968296\n\n\nk\n\na",
                                      "1000 \n\n\nk\n\na", "-1000\n\n\nk\n\na",    "\n\n\nk\n\na",
                                      "1000\n\n\n\n\na",   "1000\n\n\nk\n\n",      "1000\n\n\nk\n\n\na",
                                      "1000\n\n\nk\na",    "class/zone/temp",      ""};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
        ENDS(binding_passes, v, path, qs_text_of(good[i]), qs_text_of(bad[i]));
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        ENDS(binding_passes, v, path, qs_text_of(good[0]), qs_text_of(bad[i]));
    ENDS(binding_passes, v, path, ((struct qs_text){"1000\n\n\nk\n\na", 11}),
         ((struct qs_text){"1000\n\n\nk\n\n\0", 11}));
    assert_true(qs_bind_command_of(qs_text_of("60000\nTop:\n*x*\nv=\nFAKE\ncmd\n-a"), &c));
    assert_int_equal(c.max_age_ms, 60000);
    const struct qs_text parts[] = {c.section, c.line, c.key, c.spoilt, c.argv};
    static const char *const texts[] = {"Top:", "*x*", "v=", "FAKE", "cmd\n-a"};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        assert_int_equal(parts[i].n, strlen(texts[i]));
        assert_memory_equal(parts[i].p, texts[i], parts[i].n);
    }
}

static void test_a_write(void **state)
{
    struct qs_tune v = {.path = letters(1), .value = letters(1)};
    (void)state;
    PATHS(tune_passes, v, path);
    ENDS(tune_passes, v, value, letters(QS_TUNE_VALUE_MAX_BYTES), letters(QS_TUNE_VALUE_MAX_BYTES + 1));
    ENDS(tune_passes, v, flags, QS_TUNE_PERSISTENT | QS_TUNE_BLIND | QS_TUNE_TRANSIENT, QS_TUNE_FLAGS + 1);
    ENDS(tune_passes, v, path, qs_text_of("a"), qs_text_of("a\nb")); /* a command without its flag */
    struct qs_tune command = {.path = qs_text_of("\t/bin/get\n"), .flags = QS_TUNE_COMMAND};
    ENDS(tune_passes, command, path, qs_text_of("../x\n"), qs_text_of("a"));
    ENDS(tune_passes, command, path, qs_text_of("\n"), qs_text_of(""));
    ENDS(tune_passes, command, flags, QS_TUNE_FLAGS, 0);

    struct qs_writer w;
    struct qs_build b;
    qs_build_init(&b, list, sizeof list);
    qs_build_tune(&b, &v);
    const struct qs_msg_tune m = {.lease_ms = QS_LEASE_MIN_MS, .writes = qs_build_list(&b)};
    RANGE(tune, &m, lease_ms, QS_LEASE_MIN_MS, QS_LEASE_MIN_MS - 1);
    RANGE(tune, &m, lease_ms, QS_LEASE_MAX_MS, QS_LEASE_MAX_MS + 1);
    RANGE(tune, &m, settle_ms, QS_SETTLE_MAX_MS, QS_SETTLE_MAX_MS + 1);
    RANGE(tune, &m, writes, qs_build_list(&b), (struct qs_list){.count = 0}); /* nothing to write */
}

static void test_what_became_of_it(void **state)
{
    struct qs_tuned v = {.outcome = QS_TUNE_SET};
    struct qs_restored put_back = {.path = letters(1), .result = v};
    (void)state;
    ENDS(tuned_passes, v, outcome, QS_TUNE_SET, (enum qs_tune_outcome)(QS_TUNE_SET - 1));
    ENDS(tuned_passes, v, outcome, QS_TUNE_UNJOURNALLED, (enum qs_tune_outcome)(QS_TUNE_UNJOURNALLED + 1));
    ENDS(tuned_passes, v, error, 0, -1);
    ENDS(tuned_passes, v, before, letters(QS_TUNE_SAID_MAX_BYTES), letters(QS_TUNE_SAID_MAX_BYTES + 1));
    ENDS(tuned_passes, v, now, letters(QS_TUNE_SAID_MAX_BYTES), letters(QS_TUNE_SAID_MAX_BYTES + 1));
    PATHS(restored_passes, put_back, path);
    ENDS(restored_passes, put_back, result.outcome, QS_TUNE_SAME, (enum qs_tune_outcome)0);
    for (unsigned i = QS_TUNE_SET; i <= QS_TUNE_UNJOURNALLED; i++)
        assert_string_not_equal(qs_tune_outcome_name((enum qs_tune_outcome)i), "unknown");
    assert_string_equal(qs_tune_outcome_name(QS_TUNE_SLIPPED), "slipped");
    assert_string_equal(qs_tune_outcome_name((enum qs_tune_outcome)0), "unknown");
    assert_string_equal(qs_tune_outcome_name((enum qs_tune_outcome)(QS_TUNE_UNJOURNALLED + 1)), "unknown");
}

static void test_load(void **state)
{
    const struct qs_msg_load load = {.id = 1};
    const struct qs_msg_loaded loaded = {.outcome = QS_LOAD_OFF};
    struct qs_writer w;
    (void)state;
    RANGE(load, &load, cpus, letters(QS_CPUS_MAX_BYTES), letters(QS_CPUS_MAX_BYTES + 1));
    RANGE(load, &load, for_ms, QS_LOAD_MAX_MS, QS_LOAD_MAX_MS + 1);
    RANGE(loaded, &loaded, outcome, QS_LOAD_FAILED, (enum qs_load_outcome)(QS_LOAD_FAILED + 1));
    RANGE(loaded, &loaded, outcome, QS_LOAD_OFF, (enum qs_load_outcome)0);
}

/* As many as one message may have, and one more; and the bytes of a list. */
static void test_lists_end(void **state)
{
    const struct qs_tuned longest = {.outcome = QS_TUNE_SET,
                                     .before = letters(QS_TUNE_SAID_MAX_BYTES),
                                     .now = letters(QS_TUNE_SAID_MAX_BYTES)};
    const struct qs_tune small = {.path = letters(1)};
    struct qs_writer w;
    struct qs_build b;
    (void)state;
    qs_build_init(&b, list, sizeof list);
    for (int i = 0; i < QS_TUNE_MAX; i++)
        qs_build_tuned(&b, &longest);
    assert_true(PASSES(tuned, (&(struct qs_msg_tuned){.writes = qs_build_list(&b)}))); /* all of a TUNE */
    qs_build_tuned(&b, &longest);
    assert_false(PASSES(tuned, (&(struct qs_msg_tuned){.writes = qs_build_list(&b)})));

    qs_build_init(&b, list, sizeof list);
    for (int i = 0; i < QS_TUNE_MAX; i++)
        qs_build_tune(&b, &small);
    struct qs_msg_tune m = {.lease_ms = QS_LEASE_MIN_MS, .writes = qs_build_list(&b)};
    assert_true(PASSES(tune, &m));
    qs_build_tune(&b, &small);
    m.writes = qs_build_list(&b);
    assert_false(PASSES(tune, &m));

    qs_build_init(&b, list, sizeof list);
    const struct qs_tune large = {.path = letters(QS_CONTROL_PATH_MAX_BYTES),
                                  .value = letters(QS_TUNE_VALUE_MAX_BYTES)};
    while (b.w.len + 515 <= QS_CONTROL_MAX_BYTES)
        qs_build_tune(&b, &large);
    m.writes = qs_build_list(&b);
    assert_true(PASSES(tune, &m));
    qs_build_tune(&b, &large);
    m.writes = qs_build_list(&b);
    assert_false(PASSES(tune, &m));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_looked_for),
        cmocka_unit_test(test_what_is_found),
        cmocka_unit_test(test_a_sensor_of_the_host),
        cmocka_unit_test(test_a_command),
        cmocka_unit_test(test_a_write),
        cmocka_unit_test(test_what_became_of_it),
        cmocka_unit_test(test_lists_end),
        cmocka_unit_test(test_load),
    };
    return cmocka_run_group_tests_name("control", tests, NULL, NULL);
}
