/* Addresses cut and decoded, the table searched; and the table against its description. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/router.h"
#include "base/buf.h"
#include "config/document/doc.h"
#include "fixture.h"

static const char *openapi_path;

static void uris_are_cut_and_decoded(void **state)
{
    struct qs_uri u;
    struct qs_err err;
    (void)state;
    assert_true(qs_uri_parse("/a/b%20c/%C3%A9?x=1&y&&z=a+b%2Bc=d", &u, &err));
    assert_int_equal(u.segment_count, 3);
    assert_string_equal(u.segments[1], "b c");
    assert_string_equal(u.segments[2], "\xc3\xa9");
    assert_string_equal(qs_uri_get(&u, "x"), "1");
    assert_string_equal(qs_uri_get(&u, "y"), "");
    assert_string_equal(qs_uri_get(&u, "z"), "a b+c=d");
    assert_null(qs_uri_get(&u, ""));
    qs_uri_done(&u);
    assert_true(qs_uri_parse("/a+b?", &u, &err)); /* a plus is a space in the query only */
    assert_string_equal(u.segments[0], "a+b");
    qs_uri_done(&u);
}

static void numbers_are_bounded(void **state)
{
    struct qs_uri u;
    struct qs_err err;
    long long v;
    (void)state;
    assert_true(qs_uri_parse("/?a=7&b=8&c=&d=+7&e=007&f=99999999999999999999", &u, &err) == false);
    assert_true(qs_uri_parse("/x?a=7&b=8&c=&d=+7&e=007&f=99999999999999999999", &u, &err));
    assert_true(qs_uri_int(&u, "a", 1, 7, 3, &v, &err) && v == 7);
    assert_false(qs_uri_int(&u, "b", 1, 7, 3, &v, &err));
    assert_false(qs_uri_int(&u, "c", 0, 7, 3, &v, &err));
    assert_false(qs_uri_int(&u, "d", 0, 7, 3, &v, &err));
    assert_true(qs_uri_int(&u, "e", 0, 7, 3, &v, &err) && v == 7);
    assert_false(qs_uri_int(&u, "f", 0, INT64_MAX, 3, &v, &err));
    assert_true(qs_uri_int(&u, "g", 0, 7, 3, &v, &err) && v == 3);
    qs_uri_done(&u);
}

/* What is read of each target, or what is said against it. */
static void bounds_of_an_address(void **state)
{
    static const struct {
        const char *raw, *says; /* NULL: it is read */
        enum qs_errc code;
    } rows[] = {
        {"/1/2/3/4/5/6/7/8", NULL, 0},
        {"/1/2/3/4/5/6/7/8/9", "no address has more than 8 parts", QS_E_NOT_FOUND},
        {"/a/", "the path has an empty part; no address ends with a slash", QS_E_NOT_FOUND},
        {"/a?1&2&3&4&5&6&7&8&", NULL, 0},
        {"/a?1&2&3&4&5&6&7&8&9", "the query has more than 8 values", QS_E_USAGE},
        {"/a?x=1&y=2&x=3", "the query gives `x` twice", QS_E_USAGE},
        {"/a?x=1&y=2&y", "the query gives `y` twice", QS_E_USAGE},
        {"/%41%7a", NULL, 0},
        {"/%", "the address holds a %-escape", QS_E_USAGE},
        {"/%4", "the address holds a %-escape", QS_E_USAGE},
        {"/%4g", "the address holds a %-escape", QS_E_USAGE},
        {"/%00", "the address holds a %-escape", QS_E_USAGE},
        {"/%c3%a9", NULL, 0},
        {"/%c3", "the address holds a %-escape", QS_E_USAGE},
        {"/a?%zz=1", "the address holds a %-escape", QS_E_USAGE},
        {"/a?x=%zz", "the address holds a %-escape", QS_E_USAGE},
        {"a", "the address does not begin with a slash", QS_E_USAGE},
    };
    struct qs_uri u;
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct qs_err err = QS_ERR_INIT;
        assert_int_equal(qs_uri_parse(rows[i].raw, &u, &err), rows[i].says == NULL);
        assert_int_equal(err.code, rows[i].code);
        if (!rows[i].says)
            qs_uri_done(&u);
        else if (strncmp(err.text, rows[i].says, strlen(rows[i].says)) != 0)
            fail_msg("%s: %s", rows[i].raw, err.text);
    }
    char *longest = malloc(QS_URI_BYTES + 2);
    struct qs_err err = QS_ERR_INIT;
    memset(longest, 'a', QS_URI_BYTES + 1);
    longest[0] = '/';
    longest[QS_URI_BYTES + 1] = '\0';
    assert_false(qs_uri_parse(longest, &u, &err));
    assert_int_equal(err.code, QS_E_LIMIT);
    assert_string_equal(err.text, "the address is longer than 4096 bytes");
    longest[QS_URI_BYTES] = '\0';
    assert_true(qs_uri_parse(longest, &u, &err));
    assert_int_equal(strlen(u.segments[0]), QS_URI_BYTES - 1);
    qs_uri_done(&u);
    free(longest);
}

