/* The daemon's command line and default places. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <pwd.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/folder.h"
#include "base/mem.h"
#include "config/options.h"

static bool parse(const char *const *words, struct qs_options *o, struct qs_err *err)
{
    char *argv[16] = {NULL};
    int argc = 0;
    *err = QS_ERR_INIT;
    argv[argc++] = (char *)"quiesced";
    for (; words[argc - 1]; argc++)
        argv[argc] = (char *)words[argc - 1];
    return qs_options_parse(argc, argv, o, err);
}

#define PARSE(o, err, ...) parse((const char *const[]){__VA_ARGS__, NULL}, o, err)

static void test_values(void **state)
{
    (void)state;
    struct qs_options o;
    struct qs_err err;
    assert_true(PARSE(&o, &err, "--db", "a.db", "--socket=/x y/s", "--embedded"));
    assert_string_equal(o.db, "a.db");
    assert_string_equal(o.socket, "/x y/s");
    assert_true(o.embedded);
    assert_null(o.config);
    assert_int_equal(o.seed, 1);
    assert_true(PARSE(&o, &err, "--simulate", "f", "--job=j", "--seed", "18446744073709551615"));
    assert_true(o.seed == UINT64_MAX);
    static const char *const levels[] = {"error", "warn", "info", "debug"};
    for (int i = QS_LOG_ERROR; i <= QS_LOG_DEBUG; i++) {
        assert_int_equal(o.log_level, QS_LOG_INFO);
        assert_true(PARSE(&o, &err, "--log-level", levels[i]));
        assert_int_equal(o.log_level, i);
        assert_true(PARSE(&o, &err, "--json"));
    }
}

static void test_refusals(void **state)
{
    (void)state;
    static const struct {
        const char *words[4];
        const char *says;
    } cases[] = {
        {{"--simulat"}, "did you mean `--simulate`"},
        {{"--zzzzzzzz"}, "see --help"},
        {{"--db"}, "--db wants a value: --db FILE"},
        {{"--embedded=1"}, "--embedded takes no value"},
        {{"--seed", "x"}, "not `x`"},
        {{"--seed", "-1"}, "not `-1`"},
        {{"--seed", "18446744073709551616"}, "from 0 to 2^64-1"},
        {{"--simulate", "f"}, "--simulate needs a job"},
        {{"--job", "f"}, "belong to --simulate"},
        {{"farm.yaml"}, "`farm.yaml` is not an option"},
        {{"--embedded", "--reading"}, "give one of them"},
        {{"--log-level", "loud"}, "--log-level must be error, warn, info or debug, not `loud`"},
        {{"--log-level", "Info"}, "not `Info`"},
        {{"--log-level="}, "not ``"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct qs_options o;
        struct qs_err err;
        assert_false(parse(cases[i].words, &o, &err));
        assert_int_equal(err.code, QS_E_USAGE);
        if (!strstr(err.text, cases[i].says))
            fail_msg("`%s` does not say `%s`", err.text, cases[i].says);
    }
}

static void test_help_names_every_option(void **state)
{
    (void)state;
    static const char *const names[] = {"--config",      "--check-config", "--db",        "--socket",
                                        "--agent",       "--embedded",     "--log-level", "--simulate",
                                        "--job",         "--event-log",    "--seed",      "--json",
                                        "--dump-states", "--version",      "--help",      "--reading"};
    struct qs_buf out;
    qs_buf_init(&out);
    qs_options_help(&out);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_non_null(strstr(out.data, names[i]));
    qs_buf_done(&out);
}

static char *with_xdg(const char *name)
{
    return strcmp(name, "XDG_STATE_HOME") == 0    ? (char *)"/s"
           : strcmp(name, "XDG_RUNTIME_DIR") == 0 ? (char *)"/r"
                                                  : NULL;
}

static char *with_home(const char *name)
{
    return strcmp(name, "HOME") == 0             ? (char *)"/h"
           : strcmp(name, "XDG_STATE_HOME") == 0 ? (char *)"relative"
                                                 : NULL;
}

static char *with_nothing(const char *name)
{
    (void)name;
    return NULL;
}

static void expect(char *path, const char *want)
{
    assert_string_equal(path, want);
    free(path);
}

static void test_places(void **state)
{
    (void)state;
    expect(qs_folder_of_state(with_xdg), "/s/quiesce");
    expect(qs_path_socket(with_xdg, 7), "/r/quiesce/api.sock");
    expect(qs_folder_of_state(with_home),
           "/h/.local/state/quiesce"); /* a relative XDG path is ignored, as its specification asks */
    expect(qs_path_socket(with_home, 7), "/tmp/quiesce-7/api.sock");
    const struct passwd *user = getpwuid(geteuid());
    char *want = user && access(user->pw_dir, F_OK) == 0 && strcmp(user->pw_dir, "/") != 0
                     ? qs_asprintf("%s/.local/state/quiesce", user->pw_dir)
                     : NULL;
    char *got = qs_folder_of_state(with_nothing); /* not a folder in the root of the file system */
    assert_int_equal(got == NULL, want == NULL);
    if (want)
        assert_string_equal(got, want);
    free(got);
    free(want);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_help_names_every_option),
        cmocka_unit_test(test_places),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
