/* Differences of environment: found by key, told by both values, weighed by what they may do. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "config/job/stored.h"
#include "report/conditions.h"
#include "report/env_diff.h"
#include "report/history/impl.h"
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
    assert_true(qs_env_diff(before, after, NULL, &d, &err));
    assert_true(d.known);
    assert_int_equal(d.count, 4);
    check(&d.at[0], "agent", NULL, "1", QS_ENV_INSTRUMENT);
    check(&d.at[1], "cgroup", "0::/a", "0::/b", QS_ENV_NOTED);
    check(&d.at[2], "device.kernel", "6.1", "6.2", QS_ENV_MACHINE);
    check(&d.at[3], "governors", "none", NULL, QS_ENV_MACHINE);
    assert_int_equal(qs_env_diff_matters(&d), 3);
    assert_int_equal(qs_env_class_of("device.memory_bytes", NULL), QS_ENV_NOTED);
    assert_int_equal(qs_env_class_of("memory_type", NULL), QS_ENV_MACHINE);
    assert_int_equal(qs_env_class_of("achieved.thermal_protection", NULL), QS_ENV_MACHINE);
    assert_int_equal(qs_env_class_of("achieved.app org.example.kernel", NULL), QS_ENV_NOTED);
    qs_env_diff_free(&d);
}

/* All of a list counts, at any depth. */
static void test_lists(void **state)
{
    (void)state;
    static const char a[] = "{\"cpus\":[0,1],\"rules\":[{\"cov\":[1,2]},{\"of\":null}]}";
    static const char b[] = "{\"cpus\":[0,2],\"rules\":[{\"cov\":[1,3]},{\"of\":null}]}";
    struct qs_err err;
    struct qs_env_diff d;
    assert_true(qs_env_diff(a, b, NULL, &d, &err));
    assert_int_equal(d.count, 2);
    check(&d.at[0], "cpus", "0,1", "0,2", qs_env_class_of("cpus", NULL));
    check(&d.at[1], "rules", "{cov:[1,2]},{of:}", "{cov:[1,3]},{of:}", qs_env_class_of("rules", NULL));
    qs_env_diff_free(&d);
}

static void test_equal_and_unknown(void **state)
{
    (void)state;
    struct qs_err err;
    struct qs_env_diff d;
    assert_true(qs_env_diff(before, before, NULL, &d, &err));
    assert_true(d.known);
    assert_int_equal(d.count, 0);
    qs_env_diff_free(&d);
    assert_true(qs_env_diff(before, NULL, NULL, &d, &err));
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
    assert_true(qs_env_diff("{}", "{}", NULL, &d, &err));
    qs_env_diff_add(&d, "executable", "aa", "bb", QS_ENV_MACHINE);
    qs_env_diff_add(&d, "device", "local", "local", QS_ENV_MACHINE);
    qs_env_diff_add(&d, "harness", NULL, NULL, QS_ENV_MACHINE);
    qs_buf_init(&out);
    struct qs_json j = qs_json_to(&out);
    struct qs_env_told told = qs_env_diff_told(&d);
    qs_json_object(&j);
    qs_put_fields(&j, qs_env_told_rows, &told);
    qs_json_object_end(&j);
    qs_fields_free(qs_env_told_rows, &told);
    assert_string_equal(out.data, "{\"differences\":[{\"key\":\"executable\",\"base\":\"aa\",\"candidate\":"
                                  "\"bb\",\"class\":\"machine\",\"matters\":true}]}");
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
        assert_false(qs_env_diff("{}", bad[i], NULL, &d, &err));
        assert_int_equal(err.code, QS_E_DATA);
        qs_env_diff_free(&d);
    }
}

struct night {
    const char *env_json, *spec_json, *conditions_json;
};

/* As versions before the eleventh kept them; as they are kept now where the job says nothing. */
static const char usual_conditions[] = "{\"affinity\":\"any\",\"frequency\":\"free\"}";
static const char all_conditions[] =
    "{\"name\":\"default\",\"controls\":{\"affinity\":\"any\",\"frequency\":\"free\"},\"gate\":[{\"sensor\":"
    "\"cpu.busy_ratio_ppm\",\"below\":100000,\"dwell_ns\":0,\"timeout_ns\":5000000000,\"on_timeout\":"
    "\"taint\","
    "\"backoff\":true,\"unreadable_ok\":false}],\"patience_ns\":20000000000,\"bounds\":{\"cpu.steal_ticks\":"
    "2,"
    "\"sched.involuntary_switches\":1000},\"repeat_tainted\":2,\"stop\":null,\"cap_time_ns\":300000000000,"
    "\"cap_iterations\":10000}";

