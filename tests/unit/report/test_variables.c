/* Variables of the environment in which two sides differ. */
#include "base/mem.h"
#include "page.h"
#include "report/env_diff.h"
#include "report/env_facts.h"
#include "report/variables.h"
#include "sides.h"

static void is_compared(struct sides *s)
{
    json_t *doc = sides_compared(s);
    assert_true(json_is_false(at(doc, "refused")));
    assert_string_equal(text_at(doc, "results.0.devices.0.comparisons.0.verdict"), "equivalent");
    json_decref(doc);
}

/* The environment of whoever started a job, with one value more, or NULL. */
static void take_environment(struct sides *s, size_t job, const char *const *pairs)
{
    struct qs_job_benchmark *b = &s->jobs[job].spec->benchmarks[0];
    qs_strings_done(&b->env);
    b->env_inherit = false;
    b->env.at = qs_calloc(16, sizeof *b->env.at);
    for (b->env.count = 0; pairs[b->env.count]; b->env.count++)
        b->env.at[b->env.count] = qs_strdup(pairs[b->env.count]);
}

/* Yesterday in one terminal, today in another: what tells of the terminal is not compared, what may matter is
 * noted, what does matter is refused. */
static void another_terminal_is_no_reason(void **state)
{
    (void)state;
    static const char *const old[] = {"PATH=/bin", "SHLVL=1", "TERM=xterm", "EDITOR=vi", NULL},
                             *const new[] = {"PATH=/bin", "SHLVL=3",    "SSH_TTY=/dev/pts/1",
                                             "TMUX=1",    "EDITOR=vim", NULL};
    static const char *const other[] = {"PATH=/opt:/bin", "SHLVL=1",  "TERM=xterm",
                                        "EDITOR=vi",      "LC_ALL=C", NULL};
    struct sides s;
    sides_init(&s, NULL);
    sides_add_job(&s, 0, 1, 0, 8, 1e6);
    sides_add_job(&s, 1, 2, 0, 8, 1e6);
    take_environment(&s, 0, old);
    take_environment(&s, 1, new);
    json_t *doc = sides_compared(&s);
    assert_true(json_is_false(at(doc, "refused")));
    assert_int_equal(json_array_size(at(doc, "environment")), 2);
    assert_string_equal(text_at(doc, "environment.0.key"), "env.EDITOR");
    assert_string_equal(text_at(doc, "environment.0.class"), "noted");
    assert_string_equal(text_at(doc, "environment.1.key"), "variables_bytes");
    assert_string_equal(text_at(doc, "environment.1.base"), "39"); /* each with its NUL */
    assert_string_equal(text_at(doc, "environment.1.candidate"), "55");
    assert_string_equal(text_at(doc, "environment.1.class"), "noted");
    json_decref(doc);
    take_environment(&s, 1, other);
    doc = sides_compared(&s);
    assert_true(json_is_true(at(doc, "refused")));
    assert_string_equal(text_at(doc, "environment.0.key"), "env.LC_ALL");
    assert_string_equal(text_at(doc, "environment.1.key"), "env.PATH");
    assert_string_equal(text_at(doc, "environment.1.class"), "machine");
    json_decref(doc);
    s.in.allow = "env.LC_*,env.PATH";
    is_compared(&s);
    sides_done(&s);
}

