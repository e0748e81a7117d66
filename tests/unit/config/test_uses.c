/* What a job names of its farm, what a farm names of this machine, and how files come in: each text whole. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "config/farm/farm.h"
#include "config/job/trace.h"
#include "config/document/load.h"
#include "golden.h"

static struct qs_farm_config *farm_of(const char *text)
{
    struct qs_problems problems;
    struct qs_doc *doc = NULL;
    struct qs_farm_config *farm = NULL;
    qs_problems_init(&problems);
    if (qs_doc_read("farm", text, strlen(text), false, &doc, &problems))
        qs_farm_from_doc(doc, NULL, &farm, &problems);
    assert_non_null(farm);
    qs_doc_free(doc);
    qs_problems_done(&problems);
    return farm;
}

/* What is told of a job (its lines from the fourth on are given) by such a farm. */
static void expect_told(const char *farm_text, bool virtual_time, const char *job, const char *want)
{
    struct qs_farm_config *farm = farm_of(farm_text);
    struct qs_problems problems;
    struct qs_doc *doc = NULL;
    struct qs_job_spec *spec = NULL;
    struct qs_buf told;
    char *text = qs_asprintf("quiesce: 1\nbenchmarks: [{name: x, argv: [x]}]\n%s", job);
    qs_problems_init(&problems);
    qs_buf_init(&told);
    assert_true(qs_doc_read("job", text, strlen(text), false, &doc, &problems));
    assert_true(qs_job_from_doc(doc, &spec, &problems));
    bool ok = qs_farm_check_hooks(farm, virtual_time, doc, spec, &problems);
    qs_problems_text(&problems, "job", &told);
    assert_string_equal(told.data, want);
    assert_int_equal(ok, want[0] == '\0');
    qs_buf_done(&told);
    qs_job_free(spec);
    qs_doc_free(doc);
    qs_problems_done(&problems);
    free(text);
    qs_farm_config_free(farm);
}

#define DEVICES "devices: {d: {link: sim}}\n"
#define RULES   DEVICES "rules: {settled: {command: [ask]}, quiet: {command: [look]}}\n"
#define METRICS DEVICES "metrics: {watts: {command: [read], unit: mW}}\n"

