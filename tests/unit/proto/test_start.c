/* How RUN_BEGIN says that processes are started: the last value that passes and the first that does not; and
 * that nothing of it is there where nothing is asked for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "range.h"

static struct qs_uid some_uid(void)
{
    return (struct qs_uid){.b = {1}};
}

static void test_values(void **state)
{
    (void)state;
    struct qs_writer w;
    uint8_t mem[64];
    struct qs_build b;
    qs_build_init(&b, mem, sizeof mem);
    qs_build_text(&b, qs_text_of("./suite"));
    struct qs_msg_run_begin m = {.run = some_uid(), .argv = qs_build_list(&b), .iteration_limit_ns = 1};
    m.start.sched = QS_SCHED_FIFO;
    RANGE(run_begin, &m, start.value, 1, 0);
    RANGE(run_begin, &m, start.value, 99, 100);
    m.start.value = 1;
    RANGE(run_begin, &m, start.flags, QS_START_FLAGS, QS_START_FLAGS + 1);
    RANGE(run_begin, &m, start.sched, QS_SCHED_NICE, (enum qs_sched)3);
    m.start.sched = QS_SCHED_NICE;
    RANGE(run_begin, &m, start.value, -20, -21);
    RANGE(run_begin, &m, start.value, 19, 20);
    m.start = (struct qs_start){.flags = QS_START_FIXED_ADDRESSES};
    RANGE(run_begin, &m, start.value, 0, 1);
}

static size_t bytes_of(enum qs_run_mode mode, const struct qs_start *start)
{
    uint8_t mem[64], out[256];
    struct qs_build b;
    struct qs_writer w;
    qs_build_init(&b, mem, sizeof mem);
    qs_build_text(&b, qs_text_of("./suite"));
    const struct qs_msg_run_begin m = {.run = some_uid(),
                                       .argv = qs_build_list(&b),
                                       .iteration_limit_ns = 1,
                                       .hook_limit_ns = 1,
                                       .mode = mode,
                                       .stream = {.document_max_bytes = 1},
                                       .harness = {.capacity = 1},
                                       .start = *start};
    struct qs_msg_run_begin back;
    qs_writer_init(&w, out, sizeof out);
    assert_true(qs_msg_encode_run_begin(&w, &m));
    assert_int_equal(qs_msg_decode_run_begin(out, w.len, &back), 0);
    assert_int_equal(back.mode, mode);
    assert_int_equal(back.start.sched, start->sched);
    assert_int_equal(back.start.value, start->value);
    assert_int_equal(back.start.flags, start->flags);
    for (size_t cut = 1; qs_start_given(start) && cut < 6; cut++) /* a part of it is none */
        assert_int_not_equal(qs_msg_decode_run_begin(out, w.len - cut, &back), 0);
    return w.len;
}

static void test_there_or_not(void **state)
{
    (void)state;
    const struct qs_start none = {.flags = 0}, nice = {.sched = QS_SCHED_NICE, .value = -5},
                          fixed = {.flags = 1};
    static const enum qs_run_mode modes[] = {QS_RUN_COMMAND, QS_RUN_HARNESS, QS_RUN_STREAM};
    for (size_t i = 0; i < 3; i++) {
        size_t without = bytes_of(modes[i], &none),
               mode = modes[i] == QS_RUN_COMMAND; /* which is said then */
        assert_int_equal(bytes_of(modes[i], &nice), without + 6 + mode);
        assert_int_equal(bytes_of(modes[i], &fixed), without + 6 + mode);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_values), cmocka_unit_test(test_there_or_not)};
    return cmocka_run_group_tests_name("start", tests, NULL, NULL);
}