/* An operator knows names that nobody else does; what an arm sets was set on purpose. */
static void lists_of_the_farm_and_purpose(void **state)
{
    (void)state;
    static const char *const old[] = {"FLAGS=1", "PATH=/bin", NULL}, *const new[] = {"FLAGS=2", "PATH=/opt",
                                                                                     NULL};
    static char flags[] = "FLA*", path[] = "PATH";
    char *lists[2] = {flags, path};
    struct qs_farm_variables farm = {.refuse = {lists, 1}, .ignore = {lists, 2}};
    struct sides s;
    sides_init(&s, NULL);
    sides_add_job(&s, 0, 1, 0, 8, 1e6);
    sides_add_job(&s, 1, 2, 0, 8, 1e6);
    take_environment(&s, 0, old);
    take_environment(&s, 1, new);
    s.in.variables = &farm;
    json_t *doc = sides_compared(&s);
    assert_int_equal(json_array_size(at(doc, "environment")), 1);
    assert_string_equal(text_at(doc, "environment.0.key"), "env.FLAGS");
    assert_true(json_is_true(at(doc, "refused")));
    json_decref(doc);
    farm.refuse.count = 0;
    is_compared(&s);
    s.in.variables = NULL;
    static const char *const terminals[] = {"TERM=dumb", NULL};
    take_environment(&s, 0, terminals);
    take_environment(&s, 1, terminals);
    is_compared(&s);
    struct qs_job_arm *arm = &s.jobs[1].spec->arms[0]; /* as --env does */
    arm->env.at = qs_calloc(1, sizeof *arm->env.at);
    arm->env.at[arm->env.count++] = qs_strdup("TERM=xterm");
    doc = sides_compared(&s);
    assert_true(json_is_true(at(doc, "refused")));
    assert_string_equal(text_at(doc, "environment.0.key"), "env.TERM");
    json_decref(doc);
    sides_done(&s);
}

/* The environment that sessions of a side recorded, with what their processes inherited. */
static void inherit(struct sides *s, int side, int64_t env, const char *variables)
{
    for (size_t i = 0; i < s->runs[side].count; i++) {
        struct qs_arm_run *run = &s->runs[side].at[i];
        struct qs_buf text;
        qs_buf_init(&text);
        qs_buf_fmt(&text, "{\"agent\":\"1\",\"kernel\":\"6.1\"%s%s}", variables ? ",\"variables\":" : "",
                   variables ? variables : "");
        sides_name(&run->env_json, text.data);
        run->env = env;
        qs_buf_done(&text);
    }
}

/* What a daemon hands on to the processes of its jobs is compared as what a caller hands on is. */
static void what_is_inherited_is_compared(void **state)
{
    (void)state;
    struct sides s;
    sides_init(&s, NULL);
    sides_add_job(&s, 0, 1, 0, 8, 1e6);
    sides_add_job(&s, 1, 2, 0, 8, 1e6);
    inherit(&s, 0, 1, "{\"PATH\":\"/bin\",\"EDITOR\":\"vi\",\"SHLVL\":\"1\"}");
    inherit(&s, 1, 2, "{\"PATH\":\"/bin\",\"EDITOR\":\"vim\",\"TMUX\":\"12\"}");
    json_t *doc = sides_compared(&s);
    assert_true(json_is_false(at(doc, "refused")));
    assert_int_equal(json_array_size(at(doc, "environment")), 2);
    assert_string_equal(text_at(doc, "environment.0.key"), "env.EDITOR");
    assert_string_equal(text_at(doc, "environment.0.class"), "noted"); /* nobody chose it */
    assert_string_equal(text_at(doc, "environment.1.key"), "variables_bytes");
    assert_string_equal(text_at(doc, "environment.1.base"), "28");
    assert_string_equal(text_at(doc, "environment.1.candidate"), "29");
    json_decref(doc);
    inherit(&s, 1, 2, "{\"PATH\":\"/opt\",\"EDITOR\":\"vi\",\"SHLVL\":\"1\"}");
    doc = sides_compared(&s);
    assert_true(json_is_true(at(doc, "refused")));
    assert_int_equal(json_array_size(at(doc, "environment")), 1);
    assert_string_equal(text_at(doc, "environment.0.key"), "env.PATH");
    assert_string_equal(text_at(doc, "environment.0.base"), "/bin");
    assert_string_equal(text_at(doc, "environment.0.candidate"), "/opt");
    json_decref(doc);
    s.in.allow = "env.PATH";
    is_compared(&s);
    s.in.allow = "";
    inherit(&s, 1, 2, NULL); /* an older version kept none: nothing is known of them */
    doc = sides_compared(&s);
    assert_true(json_is_false(at(doc, "refused")));
    assert_int_equal(json_array_size(at(doc, "environment")), 0);
    json_decref(doc);
    sides_done(&s);
}

static size_t facts_read;
bool __real_qs_env_facts_read(const char *json, struct qs_env_facts *ret, struct qs_err *err);
bool __wrap_qs_env_facts_read(const char *json, struct qs_env_facts *ret, struct qs_err *err);

