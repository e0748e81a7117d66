/* Differences of environment: found by key, told by both values, weighed by what they may do. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "report/env_diff.h"
#include "report/variables.h"

static const char before[] = "{\"aslr\":\"2\",\"cgroup\":\"0::/"
                             "a\",\"device\":{\"kernel\":\"6.1\",\"cpus\":[0,1]},\"governors\":\"none\"}";
static const char after[] =
    "{\"aslr\":\"2\",\"cgroup\":\"0::/b\",\"device\":{\"kernel\":\"6.2\",\"cpus\":[0,1]},\"agent\":\"1\"}";

static void check(const struct qs_env_change *c, const char *key, const char *base, const char *cand,
                  enum qs_env_class class)
{
    assert_string_equal(c->key, key);
    assert_int_equal(c->class, class);
    for (int i = 0; i < 2; i++) {
        const char *want = i ? cand : base, *got = i ? c->cand : c->base;
        assert_int_equal(got == NULL, want == NULL);
        if (want)
            assert_string_equal(got, want);
    }
}

static void test_keys_that_differ(void **state)
{
    (void)state;
    struct qs_err err;
    struct qs_env_diff d;
    assert_true(qs_env_diff(before, after, &d, &err));
    assert_true(d.known);
    assert_int_equal(d.count, 4);
    check(&d.at[0], "agent", NULL, "1", QS_ENV_INSTRUMENT);
    check(&d.at[1], "cgroup", "0::/a", "0::/b", QS_ENV_NOTED);
    check(&d.at[2], "device.kernel", "6.1", "6.2", QS_ENV_MACHINE);
    check(&d.at[3], "governors", "none", NULL, QS_ENV_MACHINE);
    assert_int_equal(qs_env_diff_matters(&d), 3);
    assert_int_equal(qs_env_class_of("device.memory_bytes"), QS_ENV_NOTED);
    assert_int_equal(qs_env_class_of("memory_type"), QS_ENV_MACHINE);
    qs_env_diff_free(&d);
}

static void test_equal_and_unknown(void **state)
{
    (void)state;
    struct qs_err err;
    struct qs_env_diff d;
    assert_true(qs_env_diff(before, before, &d, &err));
    assert_true(d.known);
    assert_int_equal(d.count, 0);
    qs_env_diff_free(&d);
    assert_true(qs_env_diff(before, NULL, &d, &err));
    assert_false(d.known);
    assert_int_equal(d.count, 0);
    qs_env_diff_free(&d);
}

static void test_added_and_written(void **state)
{
    (void)state;
    struct qs_err err;
    struct qs_env_diff d;
    struct qs_buf out;
    struct qs_json j;
    assert_true(qs_env_diff("{}", "{}", &d, &err));
    qs_env_diff_add(&d, "executable", "aa", "bb", QS_ENV_MACHINE);
    qs_env_diff_add(&d, "device", "local", "local", QS_ENV_MACHINE);
    qs_env_diff_add(&d, "harness", NULL, NULL, QS_ENV_MACHINE);
    qs_buf_init(&out);
    qs_json_init(&j, &out);
    qs_env_diff_put(&j, &d);
    assert_string_equal(out.data, "[{\"key\":\"executable\",\"base\":\"aa\",\"candidate\":\"bb\",\"class\":"
                                  "\"machine\",\"matters\":true}]");
    qs_buf_done(&out);
    qs_env_diff_free(&d);
}

static void test_what_is_no_object(void **state)
{
    (void)state;
    static const char *const bad[] = {"", "[1]", "{\"a\":", "7"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct qs_err err = QS_ERR_INIT;
        struct qs_env_diff d;
        assert_false(qs_env_diff("{}", bad[i], &d, &err));
        assert_int_equal(err.code, QS_E_DATA);
        qs_env_diff_free(&d);
    }
}

static void test_variables_by_name(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        enum qs_env_class class;
    } names[] = {{"SHLVL", QS_ENV_RECORDED},
                 {"OLDPWD", QS_ENV_RECORDED},
                 {"SSH_CONNECTION", QS_ENV_RECORDED},
                 {"TMUX", QS_ENV_RECORDED},
                 {"TMUX_PANE", QS_ENV_RECORDED},
                 {"WINDOWID", QS_ENV_RECORDED},
                 {"XDG_SESSION_ID", QS_ENV_RECORDED},
                 {"TERM", QS_ENV_RECORDED},
                 {"DISPLAY", QS_ENV_RECORDED},
                 {"COLUMNS", QS_ENV_RECORDED},
                 {"_", QS_ENV_RECORDED},
                 {"PATH", QS_ENV_MACHINE},
                 {"LD_PRELOAD", QS_ENV_MACHINE},
                 {"MALLOC_ARENA_MAX", QS_ENV_MACHINE},
                 {"GLIBC_TUNABLES", QS_ENV_MACHINE},
                 {"LANG", QS_ENV_MACHINE},
                 {"LC_ALL", QS_ENV_MACHINE},
                 {"OMP_NUM_THREADS", QS_ENV_MACHINE},
                 {"PATHS", QS_ENV_NOTED},
                 {"MY_PATH", QS_ENV_NOTED},
                 {"TERMS", QS_ENV_NOTED},
                 {"__", QS_ENV_NOTED},
                 {"EDITOR", QS_ENV_NOTED},
                 {"", QS_ENV_NOTED}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (qs_variable_class(names[i].name, NULL) != names[i].class)
            fail_msg("%s is %s", names[i].name, qs_env_class_name(qs_variable_class(names[i].name, NULL)));
    static char path[] = "PATH", all[] = "*";
    char *lists[2] = {path, all};
    const struct qs_farm_variables farm = {.note = {lists, 1}, .ignore = {lists + 1, 1}};
    assert_int_equal(qs_variable_class("PATH", &farm), QS_ENV_NOTED);
    assert_int_equal(qs_variable_class("LANG", &farm), QS_ENV_RECORDED);
}

/* The page shows the table as it is. */
static void test_the_page_has_the_table(void **state)
{
    const char *const *schema_dir = *state;
    struct qs_buf row, page;
    size_t count;
    const struct qs_variable_rule *rules = qs_variable_rules(&count);
    char path[4096], line[4096];
    snprintf(path, sizeof path, "%s/sides.md", *schema_dir);
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    qs_buf_init(&row);
    qs_buf_init(&page);
    while (fgets(line, sizeof line, f))
        qs_buf_str(&page, line);
    fclose(f);
    qs_buf_str(&row, "| a difference | of | names |\n|---|---|---|\n");
    for (size_t i = 0; i < count; i++) {
        qs_buf_fmt(&row, "| %s | %s | `", rules[i].class == QS_ENV_MACHINE ? "refused" : "kept, not compared",
                   rules[i].what);
        for (const char *at = rules[i].names; *at; at++)
            qs_buf_fmt(&row, *at == ' ' ? "`%c`" : "%c", *at);
        qs_buf_str(&row, "` |\n");
    }
    qs_buf_char(&row, '\n');
    if (!strstr(page.data, row.data))
        fail_msg("schema/sides.md should have:\n%s", row.data);
    qs_buf_done(&row);
    qs_buf_done(&page);
}

int main(int argc, char **argv)
{
    const char *schema_dir = argc > 2 ? argv[2] : "schema";
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_keys_that_differ),
        cmocka_unit_test(test_equal_and_unknown),
        cmocka_unit_test(test_added_and_written),
        cmocka_unit_test(test_what_is_no_object),
        cmocka_unit_test(test_variables_by_name),
        cmocka_unit_test_prestate(test_the_page_has_the_table, &schema_dir),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
