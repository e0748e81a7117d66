/* Text from elsewhere (names of devices, jobs, programs and files, output, reasons) reaches a terminal
 * escaped, in whatever field of whatever document it stands: every golden document with every field poisoned
 * in turn. */
#include "cm.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/export.h"
#include "ctl/layout/layout.h"
#include "ctl/layout/history.h"
#include "ctl/layout/reproduce.h"

static const char *folder; /* argv[1] */

/* The title, a bell, another way to write CSI, and text turned round. */
static const char poison[] = "\033]0;X\007 \302\2332J \342\200\256";

/* Longer lists would only say the same again. */
enum { MOST_KEYS = 400 };

struct keys {
    const char *at[MOST_KEYS];
    size_t count;
};

static void take_key(struct keys *keys, const char *key)
{
    for (size_t i = 0; i < keys->count; i++)
        if (strcmp(keys->at[i], key) == 0)
            return;
    assert_true(keys->count < MOST_KEYS);
    keys->at[keys->count++] = key;
}

static bool is_text(const json_t *value)
{
    return json_is_string(value) || json_is_null(value);
}

static void collect(const json_t *value, struct keys *keys)
{
    const char *key;
    json_t *child;
    size_t i;
    json_object_foreach((json_t *)value, key, child)
    {
        if (is_text(child) || is_text(json_array_get(child, 0)))
            take_key(keys, key);
        collect(child, keys);
    }
    json_array_foreach(value, i, child) collect(child, keys);
}

static json_t *poisoned(const char *text)
{
    char all[4096];
    snprintf(all, sizeof(all), "%.3000s%s", text, poison);
    return json_string(all);
}

/* A copy in which every text below `key` is poisoned, and every null there is the poison itself. `below`: we
 * are. */
static json_t *with_poison(const json_t *value, const char *key, bool below)
{
    const char *name;
    json_t *child;
    size_t i;
    if (is_text(value))
        return below ? poisoned(json_is_string(value) ? json_string_value(value) : "")
                     : json_deep_copy(value);
    if (json_is_array(value)) {
        json_t *list = json_array();
        json_array_foreach(value, i, child) json_array_append_new(list, with_poison(child, key, below));
        return list;
    }
    if (!json_is_object(value))
        return json_deep_copy(value);
    json_t *map = json_object();
    json_object_foreach((json_t *)value, name, child)
        json_object_set_new(map, name, with_poison(child, key, strcmp(name, key) == 0));
    return map;
}

static void is_harmless(const struct qs_buf *out, const char *where, const char *key)
{
    for (size_t i = 0; i < out->len; i++) {
        unsigned char c = (unsigned char)out->data[i],
                      next = i + 1 < out->len ? (unsigned char)out->data[i + 1] : 0;
        bool turns = c == 0xe2 && next == 0x80 && (unsigned char)out->data[i + 2] == 0xae;
        if ((c < ' ' && c != '\n') || c == 0x7f || (c == 0xc2 && next < 0xa0) || turns)
            fail_msg("%s, `%s`: byte %02x at %zu: %.60s", where, key, c, i,
                     out->data + (i > 30 ? i - 30 : 0));
    }
}

typedef void layout_fn(const struct qs_layout *layout, const json_t *doc, struct qs_buf *out);

static void history(const struct qs_layout *layout, const json_t *doc, struct qs_buf *out)
{
    qs_layout_history(layout, doc, 12, out);
}

static void junit(const struct qs_layout *layout, const json_t *doc, struct qs_buf *out)
{
    (void)layout;
    qs_export_junit(doc, out);
}

static void check(const json_t *doc, const char *where, layout_fn *lay_out)
{
    const struct qs_layout layout = {
        .face = {.width = 80, .utf8 = true}, .home = "/home/USER", .show_output = true};
    struct keys keys = {.count = 0};
    struct qs_buf out;
    qs_buf_init(&out);
    collect(doc, &keys);
    for (size_t i = 0; i < keys.count; i++) {
        json_t *bad = with_poison(doc, keys.at[i], false);
        lay_out(&layout, bad, &out);
        is_harmless(&out, where, keys.at[i]);
        qs_buf_clear(&out);
        json_decref(bad);
    }
    qs_buf_done(&out);
}

static bool is_kind(const json_t *doc, const char *kind)
{
    const char *is = json_string_value(json_object_get(doc, "kind"));
    return is != NULL && strcmp(is, kind) == 0;
}

