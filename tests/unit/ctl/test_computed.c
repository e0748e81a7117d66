#include "cm.h"

#include "ctl/computed.h"

static void expect(const char *stage, double done_ratio, int64_t elapsed_ns, const char *line)
{
    struct qs_buf out;
    qs_buf_init(&out);
    qs_computed_line(&out, stage, done_ratio, elapsed_ns);
    assert_string_equal(out.data, line);
    qs_buf_done(&out);
}

static void the_line_says_stage_share_and_time(void **state)
{
    (void)state;
    const int64_t second = 1000000000;
    expect("bootstrap_median", 0.4, 12 * second, "bootstrap median: 40 %, 12 s, about 18 s left");
    expect("judge", 1, 3 * second, "judge: 100 %, 3 s, about 0 s left");
    expect(NULL, 0.5, second, "computing: 50 %, 1 s, about 1 s left");
}

/* A share of nearly nothing says nothing of what is left. */
static void the_beginning_promises_nothing(void **state)
{
    (void)state;
    const int64_t second = 1000000000;
    expect("warnings", 0, second, "warnings: 0 %, 1 s");
    expect("warnings", 0.019, 2 * second, "warnings: 2 %, 2 s");
    expect("warnings", 0.02, 2 * second, "warnings: 2 %, 2 s, about 1 min 38 s left");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_line_says_stage_share_and_time),
        cmocka_unit_test(the_beginning_promises_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
