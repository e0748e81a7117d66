/* p over all comparisons of a document. */
#include <stdio.h>

#include "base/mem.h"
#include "golden.h"
#include "page.h"
#include "report/analysis/analysis.h"
#include "report/history/history.h"
#include "report/verdict/verdict.h"
#include "world.h"

/* A pair whose p does not stand among many, and one without any. */
static void test_doubtful_pairs(void **state)
{
    (void)state;
    struct qs_comparison one[40];
    struct qs_comparisons all = {0};
    for (size_t i = 0; i < 40; i++) {
        one[i] = (struct qs_comparison){.alpha = 0.05};
        one[i].v.kind = QS_VERDICT_EQUIVALENT;
        one[i].v.p = i == 0 ? NAN : (double)(i + 1) / 41;
        qs_comparisons_add(&all, &one[i]);
    }
    one[7].v.kind = QS_VERDICT_PROBABLE_REGRESSION;
    one[7].v.p = 0.008;
    one[27].v.kind = QS_VERDICT_REGRESSION;
    one[27].v.p = 1e-6;
    qs_comparisons_adjust(&all, 0.05);
    assert_int_equal(all.tested, 39);
    assert_int_equal(all.selected, 1);
    assert_true(isnan(one[0].p_bh));
    assert_true(fabs(one[27].p_bh - 39e-6) < 1e-12);
    assert_true(qs_comparison_is_doubtful(&one[7]));
    assert_false(qs_comparison_is_doubtful(&one[27]));
    assert_true(qs_comparison_is_regression(&one[27]));
    assert_false(qs_comparison_is_doubtful(&one[9])); /* nothing was called */
    qs_comparisons_done(&all);
    qs_comparisons_adjust(&all, 0.05);
    assert_true(all.tested == 0 && isnan(all.fcr_level));
}

/* --- the form: what is printed from the rows that write it --- */

static char *read_whole(const char *name)
{
    enum { MOST = 1 << 18 };
    char *path = qs_asprintf("%s/%s", schema_dir, name), *text = qs_calloc(1, MOST);
    FILE *f = fopen(path, "re");
    assert_non_null(f);
    assert_true(fread(text, 1, MOST - 1, f) < MOST - 1);
    fclose(f);
    free(path);
    return text;
}

/* What was printed instead is left beside the test as NAME.got. */
static void assert_stored(const char *name, const struct qs_buf *printed)
{
    char *stored = read_whole(name), *got = qs_asprintf("%s.got", name);
    bool same = strcmp(stored, printed->data) == 0;
    FILE *f = same ? NULL : fopen(got, "we");
    if (f) {
        fwrite(printed->data, 1, printed->len, f);
        fclose(f);
    }
    free(stored);
    free(got);
    if (!same)
        fail_msg("schema/%s is not what the rows print: they print %s.got", name, name);
}

static void test_documents_are_described_by_their_rows(void **state)
{
    (void)state;
    QS_BUF(analysis);
    QS_BUF(statistics);
    QS_BUF(history);
    qs_analysis_schema(&analysis);
    qs_statistics_schema(&statistics);
    qs_history_schema(&history);
    assert_stored("analysis.schema.json", &analysis);
    assert_stored("statistics.schema.json", &statistics);
    assert_stored("history.schema.json", &history);
}

static void test_the_form_is_described_by_its_rows(void **state)
{
    (void)state;
    struct qs_buf schema, table;
    qs_buf_init(&schema);
    qs_buf_init(&table);
    qs_comparison_schema(&schema);
    qs_comparison_table(&table);
    char *page = read_whole("verdict.md");
    assert_stored("verdict.schema.json", &schema);
    if (!strstr(page, table.data))
        fail_msg("schema/verdict.md lacks what the rows print:\n%s", table.data);
    assert_string_equal(strstr(page, table.data) + table.len, ""); /* and has no row more */
    free(page);
    qs_buf_done(&schema);
    qs_buf_done(&table);
}

static bool is_of_type(const json_t *v, const char *type)
{
    return strcmp(type, "null") == 0      ? json_is_null(v)
           : strcmp(type, "number") == 0  ? json_is_number(v)
           : strcmp(type, "integer") == 0 ? json_is_integer(v)
           : strcmp(type, "boolean") == 0 ? json_is_boolean(v)
           : strcmp(type, "string") == 0  ? json_is_string(v)
           : strcmp(type, "array") == 0   ? json_is_array(v)
                                          : json_is_object(v);
}

static const char *const schema_names[] = {"analysis.schema.json", "statistics.schema.json",
                                           "verdict.schema.json", "history.schema.json"};
enum { SCHEMAS = sizeof schema_names / sizeof *schema_names };
static json_t *schemas[SCHEMAS];

static int read_schemas(void **state)
{
    (void)state;
    for (size_t i = 0; i < SCHEMAS; i++) {
        char *text = read_whole(schema_names[i]);
        schemas[i] = json_loads(text, 0, NULL);
        assert_non_null(schemas[i]);
        free(text);
    }
    return 0;
}