static void a_job_names_what_its_farm_has(void **state)
{
    static const struct {
        const char *farm, *job, *told;
        bool virtual_time;
    } rows[] = {
        {DEVICES, "", "", false},
        {DEVICES, "", "", true},
        {RULES, "plan: {stop: {any: [{external: quiet}, {external: settled}]}}\n", "", false},
        {METRICS, "plan: {metrics: [watts]}\n", "", false},
        {RULES, "plan: {stop: {any: [{external: settled}, {not: {external: setled}}]}}\n",
         "job:3:59: plan.stop: this farm has no rule `setled`\n"
         "    3 | plan: {stop: {any: [{external: settled}, {not: {external: setled}}]}}\n"
         "      |                                                           ^\n"
         "        did you mean `settled`?\n",
         false},
        {RULES, "plan: {stop: {external: whatever}}\n",
         "job:3:25: plan.stop: this farm has no rule `whatever`\n"
         "    3 | plan: {stop: {external: whatever}}\n"
         "      |                         ^\n"
         "        this farm has: settled, quiet\n",
         false},
        {DEVICES, "plan: {stop: {external: settled}, metrics: [a, watts]}\n",
         "job:3:25: plan.stop: this farm has no rule `settled`\n"
         "    3 | plan: {stop: {external: settled}, metrics: [a, watts]}\n"
         "      |                         ^\n"
         "        declare it in farm.yaml under `rules`: commands of this machine come from there alone\n"
         "job:3:45: plan.metrics: this farm has no metric `a`\n"
         "    3 | plan: {stop: {external: settled}, metrics: [a, watts]}\n"
         "      |                                             ^\n"
         "        declare it in farm.yaml under `metrics`: commands of this machine come from there alone\n"
         "job:3:48: plan.metrics: this farm has no metric `watts`\n"
         "    3 | plan: {stop: {external: settled}, metrics: [a, watts]}\n"
         "      |                                                ^\n"
         "        declare it in farm.yaml under `metrics`: commands of this machine come from there alone\n",
         false},
        {METRICS, "plan: {metrics: [watts]}\n",
         "job:3:18: plan.metrics: the metric `watts` is a real command, which has no place in virtual time\n"
         "    3 | plan: {metrics: [watts]}\n"
         "      |                  ^\n"
         "        leave it out of a simulation\n",
         true},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        expect_told(rows[i].farm, rows[i].virtual_time, rows[i].job, rows[i].told);
}

/* Each at its line, under the name of its set. */
static void a_rule_of_a_set_is_shown_in_its_place(void **state)
{
    (void)state;
    expect_told(RULES, false,
                "conditions: {stop: {external: setled}}\n"
                "condition_sets:\n  quick:\n    stop: {any: [{time: 1s}, {external: quit}]}\n  none: {stop: "
                "{external: "
                "quiet}}\n"
                "arms: {a: {conditions: quick}, b: {conditions: none}}\n",
                "job:3:31: conditions.stop: this farm has no rule `setled`\n"
                "    3 | conditions: {stop: {external: setled}}\n"
                "      |                               ^\n"
                "        did you mean `settled`?\n"
                "job:6:41: condition_sets.quick.stop: this farm has no rule `quit`\n"
                "    6 |     stop: {any: [{time: 1s}, {external: quit}]}\n"
                "      |                                         ^\n"
                "        did you mean `quiet`?\n");
}

static void external_rules_have_a_most(void **state)
{
    struct qs_buf farm, job;
    (void)state;
    qs_buf_init(&farm);
    qs_buf_init(&job);
    qs_buf_str(&farm, DEVICES "rules:\n");
    qs_buf_str(&job, "plan:\n  stop:\n    any:\n");
    for (int i = 0; i <= QS_JOB_HOOKS_MAX; i++) {
        qs_buf_fmt(&farm, "  r%d: {command: [x]}\n", i);
        qs_buf_fmt(&job, "      - {external: r%d}\n", i);
        if (i == QS_JOB_HOOKS_MAX - 1)
            expect_told(farm.data, false, job.data, "");
    }
    expect_told(farm.data, false, job.data,
                "job:5:5: plan.stop: more than 8 external rules\n"
                "    5 |     any:\n"
                "      |     ^\n");
    qs_buf_clear(&job);
    qs_buf_str(&job, "plan:\n  stop:\n    any:\n");
    for (int i = 0; i < QS_JOB_HOOKS_MAX; i++)
        qs_buf_fmt(&job, "      - {external: r%d}\n", i);
    qs_buf_fmt(&job, "condition_sets:\n  same: {stop: {external: r0}}\n  more: {stop: {external: r%d}}\n",
               QS_JOB_HOOKS_MAX);
    qs_buf_str(&job, "arms: {a: {conditions: same}, b: {conditions: more}}\n");
    expect_told(farm.data, false, job.data,
                "job:16:16: condition_sets.more.stop: more than 8 external rules\n"
                "   16 |   more: {stop: {external: r8}}\n"
                "      |                ^\n");
    qs_buf_done(&farm);
    qs_buf_done(&job);
}

static void a_farm_is_asked_by_name(void **state)
{
    struct qs_farm_config *farm = farm_of(RULES "metrics: {quiet: {command: [read], unit: mW}}\n");
    (void)state;
    assert_string_equal(qs_farm_rule(farm, "quiet")->command.at[0], "look");
    assert_string_equal(qs_farm_rule(farm, "settled")->command.at[0], "ask");
    assert_null(qs_farm_rule(farm, "watts"));
    assert_string_equal(qs_farm_metric(farm, "quiet")->command.at[0], "read");
    assert_null(qs_farm_metric(farm, "settled"));
    qs_farm_config_free(farm);
    assert_string_equal(qs_link_kind_name(QS_LINK_EXEC), "exec");
    assert_string_equal(qs_link_kind_name(QS_LINK_UNIX), "unix");
    assert_string_equal(qs_link_kind_name(QS_LINK_TCP), "tcp");
    assert_string_equal(qs_link_kind_name(QS_LINK_SERIAL), "serial");
    assert_string_equal(qs_link_kind_name(QS_LINK_SIM), "sim");
    assert_string_equal(qs_job_tracer_name(QS_TRACER_NONE), "none");
    assert_string_equal(qs_job_tracer_name(QS_TRACER_COMMAND), "command");
    assert_string_equal(qs_job_tracer_name(QS_TRACER_COMMAND + 1), "none");
}

static char *dir; /* of files, made by each test and gone after it */

static int make_dir(void **state)
{
    (void)state;
    dir = qs_strdup("/tmp/qs-uses-XXXXXX");
    return mkdtemp(dir) ? chdir(dir) : -1;
}

static int drop_dir(void **state)
{
    char *command = qs_asprintf("rm -r '%s'", dir);
    (void)state;
    int rc = chdir("/") == 0 ? system(command) : -1;
    free(command);
    free(dir);
    return rc;
}

static void write_file(const char *name, const char *text, size_t bytes, mode_t mode)
{
    FILE *f = fopen(name, "w");
    assert_non_null(f);
    assert_int_equal(fwrite(text, 1, bytes, f), bytes);
    assert_int_equal(fclose(f), 0);
    assert_int_equal(chmod(name, mode), 0);
}

static void expect_missing(const char *text, size_t count, const char *want)
{
    struct qs_farm_config *farm = farm_of(text);
    struct qs_buf out;
    qs_buf_init(&out);
    qs_buf_str(&out, "before\n");
    assert_int_equal(qs_farm_missing(farm, &out), count);
    assert_string_equal(out.data + strlen("before\n"), want);
    qs_buf_done(&out);
    qs_farm_config_free(farm);
}

static void what_is_not_there_is_told(void **state)
{
    (void)state;
    assert_int_equal(mkdir("bin", 0700), 0);
    write_file("bin/there", "x", 1, 0700);
    write_file("here", "x", 1, 0700);
    write_file("no-program", "x", 1, 0600);
    char *old = qs_strdup(getenv("PATH"));
    assert_int_equal(setenv("PATH", "/nowhere:bin", 1), 0);
    expect_missing(
        "devices: {a: {link: exec, argv: [there]}, b: {link: exec, argv: [./here]}, c: {link: sim}}\n"
        "rules: {r: {command: [there]}}\nmetrics: {m: {command: [bin/there], unit: mW}}\n",
        0, "");
    expect_missing("devices: {a: {link: exec, argv: [here]}, b: {link: exec, argv: [./bin]}}\n"
                   "rules: {r: {command: [./no-program]}}\nmetrics: {m: {command: [absent], unit: mW}}\n",
                   4,
                   "devices.a.argv: there is no program here in PATH\n"
                   "devices.b.argv: there is no program ./bin\n"
                   "rules.r.command: there is no program ./no-program\n"
                   "metrics.m.command: there is no program absent in PATH\n");
    expect_missing("devices: {a: {link: ssh, host: b}, c: {link: ssh, host: b, argv: [there]},\n"
                   "          d: {link: ssh, host: b, argv: [here, -p, '22']}}\n",
                   2,
                   "devices.a.link: there is no program ssh in PATH\n"
                   "devices.d.argv: there is no program here in PATH\n");
    assert_int_equal(setenv("PATH", "bin:", 1), 0); /* nothing between colons is this folder */
    expect_missing("devices: {a: {link: exec, argv: [here]}}\n", 0, "");
    assert_int_equal(unsetenv("PATH"), 0);
    expect_missing("devices: {a: {link: exec, argv: [here]}}\n", 1,
                   "devices.a.argv: there is no program here in PATH\n");
    assert_int_equal(setenv("PATH", old, 1), 0);
    free(old);
}

#define TCP "devices: {a: {link: tcp, address: '127.0.0.1:7', key_file: %s/%s}}\n"

static void expect_key(const char *name, size_t count, const char *fmt)
{
    char *farm = qs_asprintf(TCP, dir, name), *path = qs_asprintf("%s/%s", dir, name);
    struct qs_buf want;
    qs_buf_init(&want);
    for (const char *s = fmt; *s; s++) {
        if (*s == '@')
            qs_buf_str(&want, path);
        else
            qs_buf_char(&want, *s);
    }
    expect_missing(farm, count, want.data);
    qs_buf_done(&want);
    free(path);
    free(farm);
}

#define SECRET "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1dfeff"

static void a_key_is_ours_alone(void **state)
{
    (void)state;
    write_file("good", "quiesce-key a " SECRET, strlen("quiesce-key a " SECRET), 0600);
    write_file("other", "quiesce-key b " SECRET, strlen("quiesce-key b " SECRET), 0600);
    write_file("random", "key", 3, 0600);
    write_file("group", "key", 3, 0640);
    write_file("others", "key", 3, 0604);
    write_file("empty", "", 0, 0600);
    assert_int_equal(mkdir("folder", 0700), 0);
    expect_key("good", 0, "");
    expect_key("other", 1,
               "devices.a.key_file: @ is the key of `b`\n"
               "  make one of its own: quiesce devices enroll a\n");
    expect_key("random", 1,
               "devices.a.key_file: @ is no key of a device\n"
               "  make one: quiesce devices enroll a\n");
    char *farm = qs_asprintf("devices: {a: {link: unix, address: /s, key_file: %s/random}}\n", dir);
    expect_missing(farm, 0, ""); /* any bytes will do there */
    free(farm);
    expect_key("none", 1,
               "devices.a.key_file: @: No such file or directory\n"
               "  make one: quiesce devices enroll a --output @\n");
    expect_key("group", 1, "devices.a.key_file: others may read @ (mode 0640)\n  chmod 600 @\n");
    expect_key("others", 1, "devices.a.key_file: others may read @ (mode 0604)\n  chmod 600 @\n");
    expect_key("empty", 1, "devices.a.key_file: @ is empty, or not a file\n");
    expect_key("folder", 1, "devices.a.key_file: @ is empty, or not a file\n");
}

static void expect_load(const char *name, const char *problems, const char *error)
{
    struct qs_farm_config *farm = NULL;
    struct qs_err err = QS_ERR_INIT;
    struct qs_buf told;
    qs_buf_init(&told);
    bool ok = qs_load_farm(name, NULL, &farm, &told, &err);
    assert_string_equal(told.len ? told.data : "", problems);
    assert_string_equal(err.text, error);
    assert_int_equal(ok, error[0] == '\0');
    assert_int_equal(farm != NULL, ok);
    qs_farm_config_free(farm);
    qs_buf_done(&told);
}

static void a_farm_is_loaded_whole_or_not(void **state)
{
    static const char fine[] = DEVICES, one[] = "devices: {d: {link: simm}}\n";
    static const char two[] = "devices: {d: {link: simm}}\nsockt: x\n", no[] = "devices: {\n";
    (void)state;
    write_file("fine", fine, sizeof fine - 1, 0600);
    write_file("one", one, sizeof one - 1, 0600);
    write_file("two", two, sizeof two - 1, 0600);
    write_file("no", no, sizeof no - 1, 0600);
    expect_load("fine", "", "");
    expect_load("absent", "", "cannot read absent: No such file or directory");
    expect_load("one",
                "one:1:21: devices.d.link: `simm` is not a value of `link`\n"
                "    1 | devices: {d: {link: simm}}\n"
                "      |                     ^\n"
                "        did you mean `sim`?\n",
                "one has 1 problem");
    expect_load("two",
                "two:1:21: devices.d.link: `simm` is not a value of `link`\n"
                "    1 | devices: {d: {link: simm}}\n"
                "      |                     ^\n"
                "        did you mean `sim`?\n"
                "two:2:1: sockt: unknown key\n"
                "    2 | sockt: x\n"
                "      | ^\n"
                "        did you mean `socket`?\n",
                "two has 2 problems");
    expect_load("no",
                "no:2:1: not YAML: while parsing a flow node: did not find expected node content\n"
                "    2 | \n"
                "      | ^\n",
                "no has 1 problem");
}

/* Its own profiles: of the folder beside it, or of the one that it names; the place of each mistake. */
static void a_farm_has_profiles(void **state)
{
    static const char board[] = "profile: board\nextends: generic\n", wrong[] = "profile: w\nswitch: x\n";
    static const char beside[] = DEVICES, named[] = DEVICES "profiles: other\n";
    static const char none[] = DEVICES "profiles: absent\n", file[] = DEVICES "profiles: none\n";
    struct qs_farm_config *farm = NULL;
    struct qs_err err = QS_ERR_INIT;
    QS_BUF(told);
    (void)state;
    assert_int_equal(mkdir("farm", 0700), 0);
    assert_int_equal(mkdir("farm/profiles", 0700), 0);
    assert_int_equal(mkdir("farm/other", 0700), 0);
    write_file("farm/profiles/board.yaml", board, sizeof board - 1, 0600);
    write_file("farm/other/w.yaml", wrong, sizeof wrong - 1, 0600);
    write_file("farm/beside", beside, sizeof beside - 1, 0600);
    write_file("farm/named", named, sizeof named - 1, 0600);
    write_file("farm/none", none, sizeof none - 1, 0600);
    write_file("farm/file", file, sizeof file - 1, 0600);
    assert_true(qs_load_farm("farm/beside", NULL, &farm, &told, &err));
    assert_string_equal(qs_profiles_find(&farm->profiles, "board")->file, "farm/profiles/board.yaml");
    qs_farm_config_free(farm);
    expect_load("farm/named",
                "farm/other/w.yaml:2:1: switch: unknown key\n"
                "    2 | switch: x\n"
                "      | ^\n"
                "        did you mean `switches`?\n",
                "1 mistake in the profiles of farm/other");
    expect_load("farm/none",
                "farm/none:2:11: profiles: farm/absent: No such file or directory\n"
                "    2 | profiles: absent\n"
                "      |           ^\n"
                "        make the folder, or leave the key out\n",
                "farm/none has 1 problem");
    expect_load("farm/file",
                "farm/file:2:11: profiles: farm/none: it is not a folder\n"
                "    2 | profiles: none\n"
                "      |           ^\n"
                "        make the folder, or leave the key out\n",
                "farm/file has 1 problem");
}

static void a_file_has_a_most(void **state)
{
    char *text = qs_calloc(QS_DOC_BYTES + 1, 1);
    struct qs_err err = QS_ERR_INIT;
    size_t bytes = 0;
    (void)state;
    memset(text, ' ', QS_DOC_BYTES + 1);
    write_file("most", text, QS_DOC_BYTES, 0600);
    write_file("more", text, QS_DOC_BYTES + 1, 0600);
    char *read = qs_load_text("most", &bytes, &err);
    assert_non_null(read);
    assert_int_equal(bytes, QS_DOC_BYTES);
    assert_memory_equal(read, text, bytes);
    free(read);
    free(text);
    assert_null(qs_load_text("more", &bytes, &err));
    assert_int_equal(err.code, QS_E_IO);
    char *want = qs_asprintf("cannot read more: an error, or more than %d bytes", QS_DOC_BYTES);
    assert_string_equal(err.text, want);
    free(want);
    assert_null(qs_load_text(".", &bytes, &err)); /* a folder opens and cannot be read */
    assert_int_equal(err.code, QS_E_IO);
}

#define IN_DIR(name) cmocka_unit_test_setup_teardown(name, make_dir, drop_dir)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_job_names_what_its_farm_has),
        cmocka_unit_test(a_rule_of_a_set_is_shown_in_its_place),
        cmocka_unit_test(external_rules_have_a_most),
        cmocka_unit_test(a_farm_is_asked_by_name),
        IN_DIR(what_is_not_there_is_told),
        IN_DIR(a_key_is_ours_alone),
        IN_DIR(a_farm_is_loaded_whole_or_not),
        IN_DIR(a_farm_has_profiles),
        IN_DIR(a_file_has_a_most),
    };
    return cmocka_run_group_tests_name("uses", tests, NULL, NULL);
}