bool __wrap_qs_env_facts_read(const char *json, struct qs_env_facts *ret, struct qs_err *err)
{
    facts_read++;
    return __real_qs_env_facts_read(json, ret, err);
}

/* Each run in a session of its own, from another terminal: as many texts as sessions, not their product, and
 * each value that a side has stands against each of the other. */
static void each_environment_is_read_once(void **state)
{
    enum { RUNS = 24 };
    (void)state;
    struct sides s;
    sides_init(&s, NULL);
    for (int side = 0; side < 2; side++) {
        sides_add_job(&s, side, side + 1, 0, RUNS, 1e6);
        for (size_t i = 0; i < RUNS; i++) {
            struct qs_arm_run *run = &s.runs[side].at[i];
            struct qs_buf text;
            qs_buf_init(&text);
            qs_buf_fmt(&text, "{\"kernel\":\"6.%zu\",\"variables\":{\"PWD\":\"%0*d\",\"PATH\":\"/bin\"}}",
                       i % 2, (int)i + 1, side);
            sides_name(&run->env_json, text.data);
            run->session = run->env = (int64_t)(RUNS * (size_t)side + i + 1);
            qs_buf_done(&text);
        }
    }
    facts_read = 0;
    json_t *doc = sides_compared(&s);
    /* what each session and the host said, what each terminal made of the set-up, the arms */
    assert_int_equal(facts_read, 2 * RUNS + 1 + 2 * RUNS + 2);
    assert_string_equal(text_at(doc, "environment.0.key"), "kernel");
    assert_string_equal(text_at(doc, "environment.0.base"), "6.0");
    assert_string_equal(text_at(doc, "environment.0.candidate"), "6.1");
    assert_string_equal(text_at(doc, "environment.1.key"), "kernel");
    assert_string_equal(text_at(doc, "environment.1.base"), "6.1");
    assert_string_equal(text_at(doc, "environment.1.candidate"), "6.0");
    assert_string_equal(text_at(doc, "environment.2.key"), "variables_bytes");
    assert_int_equal(json_array_size(at(doc, "environment")), 2 + RUNS * (RUNS - 1)); /* of so many lengths */
    json_decref(doc);
    sides_done(&s);
}

/* What a job sets replaces what it inherits, and is the same wherever it comes from. */
static void what_a_job_sets_hides_what_it_inherits(void **state)
{
    (void)state;
    static const char *const set[] = {"PATH=/bin", NULL};
    struct sides s;
    sides_init(&s, NULL);
    sides_add_job(&s, 0, 1, 0, 8, 1e6);
    sides_add_job(&s, 1, 2, 0, 8, 1e6);
    inherit(&s, 0, 1, "{\"PATH\":\"/bin\",\"EDITOR\":\"vi\"}");
    inherit(&s, 1, 2, "{\"PATH\":\"/opt\",\"EDITOR\":\"vi\"}");
    take_environment(&s, 1, set);
    s.jobs[1].spec->benchmarks[0].env_inherit = true;
    json_t *doc = sides_compared(&s);
    assert_true(json_is_false(at(doc, "refused")));
    assert_int_equal(json_array_size(at(doc, "environment")), 0);
    json_decref(doc);
    for (int side = 0; side < 2; side++)
        s.jobs[side].spec->benchmarks[0].user = qs_strdup("nobody"); /* who gets no EDITOR of anybody's */
    inherit(&s, 1, 2, "{\"PATH\":\"/opt\",\"EDITOR\":\"emacs\"}");
    doc = sides_compared(&s);
    assert_int_equal(json_array_size(at(doc, "environment")), 0);
    json_decref(doc);
    sides_done(&s);
}