static void fractions_are_bounded(void **state)
{
    static const struct {
        const char *text;
        bool ok;
        double value;
    } rows[] = {{"0.5", true, 0.5}, {"2", true, 2},    {"1e0", true, 1},    {"0.49", false, 7},
                {"2.01", false, 7}, {"", false, 7},    {"x", false, 7},     {"1x", false, 7},
                {"nan", false, 7},  {"inf", false, 7}, {"1e999", false, 7}, {"1e-999", false, 7}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char raw[32], want[80];
        struct qs_uri u;
        struct qs_err err = QS_ERR_INIT;
        double value = 7;
        snprintf(raw, sizeof raw, "/a?v=%s", rows[i].text);
        assert_true(qs_uri_parse(raw, &u, &err));
        assert_int_equal(qs_uri_number(&u, "v", 0.5, 2, &value, &err), rows[i].ok);
        assert_true(value == rows[i].value);
        snprintf(want, sizeof want, "`v` is a number from 0.5 to 2, not `%s`", rows[i].text);
        if (!rows[i].ok)
            assert_string_equal(err.text, want);
        assert_true(qs_uri_number(&u, "w", 0.5, 2, &value, &err) && value == rows[i].value);
        qs_uri_done(&u);
    }
}

static const struct qs_route *find(const char *method, const char *uri, struct qs_match *match)
{
    struct qs_uri u;
    struct qs_err err;
    char allow[64];
    assert_true(qs_uri_parse(uri, &u, &err));
    bool found = qs_route_find(method, &u, match, allow, &err);
    qs_uri_done(&u);
    return found ? match->route : NULL;
}

/* With a value for its parameters, each route is found by its own method, and is the only one. */
static void every_route_finds_itself(void **state)
{
    (void)state;
    for (size_t i = 0; i < qs_route_count; i++) {
        struct qs_match match;
        char uri[300] = "";
        for (const char *p = qs_routes[i].pattern; *p; p++) {
            const char *value = strncmp(p, "{id}", 4) == 0    ? "42"
                                : strncmp(p, "{uid}", 5) == 0 ? "0123456789abcdef0123456789ABCDEF"
                                : *p == '{'
                                    ? "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
                                    : NULL;
            size_t n = strlen(uri);
            snprintf(uri + n, sizeof uri - n, value ? "%s" : "%.1s", value ? value : p);
            if (value)
                p = strchr(p, '}');
        }
        assert_ptr_equal(find(qs_routes[i].method, uri, &match), &qs_routes[i]);
        assert_false(match.head);
        if (strstr(uri, "42"))
            assert_int_equal(match.id, 42);
        if (strstr(qs_routes[i].pattern, "{uid}"))
            assert_int_equal(match.uid[15], 0xef);
        bool headed = strcmp(qs_routes[i].method, "GET") == 0 && !(qs_routes[i].flags & QS_ROUTE_NO_HEAD);
        const struct qs_route *head = find("HEAD", uri, &match);
        assert_true(headed ? head == &qs_routes[i] && match.head : head != &qs_routes[i] || !match.head);
    }
}

static struct qs_doc *read_openapi(void)
{
    struct qs_problems problems;
    struct qs_doc *doc;
    struct qs_buf text;
    char bytes[4096];
    FILE *in = fopen(openapi_path, "rb");
    assert_non_null(in);
    qs_buf_init(&text);
    for (size_t n; (n = fread(bytes, 1, sizeof bytes, in)) > 0;)
        qs_buf_add(&text, bytes, n);
    fclose(in);
    qs_problems_init(&problems);
    if (!qs_doc_read("openapi.yaml", text.data, text.len, false, &doc, &problems))
        fail_msg("openapi.yaml: %s", problems.at[0].what);
    qs_problems_done(&problems);
    qs_buf_done(&text);
    return doc;
}

