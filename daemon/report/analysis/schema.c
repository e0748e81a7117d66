/* The JSON Schema of the statistics, printed from the rows that write them. */
#include "report/analysis/impl.h"

static void put_stat(struct qs_json *j, const struct qs_stat *stat)
{
    const struct qs_field *const parts[] = {qs_stat_head_rows, stat->random ? qs_stat_seed_rows : NULL,
                                            stat->rows, qs_stat_status_rows};
    enum { PARTS = sizeof parts / sizeof *parts };
    qs_json_kobject(j, stat->name);
    qs_json_kstring(j, "description", stat->meaning);
    qs_json_kstring(j, "type", "object");
    qs_json_kbool(j, "additionalProperties", false);
    qs_json_karray(j, "required");
    for (size_t i = 0; i < PARTS; i++)
        if (parts[i])
            qs_fields_schema_names(j, parts[i]);
    qs_json_array_end(j);
    qs_json_kobject(j, "properties");
    for (size_t i = 0; i < PARTS; i++)
        if (parts[i])
            qs_fields_schema_properties(j, parts[i]);
    qs_json_object_end(j);
    qs_json_object_end(j);
}

static void put_views(struct qs_json *j, const struct qs_view_stat *rows, size_t count)
{
    for (size_t i = 0; i < count; i++)
        put_stat(j, &rows[i].stat);
}

static void put_pairs(struct qs_json *j, const struct qs_pair_stat *rows, size_t count)
{
    for (size_t i = 0; i < count; i++)
        put_stat(j, &rows[i].stat);
}

void qs_analysis_schema(struct qs_buf *out)
{
    struct qs_json j = qs_json_to(out);
    qs_json_object(&j);
    qs_json_kstring(&j, "$schema", "https://json-schema.org/draft/2020-12/schema");
    qs_json_kstring(&j, "title", "Statistics of the documents of files");
    qs_json_kobject(&j, "$defs");
    put_views(&j, qs_one_stats, qs_one_stat_count);
    put_views(&j, qs_shape_stats, qs_shape_stat_count);
    put_views(&j, qs_mode_stats, qs_mode_stat_count);
    put_views(&j, qs_run_stats, qs_run_stat_count);
    put_pairs(&j, qs_two_stats, qs_two_stat_count);
    put_pairs(&j, qs_rank_stats, qs_rank_stat_count);
    put_pairs(&j, qs_rule_stats, qs_rule_stat_count);
    for (size_t i = 0; i < qs_points_stat_count; i++)
        if (qs_points_stats[i].stat.rows != qs_steps_rows) /* told above */
            put_stat(&j, &qs_points_stats[i].stat);
    put_stat(&j, &qs_family_stat);
    qs_json_object_end(&j);
    qs_json_object_end(&j);
}