/* Between two nights and in a reproduction, which know no job's own variables. */
static void inherited_variables_have_their_class(void **state)
{
    (void)state;
    static const char old[] = "{\"variables\":{\"EDITOR\":\"vi\",\"PATH\":\"/bin\",\"SHLVL\":\"1\"}}",
                      new[] = "{\"variables\":{\"EDITOR\":\"vim\",\"PATH\":\"/opt\",\"SHLVL\":\"2\"}}";
    struct qs_env_diff diff;
    struct qs_err err = QS_ERR_INIT;
    assert_true(qs_env_diff(old, new, NULL, &diff, &err));
    assert_int_equal(diff.count, 2);
    assert_string_equal(diff.at[0].key, "variables.EDITOR");
    assert_int_equal(diff.at[0].class, QS_ENV_NOTED);
    assert_string_equal(diff.at[1].key, "variables.PATH");
    assert_int_equal(diff.at[1].class, QS_ENV_MACHINE);
    qs_env_diff_free(&diff);
    assert_true(qs_env_diff("{}", new, NULL, &diff, &err));
    assert_int_equal(diff.count, 0);
    qs_env_diff_free(&diff);
    assert_true(qs_env_diff("{\"variables\":{}}", new, NULL, &diff, &err));
    assert_int_equal(diff.count, 2);
    qs_env_diff_free(&diff);
}

/* A value is kept where it decides; of what may be a secret, what tells two of them apart. */
static void secrets_are_not_kept(void **state)
{
    static const struct {
        const char *name, *value, *kept;
    } cases[] = {
        {"PATH", "/bin:/usr/bin", "/bin:/usr/bin"},
        {"LD_PRELOAD", "", ""},
        {"GITHUB_TOKEN", "ours", "sha256:ae0bec9e9d33c563, 4 bytes"},
        {"SHLVL", "/root", "sha256:94a6b447580330f9, 5 bytes"},
        {"OURS", "", "sha256:e3b0c44298fc1c14, 0 bytes"},
        {"MINE", "ours", "ours"},
    };
    char *refused[] = {(char[]){"MINE"}};
    const struct qs_farm_variables of_farm = {.refuse = {.at = refused, .count = 1}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct qs_buf kept;
        qs_buf_init(&kept);
        qs_variable_keep(cases[i].name, cases[i].value, &of_farm, &kept);
        assert_string_equal(kept.len > 0 ? kept.data : "", cases[i].kept);
        assert_int_equal(qs_variable_kept_bytes(cases[i].kept), strlen(cases[i].value));
        qs_buf_done(&kept);
    }
    assert_int_equal(qs_variable_kept_bytes("sha256:none"), 11); /* a value that only looks like it */
}

/* What an arm sets is what is compared, where both sides are arms of the same jobs; beside another job it is
 * a difference of environments. */
static void variables_of_an_arm_of_the_same_job_are_no_environment(void **state)
{
    (void)state;
    struct sides s;
    sides_init(&s, NULL);
    for (int64_t job = 0; job < 2; job++) {
        struct qs_strings *env = &s.jobs[job].spec->arms[1].env;
        qs_strings_done(env);
        env->at = qs_calloc(1, sizeof *env->at);
        env->at[0] = qs_strdup("PATH=/opt/bin");
        env->count = 1;
    }
    sides_add_job(&s, 0, 1, 0, 8, 1e6);
    sides_add_job(&s, 1, 1, 1, 8, 1e6);
    json_t *doc = sides_compared(&s);
    assert_true(json_is_false(at(doc, "refused")));
    assert_int_equal(json_array_size(at(doc, "environment")), 0);
    assert_string_equal(text_at(doc, "arm.0.key"), "env.PATH");
    assert_string_equal(text_at(doc, "arm.0.candidate"), "/opt/bin");
    json_decref(doc);
    sides_add(&s, 1, 2, 1, 1, 1e6);
    doc = sides_compared(&s);
    assert_true(json_is_true(at(doc, "refused")));
    assert_string_equal(text_at(doc, "environment.0.key"), "env.PATH");
    assert_int_not_equal(json_array_size(at(doc, "arm")), 0);
    assert_string_not_equal(text_at(doc, "arm.0.key"), "env.PATH");
    json_decref(doc);
    sides_done(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(another_terminal_is_no_reason),
        cmocka_unit_test(lists_of_the_farm_and_purpose),
        cmocka_unit_test(what_is_inherited_is_compared),
        cmocka_unit_test(each_environment_is_read_once),
        cmocka_unit_test(what_a_job_sets_hides_what_it_inherits),
        cmocka_unit_test(inherited_variables_have_their_class),
        cmocka_unit_test(secrets_are_not_kept),
        cmocka_unit_test(variables_of_an_arm_of_the_same_job_are_no_environment),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