static int forget_schemas(void **state)
{
    (void)state;
    for (size_t i = 0; i < SCHEMAS; i++)
        json_decref(schemas[i]);
    return 0;
}

static const json_t *schema_of(const char *name)
{
    for (size_t i = 0; i < SCHEMAS; i++)
        if (strncmp(name, schema_names[i], strlen(schema_names[i])) == 0)
            return schemas[i];
    return name[0] == '#' ? schemas[0] : NULL; /* the others refer to others alone */
}

/* What a reference means; of documents the one of this kind. */
static const json_t *meant(const json_t *schema, const json_t *v)
{
    const char *ref = json_string_value(json_object_get(schema, "$ref")),
               *def = ref ? strstr(ref, "/$defs/") : NULL;
    if (json_object_get(schema, "oneOf"))
        return json_object_get(at(schema, "$defs"), text_at(v, "kind"));
    if (!ref)
        return schema;
    return def ? json_object_get(at(schema_of(ref), "$defs"), def + strlen("/$defs/")) : schema_of(ref);
}

/* As much of JSON Schema as the schemas use. */
static void follows(const json_t *v, const json_t *given, const char *name)
{
    const json_t *schema = meant(given, v), *types = json_object_get(schema, "type"),
                 *words = json_object_get(schema, "enum"), *one;
    const char *key;
    json_t *below;
    size_t i;
    bool known = json_is_string(types) && is_of_type(v, json_string_value(types)), word = !words;
    json_array_foreach(types, i, one) known = known || is_of_type(v, json_string_value(one));
    json_array_foreach(words, i, one) word = word || json_equal(v, one);
    if (!known || !word)
        fail_msg("%s is not what the schema says", name);
    json_array_foreach(v, i, one) follows(one, json_object_get(schema, "items"), name);
    json_array_foreach(json_is_object(v) ? json_object_get(schema, "required") : NULL, i, one)
    {
        if (!json_object_get(v, json_string_value(one)))
            fail_msg("%s has no %s", name, json_string_value(one));
    }
    if (!json_object_get(schema, "properties"))
        return; /* parameters and conditions, which others name */
    json_object_foreach((json_t *)(uintptr_t)v, key, below)
        follows(below, json_object_get(at(schema, "properties"), key), key);
}

static size_t verdicts_follow(const json_t *node, const json_t *schema)
{
    const char *key;
    json_t *below;
    const json_t *one;
    size_t i, n = 0;
    json_object_foreach((json_t *)(uintptr_t)node, key, below)
    {
        bool verdicts =
            (strcmp(key, "comparisons") == 0 || strcmp(key, "over_devices") == 0) && json_is_array(below);
        json_array_foreach(verdicts ? below : NULL, i, one) follows(one, schema, key);
        n += verdicts ? json_array_size(below) : verdicts_follow(below, schema);
    }
    json_array_foreach(node, i, one) n += verdicts_follow(one, schema);
    return n;
}

/* Every document that is kept, of arms, sides and files. */
static void test_documents_follow_the_schema(void **state)
{
    static const struct {
        const char *name;
        size_t least;
    } documents[] = {{"made-comparisons", 50}, {"made-sides", 50}, {"made-pairs", 10}, {"comparison", 1}};
    (void)state;
    for (size_t i = 0; i < sizeof documents / sizeof *documents; i++) {
        char *path = qs_asprintf("%s/%s.json", golden_dir, documents[i].name);
        json_t *doc = json_load_file(path, 0, NULL);
        assert_non_null(doc);
        assert_true(verdicts_follow(doc, schema_of("verdict.schema.json")) >= documents[i].least);
        json_decref(doc);
        free(path);
    }
}

/* Whole documents: of files, and of a series of the store. */
static void test_whole_documents_follow_their_schema(void **state)
{
    static const struct {
        const char *name, *schema;
    } documents[] = {{"analysis", "analysis.schema.json"},
                     {"analysis-compared", "analysis.schema.json"},
                     {"analysis-history", "analysis.schema.json"},
                     {"history", "history.schema.json"}};
    (void)state;
    for (size_t i = 0; i < sizeof documents / sizeof *documents; i++) {
        char *path = qs_asprintf("%s/%s.json", golden_dir, documents[i].name);
        json_t *doc = json_load_file(path, 0, NULL);
        assert_non_null(doc);
        assert_true(json_array_size(at(doc, i < 3 ? "results" : "points")) > 0);
        follows(doc, schema_of(documents[i].schema), documents[i].name);
        json_decref(doc);
        free(path);
    }
}

int main(int argc, char **argv)
{
    if (argc > 2) {
        golden_dir = argv[1];
        schema_dir = argv[2];
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_doubtful_pairs),
        cmocka_unit_test(test_documents_are_described_by_their_rows),
        cmocka_unit_test(test_the_form_is_described_by_its_rows),
        cmocka_unit_test(test_documents_follow_the_schema),
        cmocka_unit_test(test_whole_documents_follow_their_schema),
    };
    return cmocka_run_group_tests(tests, read_schemas, forget_schemas);
}
