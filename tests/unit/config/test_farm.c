/* Farms, and the key reference of config/README.md (argument 1: the folder config) and schema/job.schema.json
 * (argument 2). With QS_GOLDEN_UPDATE=1 the latter is written. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "config/farm/farm.h"
#include "config/job/read.h"
#include "config/job/stop.h"
#include "config/profile/keys.h"
#include "golden.h"

static const char *config_dir, *schema_path;

static void test_example(void **state)
{
    (void)state;
    char *path = qs_asprintf("%s/farm.example.yaml", config_dir);
    size_t len = 0;
    char *text = golden_read(path, &len);
    assert_non_null(text);
    struct qs_problems problems;
    struct qs_doc *doc = NULL;
    struct qs_farm_config *farm = NULL;
    qs_problems_init(&problems);
    assert_true(qs_doc_read("farm", text, len, false, &doc, &problems));
    assert_true(qs_farm_from_doc(doc, NULL, &farm, &problems));
    assert_string_equal(farm->db, "/var/lib/quiesce/quiesce.db");
    assert_int_equal(farm->heartbeat_ns, 1000000000);
    static const struct {
        const char *name;
        enum qs_link_kind link;
        bool local;
    } devices[] = {{"local", QS_LINK_EXEC, true},   {"bench1", QS_LINK_SSH, false},
                   {"lab", QS_LINK_UNIX, true},     {"board7", QS_LINK_TCP, false},
                   {"uart", QS_LINK_SERIAL, false}, {"pretend", QS_LINK_SIM, false}};
    assert_int_equal(farm->device_count, 6);
    for (size_t i = 0; i < 6; i++) {
        assert_string_equal(farm->devices[i].name, devices[i].name);
        assert_int_equal(farm->devices[i].link, devices[i].link);
        assert_int_equal(farm->devices[i].local, devices[i].local);
    }
    assert_string_equal(farm->devices[1].labels.at[0], "soc=rk3399");
    assert_int_equal(farm->devices[5].sim_seed, 7);
    assert_int_equal(farm->variables.refuse.count, 2);
    assert_string_equal(farm->variables.refuse.at[1], "SOLVER_*");
    assert_int_equal(farm->variables.note.count, 0);
    assert_string_equal(farm->variables.ignore.at[0], "DIRENV_*");
    qs_farm_config_free(farm);
    qs_doc_free(doc);
    free(text);
    free(path);
}

static void test_default(void **state)
{
    (void)state;
    struct qs_farm_config *farm = qs_farm_default("/usr/bin/quiesce-agent");
    assert_int_equal(farm->device_count, 1);
    assert_string_equal(farm->devices[0].name, "local");
    assert_int_equal(farm->devices[0].link, QS_LINK_EXEC);
    assert_true(farm->devices[0].local);
    assert_string_equal(farm->devices[0].argv.at[0], "/usr/bin/quiesce-agent");
    assert_string_equal(farm->devices[0].argv.at[1], "--stdio");
    assert_int_equal(farm->devices[0].argv.count, 2);
    assert_true(farm->heartbeat_ns > 0);
    qs_farm_config_free(farm);
}

/* The text between two marker lines of the README. */
static void check_section(const char *readme, const char *name, const struct qs_table *table,
                          void (*print)(struct qs_buf *out))
{
    struct qs_buf expected;
    qs_buf_init(&expected);
    qs_buf_fmt(&expected, "<!-- keys: %s -->\n", name);
    if (table != NULL)
        qs_schema_reference(table, &expected);
    else
        print(&expected);
    qs_buf_str(&expected, "<!-- end -->\n");
    bool same = strstr(readme, expected.data) != NULL;
    if (!same)
        fprintf(stderr, "config/README.md should have this section:\n%s", expected.data);
    qs_buf_done(&expected);
    assert_true(same);
}

static void test_reference(void **state)
{
    (void)state;
    char *path = qs_asprintf("%s/README.md", config_dir);
    size_t len = 0;
    char *readme = golden_read(path, &len);
    assert_non_null(readme);
    check_section(readme, "job", qs_job_table(), NULL);
    check_section(readme, "gate", qs_job_gate_table(), NULL);
    check_section(readme, "farm", qs_farm_table(), NULL);
    check_section(readme, "profile", qs_profile_table(), NULL);
    check_section(readme, "rules", NULL, qs_stop_reference);
    check_section(readme, "steps", NULL, qs_actions_reference);
    free(readme);
    free(path);
}

/* The file for editors is printed from the same rows. */
static void test_json_schema(void **state)
{
    (void)state;
    struct qs_buf expected;
    qs_buf_init(&expected);
    qs_schema_json(qs_job_table(), "Quiesce job", &expected);
    if (getenv("QS_GOLDEN_UPDATE") != NULL) {
        FILE *f = fopen(schema_path, "wb");
        assert_non_null(f);
        assert_int_equal(fwrite(expected.data, 1, expected.len, f), expected.len);
        assert_int_equal(fclose(f), 0);
    }
    size_t len = 0;
    char *found = golden_read(schema_path, &len);
    assert_non_null(found);
    assert_string_equal(found, expected.data);
    free(found);
    qs_buf_done(&expected);
}

int main(int argc, char **argv)
{
    if (argc != 3)
        return 2;
    config_dir = argv[1];
    schema_path = argv[2];
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_example), cmocka_unit_test(test_default),
                                       cmocka_unit_test(test_reference), cmocka_unit_test(test_json_schema)};
    int failed = cmocka_run_group_tests_name("config farm", tests, NULL, NULL);
    if (getenv("QS_GOLDEN_UPDATE") != NULL) {
        fputs("golden files were written anew: nothing was tested\n", stderr);
        return 1;
    }
    return failed;
}
