#include "cm.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/loop.h"

/* What a log with these settings writes for a few lines. */
static char *written(enum qs_log_level at_most, struct qs_loop *loop)
{
    char *text = NULL;
    size_t n = 0;
    FILE *f = open_memstream(&text, &n);
    assert_non_null(f);
    struct qs_log *log = qs_log_new(f, at_most, loop);
    qs_log(log, QS_LOG_ERROR, "store", "cannot commit: %s", "disk full");
    qs_log(log, QS_LOG_WARN, "link", "device=%s lost, retrying in %d s", "p1\x1b[0m\n", 5);
    qs_log(log, QS_LOG_INFO, "farm", "job=%d done", 7);
    qs_log(log, QS_LOG_DEBUG, "api", "client=3");
    qs_log_free(log);
    fclose(f);
    return text;
}

static void lines_carry_the_time_of_the_loop(void **state)
{
    (void)state;
    struct qs_loop *loop = qs_loop_new_virtual(1769860800123000000, 1);
    char *text = written(QS_LOG_DEBUG, loop);
    assert_string_equal(text,
                        "2026-01-31T12:00:00.123Z error store: cannot commit: disk full\n"
                        "2026-01-31T12:00:00.123Z warn link: device=p1\\x1b[0m\\x0a lost, retrying in 5 s\n"
                        "2026-01-31T12:00:00.123Z info farm: job=7 done\n"
                        "2026-01-31T12:00:00.123Z debug api: client=3\n");
    free(text);
    assert_int_equal(qs_loop_free(loop), 0);
}

static void a_level_keeps_the_rest_out(void **state)
{
    (void)state;
    char *text = written(QS_LOG_ERROR, NULL);
    assert_string_equal(text, "error store: cannot commit: disk full\n");
    free(text);
    text = written(QS_LOG_INFO, NULL);
    assert_null(strstr(text, "debug"));
    assert_non_null(strstr(text, "info farm: job=7 done\n"));
    free(text);
}

static void a_log_without_a_file_drops_everything(void **state)
{
    (void)state;
    struct qs_log *log = qs_log_new(NULL, QS_LOG_DEBUG, NULL);
    qs_log(log, QS_LOG_ERROR, "x", "%d", 1);
    qs_log_free(log);
    qs_log(NULL, QS_LOG_ERROR, "x", "%d", 1);
    qs_log_free(NULL);
}

static void levels_have_names(void **state)
{
    (void)state;
    assert_string_equal(qs_log_level_name(QS_LOG_ERROR), "error");
    assert_string_equal(qs_log_level_name(QS_LOG_WARN), "warn");
    assert_string_equal(qs_log_level_name(QS_LOG_INFO), "info");
    assert_string_equal(qs_log_level_name(QS_LOG_DEBUG), "debug");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_carry_the_time_of_the_loop),
        cmocka_unit_test(a_level_keeps_the_rest_out),
        cmocka_unit_test(a_log_without_a_file_drops_everything),
        cmocka_unit_test(levels_have_names),
    };
    return cmocka_run_group_tests_name("log", tests, NULL, NULL);
}
