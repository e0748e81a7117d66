#include "report/conditions.h"

#include <stdlib.h>
#include <string.h>

#include "config/document/doc.h"
#include "config/job/stored.h"

static struct qs_doc *read(const char *json)
{
    QS_SCOPED(qs_problems_done) struct qs_problems problems = {0};
    struct qs_doc *doc = NULL;
    return qs_doc_read("conditions", json, strlen(json), true, &doc, &problems) ? doc : NULL;
}

/* Earlier versions have kept the controls alone, without that key. */
static bool has_all(const struct qs_doc *doc)
{
    return doc && qs_node_get(&doc->root, "controls", NULL);
}

bool qs_conditions_known(const char *conditions_json)
{
    QS_SCOPED(qs_doc_free_at) struct qs_doc *doc = read(conditions_json);
    return has_all(doc);
}

static struct qs_doc *read_job(const struct qs_job_spec *spec, size_t point, size_t arm)
{
    QS_BUF(text);
    struct qs_json j = qs_json_to(&text);
    qs_job_put_conditions(&j, qs_job_conditions(spec, point, arm));
    return read(text.data);
}

static void put_node(struct qs_json *j, const struct qs_node *node)
{
    if (!node || node->kind == QS_NODE_NULL) {
        qs_json_null(j);
    } else if (node->kind == QS_NODE_TEXT) {
        qs_json_string(j, node->text);
    } else if (node->kind == QS_NODE_LIST) {
        qs_json_array(j);
        for (size_t i = 0; i < node->count; i++)
            put_node(j, &node->items[i]);
        qs_json_array_end(j);
    } else {
        qs_json_object(j);
        for (size_t i = 0; i < node->count; i++) {
            qs_json_key(j, node->keys[i].text);
            put_node(j, &node->items[i]);
        }
        qs_json_object_end(j);
    }
}

static const char *text_at(const struct qs_node *map, const char *key)
{
    const struct qs_node *node = qs_node_get(map, key, NULL);
    return node && node->kind == QS_NODE_TEXT ? node->text : "";
}

static long long ms_at(const struct qs_node *map, const char *key)
{
    return strtoll(text_at(map, key), NULL, 10) / 1000000;
}

/* Texts, and maps of such: the switches of a set, frequencies by kind. */
static void put_texts(struct qs_json *j, const struct qs_node *map)
{
    for (size_t i = 0; map && map->kind == QS_NODE_MAP && i < map->count; i++)
        if (map->items[i].kind == QS_NODE_TEXT || map->items[i].kind == QS_NODE_MAP) {
            qs_json_key(j, map->keys[i].text);
            put_node(j, &map->items[i]);
        }
}

/* A key for each expectation of a gate: its sensor; a later one on the same sensor has its number behind it.
 */
static void key_of(struct qs_json *j, const struct qs_node *gate, size_t i)
{
    QS_BUF(key);
    size_t before = 0;
    const char *sensor = text_at(&gate->items[i], "sensor");
    for (size_t k = 0; k < i; k++)
        before += strcmp(text_at(&gate->items[k], "sensor"), sensor) == 0 ? 1 : 0;
    qs_buf_str(&key, sensor);
    if (before > 0)
        qs_buf_fmt(&key, " (%zu)", before + 1);
    qs_json_key(j, key.data);
}

/* "from 20000 to 45000 for 200 ms" by sensor. */
static void put_gate(struct qs_json *j, const struct qs_node *gate)
{
    QS_BUF(band);
    qs_json_kobject(j, "gate");
    for (size_t i = 0; gate && i < gate->count; i++) {
        const struct qs_node *e = &gate->items[i];
        const char *above = text_at(e, "above"), *below = text_at(e, "below");
        qs_buf_clear(&band);
        if (*above)
            qs_buf_fmt(&band, "from %s ", above);
        if (*below)
            qs_buf_fmt(&band, "to %s ", below);
        qs_buf_fmt(&band, "for %lld ms", ms_at(e, "dwell_ns"));
        if (*text_at(e, "end_below"))
            qs_buf_fmt(&band, ", after the window to %s", text_at(e, "end_below"));
        if (strcmp(text_at(e, "unreadable_ok"), "true") == 0)
            qs_buf_str(&band, ", or unreadable");
        if (strcmp(text_at(e, "heat"), "true") == 0)
            qs_buf_str(&band, ", heated");
        if (strcmp(text_at(e, "returns"), "true") == 0)
            qs_buf_str(&band, ", once above the line before");
        key_of(j, gate, i);
        qs_json_string(j, band.data);
    }
    qs_json_object_end(j);
}

