#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "golden.h"

static struct qs_doc *read_doc(const char *text, struct qs_problems *problems)
{
    struct qs_doc *doc = NULL;
    qs_problems_init(problems);
    bool ok = qs_doc_read("test", text, strlen(text), false, &doc, problems);
    assert_int_equal(ok, doc != NULL);
    assert_int_equal(ok, problems->count == 0);
    return doc;
}

static const struct qs_node *at(const struct qs_doc *doc, const char *key)
{
    const struct qs_node *node = qs_node_get(&doc->root, key, NULL);
    assert_non_null(node);
    return node;
}

/* Scalars stay what is written: no truth values, sexagesimals, octals or floats are guessed. */
static void test_scalars_stay_text(void **state)
{
    (void)state;
    static const char *const words[] = {"no",   "1:30",  "0777", "1e3",        "on", "yes",
                                        "0x1F", "1_000", ".5",   "2026-01-31", "=",  "<"};
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        char text[64];
        snprintf(text, sizeof(text), "a: %s\n", words[i]);
        struct qs_problems problems;
        struct qs_doc *doc = read_doc(text, &problems);
        assert_non_null(doc);
        assert_int_equal(at(doc, "a")->kind, QS_NODE_TEXT);
        assert_false(at(doc, "a")->quoted);
        assert_string_equal(at(doc, "a")->text, words[i]);
        qs_doc_free(doc);
        qs_problems_done(&problems);
    }
}

static void assert_place(const struct qs_node *node, unsigned line, unsigned column)
{
    assert_int_equal(node->line, line);
    assert_int_equal(node->column, column);
}

static void test_json_keeps_places_and_digits(void **state)
{
    (void)state;
    struct qs_problems problems;
    struct qs_doc *doc = read_doc(
        "{\"é\\\"\": [1.50, -2e+03 , true],\n \"b\": {\"c\": \"\\u00e9]}\\n\", \"d\": []}, \"e\":null}",
        &problems);
    assert_non_null(doc);
    assert_true(doc->json);
    const struct qs_node *list = at(doc, "é\"");
    assert_place(list, 1, 9);
    assert_string_equal(list->items[0].text, "1.50");
    assert_string_equal(list->items[1].text, "-2e+03");
    assert_string_equal(list->items[2].text, "true");
    assert_place(&list->items[2], 1, 25);
    const struct qs_node *c = qs_node_get(at(doc, "b"), "c", NULL);
    assert_string_equal(c->text, "é]}\n");
    assert_true(c->quoted);
    assert_place(c, 2, 13);
    assert_place(qs_node_get(at(doc, "b"), "d", NULL), 2, 32);
    assert_int_equal(at(doc, "e")->kind, QS_NODE_NULL);
    assert_place(at(doc, "e"), 2, 41);
    qs_doc_free(doc);
    qs_problems_done(&problems);
}

static void test_alias_is_written_out(void **state)
{
    (void)state;
    struct qs_problems problems;
    struct qs_doc *doc = read_doc("a: &x {k: [1, 2]}\nb: *x\n&y c: *y\n", &problems);
    assert_non_null(doc);
    const struct qs_node *k = qs_node_get(at(doc, "b"), "k", NULL);
    assert_int_equal(k->count, 2);
    assert_string_equal(k->items[1].text, "2");
    assert_string_equal(at(doc, "c")->text, "c");
    qs_doc_free(doc);
    qs_problems_done(&problems);
}

/* A short text repeated by aliases is bounded by bytes as well as by values. */
static void test_alias_bytes_are_bounded(void **state)
{
    (void)state;
    struct qs_buf text;
    qs_buf_init(&text);
    qs_buf_str(&text, "a: &x ");
    for (int i = 0; i < 100000; i++)
        qs_buf_char(&text, 'x');
    qs_buf_str(&text, "\nb: [");
    for (int i = 0; i < 100; i++)
        qs_buf_str(&text, "*x, ");
    qs_buf_str(&text, "]\n");
    struct qs_problems problems;
    assert_null(read_doc(text.data, &problems));
    assert_int_equal(problems.count, 1);
    assert_non_null(strstr(problems.at[0].what, "4 MiB"));
    qs_problems_done(&problems);
    qs_buf_done(&text);
}

static void test_limits(void **state)
{
    (void)state;
    struct qs_problems problems;
    struct qs_buf text;
    qs_buf_init(&text);
    for (int i = 0; i < QS_DOC_KEYS + 1; i++)
        qs_buf_fmt(&text, "k%d: 1\n", i);
    assert_null(read_doc(text.data, &problems));
    assert_non_null(strstr(problems.at[0].what, "keys in one map"));
    qs_problems_done(&problems);
    qs_buf_clear(&text);
    for (int i = 0; i <= QS_DOC_BYTES; i++)
        qs_buf_char(&text, ' ');
    assert_null(read_doc(text.data, &problems));
    assert_non_null(strstr(problems.at[0].what, "are too many"));
    qs_problems_done(&problems);
    qs_buf_done(&text);
}

static void expect_problem(const char *text, const char *what, unsigned line, unsigned column)
{
    struct qs_problems problems;
    struct qs_doc *doc = read_doc(text, &problems);
    assert_int_equal(doc != NULL, what == NULL);
    if (what) {
        assert_int_equal(problems.count, 1);
        assert_string_equal(problems.at[0].what, what);
        assert_int_equal(problems.at[0].line, line);
        assert_int_equal(problems.at[0].column, column);
    }
    qs_doc_free(doc);
    qs_problems_done(&problems);
}