static struct qs_env_diff between(const struct night *x, const struct night *y,
                                  const struct qs_farm_variables *of_farm)
{
    struct qs_history_session s[2] = {0};
    struct qs_history_night nights[2] = {{.session = &s[0]}, {.session = &s[1]}};
    struct qs_env_diff d;
    struct qs_err err;
    for (int i = 0; i < 2; i++) {
        const struct night *night = i ? y : x;
        s[i].spec_json = (char *)(uintptr_t)(night->spec_json ? night->spec_json : "{}");
        s[i].env_json = (char *)(uintptr_t)night->env_json;
        s[i].conditions_json =
            (char *)(uintptr_t)(night->conditions_json ? night->conditions_json : usual_conditions);
        s[i].argv_json = (char *)(uintptr_t) "[]";
    }
    assert_true(qs_history_diff(&nights[0], &nights[1], of_farm, &d, &err));
    qs_history_night_done(&nights[0]);
    qs_history_night_done(&nights[1]);
    return d;
}

#define JOB(benchmark, arms)                                                                                 \
    "{\"text\":\"quiesce: 1\\nname: n\\nbenchmarks: [{name: b, argv: [x]" benchmark "}]\\n" arms "\"}"

static void check_inherited(const char *spec_json, const char *key, const char *base, const char *cand)
{
    static const char old[] = "{\"kernel\":\"6.1\",\"variables\":{\"EDITOR\":\"vi\",\"PATH\":\"/bin\"}}",
                      new[] = "{\"kernel\":\"6.1\",\"variables\":{\"EDITOR\":\"vi\",\"PATH\":\"/opt\"}}";
    struct night x = {.env_json = old, .spec_json = JOB("", "")},
                 y = {.env_json = new, .spec_json = spec_json};
    struct qs_env_diff d = between(&x, &y, NULL);
    assert_int_equal(d.count, key != NULL);
    assert_int_equal(qs_env_diff_matters(&d), d.count);
    if (key) {
        assert_string_equal(d.at[0].key, key);
        assert_string_equal(d.at[0].base, base);
        assert_string_equal(d.at[0].cand ? d.at[0].cand : "(none)", cand);
    }
    qs_env_diff_free(&d);
    x.spec_json = spec_json; /* of both nights */
    d = between(&x, &y, NULL);
    assert_int_equal(d.count, key && strcmp(cand, "/opt") == 0);
    qs_env_diff_free(&d);
}

static void check_set(const char *base, const char *cand, const char *key, const char *was, const char *is,
                      bool matters)
{
    struct night x = {.env_json = "{}", .spec_json = base}, y = {.env_json = "{}", .spec_json = cand};
    struct qs_env_diff d = between(&x, &y, NULL);
    assert_int_equal(d.count, key != NULL);
    assert_int_equal(qs_env_diff_matters(&d), matters);
    if (key) {
        assert_string_equal(d.at[0].key, key);
        assert_string_equal(d.at[0].base ? d.at[0].base : "", was);
        assert_string_equal(d.at[0].cand ? d.at[0].cand : "", is);
    }
    qs_env_diff_free(&d);
}

#define FILES(text, sha) "{\"name\":\"n\",\"text\":\"" text "\",\"files\":{\"x\":\"" sha "\"}}"
#define TEXT(rest)       "quiesce: 1\\nname: n\\nbenchmarks: [{name: b, argv: [x], inputs: {x: x}}]" rest