/* What ends a job, or does not let it begin. */
static void put_checks(struct qs_json *j, const struct qs_node *root)
{
    const struct qs_node *app = qs_node_get(root, "app", NULL);
    if (*text_at(root, "trip_mc"))
        qs_json_kstring(j, "trip_mc", text_at(root, "trip_mc"));
    if (app) {
        qs_json_key(j, "app");
        put_node(j, app);
    }
}

static void put_effort(struct qs_json *j, const struct qs_node *root)
{
    static const char *const keys[] = {"patience_ns", "repeat_tainted", "cap_time_ns", "cap_iterations"};
    const struct qs_node *gate = qs_node_get(root, "gate", NULL), *stop = qs_node_get(root, "stop", NULL);
    QS_BUF(wait);
    qs_json_kobject(j, "effort");
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        qs_json_kstring(j, keys[i], text_at(root, keys[i]));
    qs_json_kobject(j, "waits");
    for (size_t i = 0; gate && i < gate->count; i++) {
        const struct qs_node *e = &gate->items[i];
        qs_buf_clear(&wait);
        qs_buf_fmt(&wait, "%lld ms, then %s%s", ms_at(e, "timeout_ns"), text_at(e, "on_timeout"),
                   strcmp(text_at(e, "backoff"), "true") == 0 ? ", halved" : "");
        key_of(j, gate, i);
        qs_json_string(j, wait.data);
    }
    qs_json_object_end(j);
    qs_json_key(j, "stop");
    put_node(j, stop);
    qs_json_object_end(j);
}

static void put_all(struct qs_json *j, const struct qs_node *root, const struct qs_node *controls)
{
    if (*text_at(root, "name"))
        qs_json_kstring(j, "set", text_at(root, "name"));
    put_texts(j, controls);
    put_checks(j, root);
    put_gate(j, qs_node_get(root, "gate", NULL));
    qs_json_kobject(j, "bounds");
    put_texts(j, qs_node_get(root, "bounds", NULL));
    qs_json_object_end(j);
    put_effort(j, root);
}

bool qs_conditions_put(struct qs_json *j, const char *stored_json, const struct qs_job_spec *spec,
                       size_t point, size_t arm)
{
    QS_SCOPED(qs_doc_free_at) struct qs_doc *stored = read(stored_json), *of_job = NULL;
    if (!has_all(stored) && spec && point < spec->point_count && arm < spec->arm_count)
        of_job = read_job(spec, point, arm);
    const struct qs_doc *doc = of_job ? of_job : stored;
    const struct qs_node *root = doc ? &doc->root : NULL, *controls = qs_node_get(root, "controls", NULL);
    qs_json_object(j);
    if (controls)
        put_all(j, root, controls);
    else
        put_texts(j, root);
    qs_json_object_end(j);
    return controls != NULL;
}

static bool is_made(const struct qs_conditions_made *made, const char *stored_json,
                    const struct qs_job_spec *spec, size_t point, size_t arm)
{
    return made->text && strcmp(made->stored_json, stored_json) == 0 &&
           (made->is_all || (made->spec == spec && made->point == point && made->arm == arm));
}

void qs_conditions_put_made(struct qs_json *j, struct qs_conditions_made *made, const char *stored_json,
                            const struct qs_job_spec *spec, size_t point, size_t arm)
{
    if (!is_made(made, stored_json, spec, point, arm)) {
        struct qs_buf text;
        qs_buf_init(&text);
        struct qs_json own = qs_json_to(&text);
        (void)qs_conditions_put(&own, stored_json, spec, point, arm);
        qs_conditions_made_done(made);
        *made = (struct qs_conditions_made){.stored_json = stored_json,
                                            .is_all = qs_conditions_known(stored_json),
                                            .spec = spec,
                                            .point = point,
                                            .arm = arm,
                                            .text = qs_buf_take(&text)};
    }
    qs_json_raw(j, made->text);
}

void qs_conditions_made_done(struct qs_conditions_made *made)
{
    free(made->text);
    *made = (struct qs_conditions_made){.text = NULL};
}
