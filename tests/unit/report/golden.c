#include "golden.h"

#include <stdio.h>

#include "base/mem.h"
#include "world.h"

static bool differs(const json_t *want, const json_t *got, struct qs_buf *place);

/* What was appended to the place stays where there is a difference. */
static bool differs_below(const json_t *want, const json_t *got, struct qs_buf *place, size_t before)
{
    if (differs(want, got, place))
        return true;
    place->len = before;
    place->data[before] = '\0';
    return false;
}

static bool differs(const json_t *want, const json_t *got, struct qs_buf *place)
{
    size_t before = place->len, i;
    const char *key;
    json_t *value;
    if (json_is_number(want) && json_is_number(got)) {
        double a = json_number_value(want), b = json_number_value(got);
        return fabs(a - b) > 1e-9 * (fabs(a) + fabs(b)) + 1e-13; /* what is zero but for rounding */
    }
    if (!got || json_typeof(want) != json_typeof(got) || json_object_size(want) != json_object_size(got) ||
        json_array_size(want) != json_array_size(got))
        return true;
    json_array_foreach(want, i, value)
    {
        qs_buf_fmt(place, "[%zu]", i);
        if (differs_below(value, json_array_get(got, i), place, before))
            return true;
    }
    json_object_foreach((json_t *)(uintptr_t)want, key, value)
    {
        qs_buf_fmt(place, ".%s", key);
        if (strcmp(key, "quiesce") != 0 && differs_below(value, json_object_get(got, key), place, before))
            return true;
    }
    return !json_is_object(want) && !json_is_array(want) && !json_equal(want, got);
}

void golden_document(const char *name, const json_t *got)
{
    char *path = qs_asprintf("%s/%s.json", golden_dir, name), *other = qs_asprintf("%s.json.got", name);
    json_t *want = json_load_file(path, 0, NULL);
    struct qs_buf place;
    qs_buf_init(&place);
    bool same = want && !differs(want, got, &place);
    if (!same)
        assert_int_equal(json_dump_file(got, other, JSON_INDENT(1) | JSON_REAL_PRECISION(12)), 0);
    if (!same)
        fail_msg("%s differs at %s: compare it with %s", path, place.data, other);
    json_decref(want);
    qs_buf_done(&place);
    free(path);
    free(other);
}