static layout_fn *layout_of(const json_t *doc)
{
    if (is_kind(doc, "job") || is_kind(doc, "run"))
        return qs_layout_report;
    if (is_kind(doc, "reproduction"))
        return qs_layout_reproduction;
    if (json_object_get(doc, "series") != NULL)
        return qs_layout_series;
    if (is_kind(doc, "series"))
        return history;
    if (is_kind(doc, "sides"))
        return qs_layout_sides;
    return json_object_get(doc, "kind") != NULL ? qs_layout_analysis : qs_layout_compare;
}

static void every_field_of_every_document(void **state)
{
    size_t documents = 0;
    DIR *d = opendir(folder);
    (void)state;
    assert_non_null(d);
    for (struct dirent *e = readdir(d); e != NULL; e = readdir(d)) {
        char path[4096];
        size_t n = strlen(e->d_name);
        if (n < 6 || strcmp(e->d_name + n - 5, ".json") != 0)
            continue;
        snprintf(path, sizeof(path), "%s/%s", folder, e->d_name);
        json_t *doc = json_load_file(path, 0, NULL);
        assert_non_null(doc);
        check(doc, e->d_name, layout_of(doc));
        check(doc, e->d_name, junit);
        json_decref(doc);
        documents++;
    }
    closedir(d);
    assert_true(documents >= 29);
}

/* What the lists and `quiesce show` are given (schema/openapi.yaml). */
static void every_field_of_lists(void **state)
{
    static const struct {
        const char *text;
        layout_fn *lay_out;
    } docs[] = {
        {"{\"jobs\":[{\"id\":7,\"name\":\"n\",\"state\":\"queued\",\"owner\":\"me\",\"reason\":null,\"runs\":"
         "3,"
         "\"iterations\":9,\"position\":1,\"why\":\"w\",\"verdict\":\"v\",\"submitted\":\"2026\"}]}",
         qs_layout_jobs},
        {"{\"id\":7,\"name\":\"n\",\"state\":\"failed\",\"owner\":\"me\",\"reason\":\"r\",\"why\":\"w\","
         "\"runs\":3,"
         "\"iterations\":9,\"spec\":\"s\",\"arms\":[{\"name\":\"a\",\"argv\":[\"x\"],\"command\":\"c\"}],"
         "\"points\":[{\"label\":\"p\"}],\"devices\":[\"d\"],\"waiting\":{\"sensor\":\"s\",\"why\":\"w\"},"
         "\"problems\":[\"p\"],\"run_list\":[]}",
         qs_layout_job},
        {"{\"uid\":\"ab\",\"arm\":1,\"arm_name\":\"a\",\"device\":\"d\",\"state\":\"failed\",\"error\":{"
         "\"code\":\"c\","
         "\"text\":\"t\"},\"error_text\":\"t\",\"exe_path\":\"/"
         "x\",\"stop_reason\":\"s\",\"artifacts\":[{\"kind\":\"file\","
         "\"name\":\"f\",\"why\":\"w\",\"total_bytes\":3}],\"windows\":[{\"ord\":0,\"phase\":\"measure\","
         "\"n\":3,\"how\":\"h\","
         "\"failure\":\"f\",\"output\":\"o\",\"taints\":[{\"code\":\"c\",\"value\":1}],\"gate\":{\"outcome\":"
         "\"o\","
         "\"busiest\":\"b\",\"readings\":[{\"sensor\":\"s\",\"status\":\"ok\",\"value\":1}]},\"evidence\":[{"
         "\"kind\":\"k\","
         "\"before\":1,\"after\":2}]}]}",
         qs_layout_run},
        {"{\"devices\":[{\"name\":\"d\",\"state\":\"lost\",\"link\":\"tcp\",\"agent\":\"a\",\"why\":\"w\","
         "\"reason\":\"r\","
         "\"error\":\"e\",\"serial\":\"s\",\"job\":3,\"cache\":null,\"address\":\"x\",\"kernel\":\"k\"}]}",
         qs_layout_devices}};
    (void)state;
    for (size_t i = 0; i < sizeof(docs) / sizeof(docs[0]); i++) {
        json_t *doc = json_loads(docs[i].text, 0, NULL);
        assert_non_null(doc);
        check(doc, docs[i].text, docs[i].lay_out);
        json_decref(doc);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_field_of_every_document),
                                       cmocka_unit_test(every_field_of_lists)};
    if (argc != 2)
        return 2;
    folder = argv[1];
    return cmocka_run_group_tests(tests, NULL, NULL);
}
