/* Messages about files: the last value that passes and the first that does not, and names that lead out of
 * their directory, through the encoder and as bytes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "range.h"

static void test_a_file_that_is_put(void **state)
{
    const struct qs_msg_put put = {.id = 1, .file = {.bytes = 5, .flags = 0}};
    const struct qs_msg_put_data data = {.id = 1, .offset = 0, .data = letters(1)};
    const struct qs_msg_put_at at = {.id = 1, .status = QS_PUT_MORE};
    struct qs_writer w;
    (void)state;
    RANGE(put, &put, file.bytes, QS_FILE_MAX_BYTES, QS_FILE_MAX_BYTES + 1);
    RANGE(put, &put, file.flags, QS_FILE_FLAGS, QS_FILE_FLAGS + 1);
    RANGE(put_data, &data, offset, QS_FILE_MAX_BYTES, QS_FILE_MAX_BYTES + 1);
    RANGE(put_data, &data, data.n, 1, 0);
    static char much[QS_PUT_MAX_BYTES + 1];
    struct qs_msg_put_data most = data;
    most.data = (struct qs_text){.p = much, .n = QS_PUT_MAX_BYTES};
    assert_true(PASSES(put_data, &most));
    most.data.n++;
    assert_false(PASSES(put_data, &most));
    RANGE(put_at, &at, status, QS_PUT_FAILED, (enum qs_put_status)(QS_PUT_FAILED + 1));
    RANGE(put_at, &at, offset, QS_FILE_MAX_BYTES, QS_FILE_MAX_BYTES + 1);
    RANGE(put_at, &at, why, letters(QS_NOTE_MAX_BYTES), letters(QS_NOTE_MAX_BYTES + 1));
}

static void test_what_is_laid_out_and_cleaned(void **state)
{
    const struct qs_msg_staged staged = {.id = 1, .status = QS_STAGED_OK, .path = letters(1)},
                               failed = {.id = 1, .status = QS_STAGED_FAILED};
    const struct qs_msg_clean clean = {.id = 1};
    struct qs_writer w;
    (void)state;
    RANGE(staged, &staged, path, letters(QS_PATH_MAX_BYTES), letters(QS_PATH_MAX_BYTES + 1));
    RANGE(staged, &staged, path, letters(1), letters(0)); /* where it went well there is one */
    RANGE(staged, &failed, path, letters(0), letters(1)); /* and nowhere else */
    RANGE(staged, &failed, status, QS_STAGED_FAILED, (enum qs_staged_status)(QS_STAGED_FAILED + 1));
    RANGE(staged, &failed, why, letters(QS_NOTE_MAX_BYTES), letters(QS_NOTE_MAX_BYTES + 1));
    RANGE(clean, &clean, what, QS_CLEAN_ALL, (enum qs_clean_what)(QS_CLEAN_ALL + 1));
}

static bool place_passes(const char *name, size_t n, uint8_t flags)
{
    static uint8_t list[QS_STAGE_MAX_BYTES];
    struct qs_build b;
    struct qs_writer w;
    struct qs_msg_stage back;
    struct qs_place place;
    qs_build_init(&b, list, sizeof list);
    qs_build_place(&b, &(struct qs_place){.name = {.p = name, .n = (uint16_t)n}, .flags = flags});
    const struct qs_msg_stage m = {.id = 1, .dir = 2, .places = qs_build_list(&b)};
    bool taken = PASSES(stage, &m);
    struct qs_iter it = qs_list_iter(&m.places);
    assert_int_equal(qs_list_place(&it, &place), taken);
    assert_int_equal(taken && qs_msg_decode_stage(payload, w.len, &back) == 0, taken);
    return taken;
}

static void test_names_stay_inside(void **state)
{
    static const char *const good[] = {"a",    "a/b",   "...",   "..a",  ".a",     "a..",
                                       "a./b", ".../a", "a/...", "a/.b", "aa/..bb"},
                             *const bad[] = {"",    ".",   "..",   "/a",   "a/",     "a//b",
                                             "./a", "a/.", "../a", "a/..", "a/../b", "/"};
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        assert_true(place_passes(good[i], strlen(good[i]), 0));
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_false(place_passes(bad[i], strlen(bad[i]), 0));
    }
    assert_true(place_passes(letters(0).p, QS_FILE_NAME_MAX_BYTES, QS_FILE_FLAGS));
    assert_false(place_passes(letters(0).p, QS_FILE_NAME_MAX_BYTES + 1, 0));
    assert_false(place_passes("a", 1, QS_FILE_FLAGS + 1));
    assert_false(place_passes("a\0b", 3, 0));
}

