/* Every file of tests/golden/config (argument 1) against its .err, byte for byte: job-* as jobs, farm-* as
 * farms, profile-* as profiles. With QS_GOLDEN_UPDATE=1 the .err files are written instead, to be read and
 * committed by a person. */
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
#include "config/profile/profiles.h"
#include "golden.h"
#include "link/link.h"

static const char *golden_dir;

static void read_farm(const char *name, const char *text, size_t len, struct qs_buf *err)
{
    struct qs_problems problems;
    qs_problems_init(&problems);
    struct qs_doc *doc = NULL;
    struct qs_farm_config *farm = NULL;
    bool ok = qs_doc_read(name, text, len, false, &doc, &problems) &&
              qs_farm_from_doc(doc, qs_link_check_address, &farm, &problems);
    assert_false(ok);
    assert_null(farm);
    qs_problems_text(&problems, name, err);
    qs_problems_done(&problems);
    qs_doc_free(doc);
}

static void read_profile(const char *name, const char *text, size_t len, struct qs_buf *err)
{
    QS_SCOPED(qs_problems_done) struct qs_problems problems = {0};
    QS_SCOPED(qs_profiles_done) struct qs_profiles profiles;
    QS_SCOPED(qs_doc_free_at) struct qs_doc *doc = NULL;
    assert_true(qs_profiles_init(&profiles, &QS_ERR_INIT));
    size_t before = profiles.count;
    assert_false(qs_doc_read(name, text, len, false, &doc, &problems) &&
                 qs_profiles_add(&profiles, doc, false, &problems));
    assert_int_equal(profiles.count, before);
    qs_problems_text(&problems, name, err);
}

static void check_against(const char *path, const struct qs_buf *found)
{
    if (getenv("QS_GOLDEN_UPDATE") != NULL) {
        FILE *f = fopen(path, "wb");
        assert_non_null(f);
        assert_int_equal(fwrite(found->data, 1, found->len, f), found->len);
        assert_int_equal(fclose(f), 0);
        return;
    }
    size_t len = 0;
    char *expected = golden_read(path, &len);
    assert_non_null(expected);
    assert_string_equal(found->data, expected);
    free(expected);
}

static void test_file(void **state)
{
    const char *name = *state;
    char *path = qs_asprintf("%s/%s", golden_dir, name);
    size_t len = 0;
    char *text = golden_read(path, &len);
    assert_non_null(text);
    struct qs_buf err;
    qs_buf_init(&err);
    if (strncmp(name, "farm-", 5) == 0) {
        read_farm(name, text, len, &err);
    } else if (strncmp(name, "profile-", 8) == 0) {
        read_profile(name, text, len, &err);
    } else {
        struct qs_job_spec *spec = golden_job(name, text, len, &err);
        assert_null(spec);
    }
    assert_true(err.len > 0);
    char *err_path =
        qs_asprintf("%.*s.err", (int)(strlen(path) - 5), path); /* both suffixes have five bytes */
    check_against(err_path, &err);
    free(err_path);
    free(path);
    free(text);
    qs_buf_done(&err);
}

int main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    golden_dir = argv[1];
    size_t count = 0;
    char **names = golden_list(golden_dir, ".yaml", ".json", &count);
    if (count == 0)
        return 2;
    struct CMUnitTest *tests = qs_calloc(count, sizeof(*tests));
    for (size_t i = 0; i < count; i++)
        tests[i] = (struct CMUnitTest){.name = names[i], .test_func = test_file, .initial_state = names[i]};
    int failed = _cmocka_run_group_tests("config golden", tests, count, NULL, NULL);
    for (size_t i = 0; i < count; i++)
        free(names[i]);
    free(names);
    free(tests);
    if (getenv("QS_GOLDEN_UPDATE") != NULL) {
        fputs("golden files were written anew: nothing was tested\n", stderr);
        return 1;
    }
    return failed;
}
