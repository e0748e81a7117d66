/* The JSON Schema of documents of files and of their statistics, printed from the rows that write them. */
#include "report/analysis/frame.h"
#include "report/job/opinion.h"
#include "report/put.h"

static void put_object(struct qs_json *j, const char *name, const char *meaning, const struct qs_field *rows)
{
    qs_json_kobject(j, name);
    qs_json_kstring(j, "description", meaning);
    qs_json_kstring(j, "type", "object");
    qs_fields_schema(j, rows);
    qs_json_object_end(j);
}

static void put_stat(struct qs_json *j, const struct qs_stat *stat)
{
    static const struct qs_field none[] = {{.name = NULL}};
    const struct qs_field rows[] = {
        {.kind = QS_FIELD_PART, .of = qs_stat_head_rows},
        {.kind = QS_FIELD_PART, .of = stat->random ? qs_stat_seed_rows : none},
        {.kind = QS_FIELD_PART, .of = stat->rows},
        {.kind = QS_FIELD_PART, .of = qs_stat_status_rows},
        {.name = NULL},
    };
    put_object(j, stat->name, stat->meaning, rows);
}

static void put_stats(struct qs_json *j, const struct qs_stat_table *tables)
{
    const struct qs_stat *stat;
    for (size_t i = 0; (stat = qs_stat_at(tables, i)); i++)
        if (tables != qs_points_tables || stat->rows != qs_steps_rows) /* told of pairs, too */
            put_stat(j, stat);
}

static struct qs_json begin(struct qs_buf *out, const char *title)
{
    struct qs_json j = qs_json_to(out);
    qs_json_object(&j);
    qs_json_kstring(&j, "$schema", "https://json-schema.org/draft/2020-12/schema");
    qs_json_kstring(&j, "title", title);
    return j;
}

void qs_statistics_schema(struct qs_buf *out)
{
    struct qs_json j = begin(out, "Statistics of the documents of files");
    qs_json_kobject(&j, "$defs");
    put_stats(&j, qs_sample_tables);
    put_stats(&j, qs_pair_tables);
    put_stats(&j, qs_points_tables);
    put_stats(&j, qs_family_tables);
    qs_json_object_end(&j);
    qs_json_object_end(&j);
}

void qs_analysis_schema(struct qs_buf *out)
{
    static const struct {
        const char *name, *meaning;
        const struct qs_field *rows;
        bool is_document;
    } defs[] = {
        {"analysis", "What quiesce analyze gives", qs_analysis_rows, true},
        {"comparison", "What quiesce compare gives of two files", qs_compared_rows, true},
        {"history", "What quiesce history gives of files", qs_history_rows, true},
        {"sample", "One series: what it is, and every statistic of it", qs_sample_rows, false},
        {"pair", "Both samples by one kind of observation", qs_pair_rows, false},
        {"warning", "What is wrong with the sample, in words", qs_warning_rows, false},
        {"histogram", "Bins of equal width from lo to hi; two samples that are compared share the axis",
         qs_histogram_rows, false},
        {"opinion", "What the rule of another paper or program says; no part of the verdict", qs_opinion_rows,
         false},
    };
    struct qs_json j = begin(out, "quiesce analyze, compare and history of files: the document of --json");
    qs_json_kstring(
        &j, "description",
        "Every number is a double printed with as many digits as read back the same one; null is a "
        "number that is not defined, and status says why. Definitions and sources: "
        "daemon/stats/README.md.");
    qs_json_karray(&j, "oneOf");
    for (size_t i = 0; i < sizeof defs / sizeof *defs; i++) {
        if (!defs[i].is_document)
            continue;
        QS_BUF(ref);
        qs_buf_fmt(&ref, "#/$defs/%s", defs[i].name);
        qs_json_object(&j);
        qs_json_kstring(&j, "$ref", ref.data);
        qs_json_object_end(&j);
    }
    qs_json_array_end(&j);
    qs_json_kobject(&j, "$defs");
    for (size_t i = 0; i < sizeof defs / sizeof *defs; i++)
        put_object(&j, defs[i].name, defs[i].meaning, defs[i].rows);
    qs_json_object_end(&j);
    qs_json_object_end(&j);
}