static bool having_passes(const uint16_t *missing, size_t n)
{
    static uint8_t list[4 * QS_FILES_MAX];
    struct qs_build b;
    struct qs_writer w;
    qs_build_init(&b, list, sizeof list);
    for (size_t i = 0; i < n; i++) {
        qs_build_u16(&b, missing[i]);
    }
    const struct qs_msg_having m = {.id = 1, .missing = qs_build_list(&b)};
    struct qs_msg_having back;
    bool taken = PASSES(having, &m);
    assert_int_equal(taken && qs_msg_decode_having(payload, w.len, &back) == QS_WIRE_OK, taken);
    return taken;
}

static bool have_passes(size_t n, uint64_t bytes, uint8_t flags)
{
    static uint8_t list[64 * (QS_FILES_MAX + 1)];
    struct qs_build b;
    struct qs_writer w;
    qs_build_init(&b, list, sizeof list);
    for (size_t i = 0; i < n; i++) {
        qs_build_content(&b, &(struct qs_content){.bytes = bytes, .flags = flags});
    }
    const struct qs_msg_have m = {.id = 1, .files = qs_build_list(&b)};
    return PASSES(have, &m);
}

static void test_what_is_there(void **state)
{
    static const uint16_t last[] = {0, QS_FILES_MAX - 1}, beyond[] = {0, QS_FILES_MAX};
    static const uint16_t many[QS_FILES_MAX + 1];
    (void)state;
    assert_true(having_passes(last, 2));
    assert_false(having_passes(beyond, 2));
    assert_true(having_passes(many, QS_FILES_MAX));
    assert_false(having_passes(many, QS_FILES_MAX + 1));
    assert_true(have_passes(QS_FILES_MAX, QS_FILE_MAX_BYTES, QS_FILE_FLAGS));
    assert_false(have_passes(QS_FILES_MAX + 1, 0, 0));
    assert_false(have_passes(1, QS_FILE_MAX_BYTES + 1, 0));
    assert_false(have_passes(1, 0, QS_FILE_FLAGS + 1));
}

static void test_what_is_pulled(void **state)
{
    const struct qs_msg_pull file = {.run = {{1}}, .id = 1, .path = letters(1), .max_bytes = 1},
                             log = {.run = {{1}}, .id = 1, .source = QS_PULL_KERNEL_LOG, .max_bytes = 1};
    const struct qs_msg_pulled ok = {.id = 1, .bytes = letters(1)},
                               gone = {.id = 1, .status = QS_PULL_MISSING};
    const struct qs_uid some = {{1}}, none = {{0}};
    struct qs_writer w;
    (void)state;
    RANGE(pull, &file, run, some, none);
    RANGE(pull, &file, path, letters(QS_PATH_MAX_BYTES), letters(QS_PATH_MAX_BYTES + 1));
    RANGE(pull, &file, path, letters(1), letters(0));
    RANGE(pull, &log, path, letters(0), letters(1));
    RANGE(pull, &log, source, QS_PULL_TRACE, (enum qs_pull_source)(QS_PULL_TRACE + 1));
    RANGE(pull, &file, offset, QS_SEQ_MAX, QS_SEQ_MAX + 1);
    RANGE(pull, &file, max_bytes, 1, 0);
    RANGE(pull, &file, max_bytes, QS_PULL_MAX_BYTES, QS_PULL_MAX_BYTES + 1);
    RANGE(pulled, &gone, status, QS_PULL_NO_FILE, (enum qs_pull_status)(QS_PULL_NO_FILE + 1));
    RANGE(pulled, &gone, bytes, letters(0), letters(1)); /* where it is not OK there are none */
    RANGE(pulled, &ok, offset, QS_SEQ_MAX, QS_SEQ_MAX + 1);
    RANGE(pulled, &ok, why, letters(QS_NOTE_MAX_BYTES), letters(QS_NOTE_MAX_BYTES + 1));
    static char much[QS_PULL_MAX_BYTES + 1];
    struct qs_msg_pulled most = ok;
    most.bytes = (struct qs_text){.p = much, .n = QS_PULL_MAX_BYTES};
    assert_true(PASSES(pulled, &most));
    most.bytes.n++;
    assert_false(PASSES(pulled, &most));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_file_that_is_put), cmocka_unit_test(test_what_is_laid_out_and_cleaned),
        cmocka_unit_test(test_names_stay_inside),  cmocka_unit_test(test_what_is_there),
        cmocka_unit_test(test_what_is_pulled),
    };
    return cmocka_run_group_tests_name("proto.files", tests, NULL, NULL);
}