static void lower(const char *method, char out[16])
{
    snprintf(out, 16, "%s", method);
    for (char *c = out; *c; c++)
        *c = (char)(*c | 0x20);
}

/* The names after "in: query", or those of the path. */
static bool has_parameter(const struct qs_node *operation, const char *place, const char *name)
{
    const struct qs_node *list = qs_node_get(operation, "parameters", NULL);
    for (size_t i = 0; list && i < list->count; i++) {
        const struct qs_node *in = qs_node_get(&list->items[i], "in", NULL),
                             *called = qs_node_get(&list->items[i], "name", NULL);
        if (in && called && strcmp(in->text, place) == 0 && strcmp(called->text, name) == 0)
            return true;
    }
    return false;
}

static void the_table_is_described(void **state)
{
    struct qs_doc *doc = read_openapi();
    const struct qs_node *paths = qs_node_get(&doc->root, "paths", NULL);
    (void)state;
    for (size_t i = 0; i < qs_route_count; i++) {
        char method[16], query[100];
        lower(qs_routes[i].method, method);
        const struct qs_node *path = qs_node_get(paths, qs_routes[i].pattern, NULL),
                             *operation = qs_node_get(path, method, NULL);
        if (!operation)
            fail_msg("openapi.yaml lacks %s %s", qs_routes[i].method, qs_routes[i].pattern);
        snprintf(query, sizeof query, "%s", qs_routes[i].query);
        for (char *save, *name = strtok_r(query, " ", &save); name; name = strtok_r(NULL, " ", &save)) {
            if (!has_parameter(operation, "query", name))
                fail_msg("openapi.yaml: %s lacks the query's `%s`", qs_routes[i].pattern, name);
        }
        bool body = qs_node_get(operation, "requestBody", NULL) != NULL;
        assert_int_equal(body, qs_routes[i].body_max_bytes > 0);
    }
    qs_doc_free(doc);
}

static const struct qs_route *route_of(const char *pattern, const char *method)
{
    for (size_t i = 0; i < qs_route_count; i++) {
        char small[16];
        lower(qs_routes[i].method, small);
        if (strcmp(qs_routes[i].pattern, pattern) == 0 && strcmp(small, method) == 0)
            return &qs_routes[i];
    }
    return NULL;
}

static void the_description_exists(void **state)
{
    struct qs_doc *doc = read_openapi();
    const struct qs_node *paths = qs_node_get(&doc->root, "paths", NULL);
    size_t found = 0;
    (void)state;
    for (size_t p = 0; p < paths->count; p++) {
        const struct qs_node *operations = &paths->items[p];
        for (size_t m = 0; m < operations->count; m++, found++) {
            const struct qs_route *route = route_of(paths->keys[p].text, operations->keys[m].text);
            if (!route)
                fail_msg("no route for %s %s", operations->keys[m].text, paths->keys[p].text);
            const struct qs_node *list = qs_node_get(&operations->items[m], "parameters", NULL);
            for (size_t i = 0; list && i < list->count; i++) {
                char name[80];
                const char *in = qs_node_get(&list->items[i], "in", NULL)->text;
                const char *called = qs_node_get(&list->items[i], "name", NULL)->text;
                snprintf(name, sizeof name, strcmp(in, "query") == 0 ? " %s " : "{%s}", called);
                if (strcmp(in, "header") != 0)
                    assert_non_null(strstr(strcmp(in, "query") == 0 ? route->query : route->pattern, name));
            }
        }
    }
    assert_int_equal(found, qs_route_count);
    qs_doc_free(doc);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(uris_are_cut_and_decoded), cmocka_unit_test(bounds_of_an_address),
        cmocka_unit_test(fractions_are_bounded),    cmocka_unit_test(numbers_are_bounded),
        cmocka_unit_test(every_route_finds_itself), cmocka_unit_test(the_table_is_described),
        cmocka_unit_test(the_description_exists),
    };
    openapi_path = argc > 1 ? argv[1] : "schema/openapi.yaml";
    return cmocka_run_group_tests_name("router", tests, NULL, NULL);
}