/* Both sides of each limit, in both languages. */
static void test_both_languages_have_limits(void **state)
{
    (void)state;
    struct qs_buf text;
    qs_buf_init(&text);
    for (int more = 0; more < 2; more++) { /* a map within the root's */
        qs_buf_clear(&text);
        qs_buf_str(&text, "{\"a\":\n {");
        for (int i = 0; i < QS_DOC_KEYS + more; i++)
            qs_buf_fmt(&text, "%s\"k%d\":1", i ? "," : "", i);
        qs_buf_str(&text, "}}");
        expect_problem(text.data, more ? "more than 2048 keys in one map" : NULL, 2, 2);
    }
    for (int list = 0; list < 2; list++)
        for (int more = 0; more < 2; more++) {
            int levels = QS_DOC_DEPTH - 1 + more;
            qs_buf_clear(&text);
            for (int i = 0; i < levels; i++)
                qs_buf_str(&text, list && i > 0 ? "[" : "{\"a\":");
            qs_buf_char(&text, '1');
            for (int i = levels - 1; i >= 0; i--)
                qs_buf_char(&text, list && i > 0 ? ']' : '}');
            unsigned column = list ? 5 + QS_DOC_DEPTH : 1 + 5 * QS_DOC_DEPTH;
            expect_problem(text.data, more ? "more than 32 levels deep" : NULL, 1, column);
        }
    for (int more = 0; more < 2; more++) {
        qs_buf_clear(&text);
        qs_buf_str(&text, "a:\n");
        for (int i = 0; i < 256 + more; i++)
            qs_buf_fmt(&text, " - &n%d x\n", i);
        expect_problem(text.data, more ? "more than 256 anchors" : NULL, 258, 4);
    }
    qs_buf_done(&text);
}

static void test_odd_keys_and_tags(void **state)
{
    (void)state;
    struct qs_problems problems;
    struct qs_doc *doc = read_doc("null: 1\na: !!str 5\nb: ! 6\n", &problems);
    assert_non_null(doc);
    assert_string_equal(at(doc, "null")->text, "1");
    assert_true(at(doc, "a")->quoted && at(doc, "b")->quoted);
    qs_doc_free(doc);
    qs_problems_done(&problems);
    expect_problem("a: !!int 5\n", "tags are not supported", 1, 4);
    expect_problem("? [a]\n: 1\n", "a key is text", 1, 3);
    expect_problem("a: 1\n---\nb: 2\n", "a second document begins here", 2, 1);
    expect_problem("a: *b\n", "there is no complete anchor `&b` before this", 1, 4);
    expect_problem("a: \"x\\0y\"\n", "text with a NUL character in it", 1, 4);
    expect_problem("a: 1\nb: 2\n\na: 3\n", "the key `a` appears twice (first on line 1)", 4, 1);
    expect_problem("", "the document is empty", 0, 0);
}

static void test_byte_order_mark(void **state)
{
    (void)state;
    static const char *const texts[] = {"\xef\xbb\xbf"
                                        "a: 1\n",
                                        "\xef\xbb\xbf"
                                        "{\"a\": 1}"};
    for (size_t i = 0; i < 2; i++) {
        struct qs_problems problems;
        struct qs_doc *doc = read_doc(texts[i], &problems);
        assert_non_null(doc);
        assert_string_equal(at(doc, "a")->text, "1");
        qs_doc_free(doc);
        qs_problems_done(&problems);
    }
}

/* Problems come in order of place, whatever the order in which they were found. */
static void test_problems_are_in_order(void **state)
{
    (void)state;
    struct qs_problems p;
    qs_problems_init(&p);
    static const unsigned lines[] = {5, 0, 2, 9, 2};
    for (unsigned i = 0; i < 5; i++)
        qs_problems_add_at(&p, NULL, lines[i], i + 1, NULL, NULL, "problem %u", i);
    static const unsigned expected[] = {2, 4, 0, 3, 1};
    for (size_t i = 0; i < 5; i++) {
        char what[16];
        snprintf(what, sizeof(what), "problem %u", expected[i]);
        assert_string_equal(p.at[i].what, what);
    }
    qs_problems_done(&p);
}

/* libyaml compares each with all before it: minutes, where they were given to it. */
static void test_tag_directives_are_refused_at_once(void **state)
{
    (void)state;
    static const char last[] = "quiesce: 1\n...\n";
    char *text = malloc(QS_DOC_BYTES + 1), *at = text;
    struct qs_problems problems;
    memcpy(at, last, sizeof last - 1);
    at += sizeof last - 1;
    for (int i = 0; at - text < QS_DOC_BYTES - 32; i++)
        at += snprintf(at, 32, "%%TAG !a%d! x\n", i);
    assert_null(read_doc(text, &problems));
    assert_int_equal(problems.count, 1);
    assert_int_equal(problems.at[0].line, 3);
    assert_string_equal(problems.at[0].what, "tags are not supported");
    qs_problems_done(&problems);
    free(text);
    assert_null(read_doc("quiesce: 1\r...\r%TAG !a! x\r", &problems));
    assert_string_equal(problems.at[0].what, "tags are not supported");
    qs_problems_done(&problems);
    struct qs_doc *doc = read_doc("a: b%TAG\n", &problems); /* no directive */
    assert_non_null(doc);
    qs_doc_free(doc);
    qs_problems_done(&problems);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scalars_stay_text),
        cmocka_unit_test(test_tag_directives_are_refused_at_once),
        cmocka_unit_test(test_json_keeps_places_and_digits),
        cmocka_unit_test(test_alias_is_written_out),
        cmocka_unit_test(test_alias_bytes_are_bounded),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_both_languages_have_limits),
        cmocka_unit_test(test_odd_keys_and_tags),
        cmocka_unit_test(test_byte_order_mark),
        cmocka_unit_test(test_problems_are_in_order),
    };
    return cmocka_run_group_tests_name("config doc", tests, NULL, NULL);
}