/* What the job files set for the processes of a series. */
static void test_variables_that_jobs_set(void **state)
{
    (void)state;
    check_set(JOB(", env: {MODE: fast}", ""), JOB(", env: {MODE: slow}", ""), "env.MODE", "fast", "slow",
              true);
    check_set(JOB("", ""), JOB("", "arms: {a: {env: {TERM: x}}, b: {argv: [y]}}"), "env.TERM", "", "x", true);
    check_set(JOB("", ""), JOB("", "arms: {a: {argv: [y]}, b: {env: {TERM: x}}}"), NULL, "", "", false);
    check_set(JOB(", env: {MODE: fast}", "arms: {a: {env: {MODE: slow}}, b: {argv: [y]}}"),
              JOB(", env: {MODE: slow}", ""), NULL, "", "", false);
    /* The whole environment of a caller. */
    check_set(JOB(", env_inherit: false, env: {TERM: x}", ""),
              JOB(", env_inherit: false, env: {TERM: y}", ""), NULL, "", "", false);
    check_set(JOB(", env_inherit: false, env: {MODE: x}", ""),
              JOB(", env_inherit: false, env: {MODE: y}", ""), "env.MODE", "x", "y", false);
    check_set(FILES(TEXT(""), "aa"), FILES(TEXT("\\narms: {a: {env: {MODE: x}}, b: {argv: [y]}}"), "aa"),
              "env.MODE", "", "x", true);
    check_set(FILES(TEXT(""), "aa"), FILES(TEXT(""), "bb"), NULL, "", "", false);
}

/* A session keeps what any process of its job inherits; a series is of one arm at one point. */
static void a_series_breaks_where_its_own_processes_see_it(void **state)
{
    (void)state;
    check_inherited(JOB("", ""), "variables.PATH", "/bin", "/opt");
    check_inherited(JOB("", "arms: {a: {env: {PATH: /own}}, b: {argv: [y]}}"), "variables.PATH", "/bin",
                    "/own");
    check_inherited(JOB("", "arms: {a: {env: {PATH: /bin}}, b: {argv: [y]}}"), NULL, NULL, NULL);
    check_inherited(JOB("", "arms: {a: {argv: [y]}, b: {env: {PATH: /own}}}"), "variables.PATH", "/bin",
                    "/opt");
    check_inherited(JOB(", env: {PATH: /own}}, {name: c, argv: [x]", ""), "variables.PATH", "/bin", "/own");
    check_inherited(JOB(", env_inherit: false}, {name: c, argv: [x]", ""), "variables.PATH", "/bin",
                    "(none)");
    check_inherited("{\"text\":\"not a job\"}", "variables.PATH", "/bin",
                    "/opt"); /* what may matter is told */
}

static size_t jobs_read;
bool __real_qs_job_from_store(const char *spec_json, uint64_t seed, struct qs_job_spec **ret,
                              struct qs_err *err);
bool __wrap_qs_job_from_store(const char *spec_json, uint64_t seed, struct qs_job_spec **ret,
                              struct qs_err *err);

bool __wrap_qs_job_from_store(const char *spec_json, uint64_t seed, struct qs_job_spec **ret,
                              struct qs_err *err)
{
    jobs_read++;
    return __real_qs_job_from_store(spec_json, seed, ret, err);
}

/* Variables that differ and conditions that were not kept: each job is asked for four times. */
static void a_job_is_read_once(void **state)
{
    static const char *const jobs[3] = {JOB(", env: {MODE: a}", "conditions: {repeat_tainted: 1}"),
                                        JOB(", env: {MODE: b}", "conditions: {repeat_tainted: 2}"),
                                        "not a job"};
    struct qs_history_session s[3] = {{.job = 0}};
    struct qs_history_night nights[3] = {{.session = &s[0]}, {.session = &s[1]}, {.session = &s[2]}};
    (void)state;
    jobs_read = 0;
    for (size_t i = 0; i < 3; i++) {
        struct qs_err err = QS_ERR_INIT;
        struct qs_env_diff d = {0};
        s[i] = (struct qs_history_session){.env_json = (char *)(uintptr_t) "{}",
                                           .spec_json = (char *)(uintptr_t)jobs[i],
                                           .conditions_json = (char *)(uintptr_t)usual_conditions,
                                           .argv_json = (char *)(uintptr_t) "[]"};
        if (i > 0)
            assert_true(qs_history_diff(&nights[i - 1], &nights[i], NULL, &d, &err));
        assert_int_equal(d.count, i == 1 ? 2 : 0);
        qs_env_diff_free(&d);
    }
    assert_int_equal(jobs_read, 3);
    for (size_t i = 0; i < 3; i++)
        qs_history_night_done(&nights[i]);
}

/* What the operator says of variables holds between nights too. */
static void the_farm_tells_which_variables_break_a_series(void **state)
{
    (void)state;
    char *path[] = {(char *)"PATH"}, *editor[] = {(char *)"EDIT*"};
    const struct qs_farm_variables ignored = {.ignore = {.at = path, .count = 1}},
                                   refused = {.refuse = {.at = editor, .count = 1}};
    struct night x = {.env_json = "{\"variables\":{\"EDITOR\":\"vi\",\"PATH\":\"/bin\"}}"},
                 y = {.env_json = "{\"variables\":{\"EDITOR\":\"ed\",\"PATH\":\"/opt\"}}"};
    struct qs_env_diff d = between(&x, &y, &ignored);
    assert_int_equal(d.count, 1);
    assert_string_equal(d.at[0].key, "variables.EDITOR");
    assert_int_equal(qs_env_diff_matters(&d), 0);
    qs_env_diff_free(&d);
    d = between(&x, &y, &refused);
    assert_int_equal(qs_env_diff_matters(&d), 2);
    qs_env_diff_free(&d);
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

/* how_many of the differences matter, and what the first of all is. */
static void check_conditions(const char *base_job, const char *cand_job, const char *cand_conditions,
                             size_t how_many, const char *key)
{
    struct night x = {.env_json = "{}", .spec_json = base_job},
                 y = {.env_json = "{}", .spec_json = cand_job, .conditions_json = cand_conditions};
    struct qs_env_diff d = between(&x, &y, NULL);
    assert_int_equal(qs_env_diff_matters(&d), how_many);
    assert_int_equal(d.count > 0, key != NULL);
    if (key)
        assert_string_equal(d.at[0].key, key);
    qs_env_diff_free(&d);
}

/* A gate and bounds decide which values there are; how long is waited and measured decides how many. */
static void which_conditions_break_a_series(void **state)
{
    (void)state;
    static const struct {
        const char *job, *key;
        size_t how_many;
    } rows[] = {
        {JOB("", "conditions: {gate: [{sensor: cpu.busy_ratio_ppm, below: 20%}]}"),
         "conditions.gate.cpu.busy_ratio_ppm", 1},
        {JOB("", "conditions: {patience: 20s, gate: none}"), "conditions.effort.waits.cpu.busy_ratio_ppm", 1},
        {JOB("", "conditions: {bounds: {cpu.steal_ticks: 3, sched.involuntary_switches: 1000}}"),
         "conditions.bounds.cpu.steal_ticks", 1},
        {JOB("", "conditions: {bounds: none}"), "conditions.bounds.cpu.steal_ticks", 2},
        {JOB("", "conditions: {repeat_tainted: 9}"), "conditions.effort.repeat_tainted", 0},
        {JOB("", "plan: {caps: {iterations: 9}}"), "conditions.effort.cap_iterations", 0},
        {JOB("",
             "conditions: {patience: 20s, gate: [{sensor: cpu.busy_ratio_ppm, below: 10%, timeout: 9s}]}"),
         "conditions.effort.waits.cpu.busy_ratio_ppm", 0},
        {JOB("", "plan: {blocks: 7}"), NULL, 0},
        {JOB("", "conditions: {affinity: any}"), NULL, 0},
        {JOB("", "conditions: {switches: {'fan:*': 255, lights: off}}"), "conditions.switches.fan:*", 2},
        {JOB("", "conditions: {frequency: {cpu: free, gpu: max}}"), "conditions.frequency", 2},
        {JOB("", "conditions: {priority: fifo}"), "conditions.priority", 1},
        {JOB("", "conditions: {priority: normal, aslr: on}"), NULL, 0},
        {JOB("", "conditions: {aslr: off}"), "conditions.aslr", 1},
        {JOB("", "conditions: {trip: 85C}"), "conditions.trip_mc", 1},
        {JOB("", "conditions: {app: {package: a.b, debuggable: no}}"), "conditions.app.debuggable", 2},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        check_conditions(JOB("", ""), rows[i].job, NULL, rows[i].how_many, rows[i].key);
    check_conditions(JOB("", "plan: {stop: {any: [{fixed: 40}, {not: {time: 1s}}]}}"),
                     JOB("", "plan: {stop: {any: [{fixed: 40}, {time: 1s}]}}"), NULL, 0,
                     "conditions.effort.stop.any");
}

/* What is stored with points is what the job of an earlier version said, where it said the same. */
static void the_new_form_breaks_nothing(void **state)
{
    (void)state;
    static const char other[] = JOB("", "conditions: {gate: [{sensor: cpu.busy_ratio_ppm, below: 11%}]}");
    check_conditions(JOB("", ""), "not JSON", all_conditions, 0, NULL);
    check_conditions(other, "not JSON", all_conditions, 1, "conditions.gate.cpu.busy_ratio_ppm");
    check_conditions("not JSON", "not JSON", all_conditions, 0, NULL); /* not known any more */
    check_conditions("not JSON", other, NULL, 0, NULL);
}

/* What is kept from run to run is what is made anew: for other stored ones, and where those are not all, for
 * another job, point and arm. */
static void conditions_that_are_kept_are_those_of_the_run(void **state)
{
    (void)state;
    static const char *const jobs[] = {JOB("", ""),
                                       JOB("", "condition_sets: {warm: {patience: 9s}}\\narms: {x: "
                                               "{conditions: default}, y: {conditions: warm}}")};
    QS_SCOPED(qs_conditions_made_done) struct qs_conditions_made made = {.text = NULL};
    struct qs_job_spec *spec[3] = {NULL};
    struct qs_err err;
    for (int i = 0; i < 2; i++)
        assert_true(qs_job_from_store(jobs[i], 0, &spec[i + 1], &err));
    const struct {
        const char *stored;
        int job; /* 0: not known */
        size_t arm;
        const char *has, *has_not;
    } rows[] = {{usual_conditions, 0, 0, "\"any\"", "effort"},
                {usual_conditions, 1, 0, "\"20000000000\"", "\"9000000000\""},
                {usual_conditions, 2, 0, "\"20000000000\"", "\"9000000000\""},
                {usual_conditions, 2, 1, "\"9000000000\"", "\"20000000000\""},
                {usual_conditions, 1, 0, "\"20000000000\"", "\"9000000000\""},
                {all_conditions, 2, 1, "\"20000000000\"", "\"9000000000\""},
                {all_conditions, 1, 0, "\"20000000000\"", "\"9000000000\""},
                {usual_conditions, 0, 0, "\"any\"", "effort"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        for (int again = 0; again < 2; again++) {
            QS_BUF(got);
            QS_BUF(want);
            struct qs_json x = qs_json_to(&got), y = qs_json_to(&want);
            qs_conditions_put_made(&x, &made, rows[i].stored, spec[rows[i].job], 0, rows[i].arm);
            (void)qs_conditions_put(&y, rows[i].stored, spec[rows[i].job], 0, rows[i].arm);
            assert_string_equal(got.data, want.data);
            assert_non_null(strstr(got.data, rows[i].has));
            assert_null(strstr(got.data, rows[i].has_not));
        }
    }
    qs_job_free(spec[1]);
    qs_job_free(spec[2]);
}

int main(int argc, char **argv)
{
    const char *schema_dir = argc > 2 ? argv[2] : "schema";
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_variables_that_jobs_set),
        cmocka_unit_test(test_keys_that_differ),
        cmocka_unit_test(test_lists),
        cmocka_unit_test(test_equal_and_unknown),
        cmocka_unit_test(test_added_and_written),
        cmocka_unit_test(a_series_breaks_where_its_own_processes_see_it),
        cmocka_unit_test(a_job_is_read_once),
        cmocka_unit_test(the_farm_tells_which_variables_break_a_series),
        cmocka_unit_test(which_conditions_break_a_series),
        cmocka_unit_test(the_new_form_breaks_nothing),
        cmocka_unit_test(conditions_that_are_kept_are_those_of_the_run),
        cmocka_unit_test(test_what_is_no_object),
        cmocka_unit_test(test_variables_by_name),
        cmocka_unit_test_prestate(test_the_page_has_the_table, &schema_dir),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
