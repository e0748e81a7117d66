/* Whole documents of made jobs: what they say, number by number. */
#include "golden.h"
#include "listener.h"
#include "made.h"
#include "page.h"

#include "report/job/document.h"
#include "report/job/opinion.h"

static json_t *said_of(struct metrics *m)
{
    struct qs_buf verdicts, brief, lines, text;
    struct qs_err err = QS_ERR_INIT;
    int code = -1;
    qs_buf_init(&verdicts);
    qs_buf_init(&brief);
    qs_buf_init(&lines);
    qs_buf_init(&text);
    assert_true(qs_report_compare(&m->w.in, &text, &err));
    assert_true(qs_report_verdicts(&m->w.in, &verdicts, &brief, &code, &err));
    qs_report_lines(&m->w.in, &lines);
    json_t *doc = json_pack("{s:o,s:o,s:i,s:s}", "compare", page_read(&text), "verdicts",
                            page_read(&verdicts), "exit", code, "lines", lines.data);
    json_object_set_new(doc, "brief", brief.len > 0 ? page_read(&brief) : json_null());
    qs_buf_done(&verdicts);
    qs_buf_done(&brief);
    qs_buf_done(&lines);
    qs_buf_done(&text);
    return doc;
}

static void comparisons_stay_what_they_are(void **state)
{
    (void)state;
    json_t *all = json_object();
    for (size_t i = 0; i < made_count; i++) {
        struct metrics m;
        made_init(&m, &made_jobs[i]);
        json_object_set_new(all, made_jobs[i].name, said_of(&m));
        metrics_done(&m);
    }
    golden_document("made-comparisons", all);
    json_decref(all);
}

/* Of each statistic of a sample test_analysis.c has the fields. */
static void shorten(json_t *doc)
{
    static const char *const kept[] = {"n", "runs", "dropped", "describe", "warnings"};
    const char *key;
    size_t i;
    json_t *value;
    json_array_foreach(doc, i, value) shorten(value);
    json_object_foreach(doc, key, value)
    {
        if (strcmp(key, "sample") != 0 || !json_is_object(value)) {
            shorten(value);
            continue;
        }
        json_t *few = json_object();
        for (size_t k = 0; k < sizeof kept / sizeof *kept; k++)
            json_object_set(few, kept[k], json_object_get(value, kept[k]));
        json_object_set_new(doc, key, few);
    }
}

static json_t *report_of(struct metrics *m)
{
    const struct qs_windows none = {.count = 0};
    struct qs_buf text;
    qs_buf_init(&text);
    assert_int_equal(qs_report_job(&m->w.in, &none, false, &text), QS_OK);
    json_t *doc = page_read(&text);
    shorten(doc);
    qs_buf_done(&text);
    return doc;
}

static void reports_stay_what_they_are(void **state)
{
    (void)state;
    json_t *all = json_object();
    for (size_t i = 0; i < made_count; i++) {
        if (!made_jobs[i].sessions && !made_jobs[i].metrics && made_jobs[i].devices == 1 &&
            !made_jobs[i].views && !made_jobs[i].fail_each)
            continue;
        struct metrics m;
        made_init(&m, &made_jobs[i]);
        json_object_set_new(all, made_jobs[i].name, report_of(&m));
        metrics_done(&m);
    }
    golden_document("made-reports", all);
    json_decref(all);
}

static json_t *compare_doc(struct metrics *m)
{
    struct qs_buf text;
    struct qs_err err = QS_ERR_INIT;
    qs_buf_init(&text);
    assert_true(qs_report_compare(&m->w.in, &text, &err));
    json_t *doc = page_read(&text);
    qs_buf_done(&text);
    return doc;
}

/* A p at the level is none below it, for the rates of what was lost; and one of those that are selected. */
static void a_p_at_the_level(void **state)
{
    (void)state;
    struct metrics m;
    size_t i = 0;
    while (strcmp(made_jobs[i].name, "one side disturbed") != 0)
        i++;
    made_init(&m, &made_jobs[i]);
    json_t *doc = compare_doc(&m);
    double lost_p = number(doc, "results.0.comparisons.0.lost_p"),
           p = number(doc, "results.0.comparisons.0.p_bh");
    json_decref(doc);
    for (int above = 0; above < 2; above++) {
        m.w.spec->alpha = above ? nextafter(lost_p, 1) : lost_p;
        doc = compare_doc(&m);
        assert_int_equal(json_is_true(at(doc, "results.0.comparisons.0.losses_differ")), above);
        json_decref(doc);
        m.w.spec->alpha = above ? p : nextafter(p, 0);
        doc = compare_doc(&m);
        assert_int_equal(json_integer_value(at(doc, "family.selected")), above);
        json_decref(doc);
    }
    metrics_done(&m);
}

/* The stages of both documents, with the share of the work that was done before. */
static void shares_of_work_stay_what_they_are(void **state)
{
    (void)state;
    const struct qs_windows none = {.count = 0};
    struct qs_buf told, text;
    struct qs_err err = QS_ERR_INIT;
    qs_buf_init(&told);
    qs_buf_init(&text);
    for (size_t i = 0; i < made_count; i++) {
        struct metrics m;
        struct listener l[2] = {{.told = &told}, {.told = &told}};
        bool all = made_jobs[i].metrics && made_jobs[i].sessions;
        if (!all && made_jobs[i].devices < 2)
            continue;
        made_init(&m, &made_jobs[i]);
        m.w.in.opinions = all ? QS_OPINIONS_ALL : QS_OPINIONS_NONE;
        m.w.in.progress = (struct qs_progress){.go_on = hear, .user = &l[0]};
        qs_buf_fmt(&told, "- %s\n", made_jobs[i].name);
        assert_true(qs_report_compare(&m.w.in, &text, &err));
        m.w.in.progress.user = &l[1];
        qs_buf_str(&told, "- its report\n");
        assert_int_equal(made_jobs[i].points > 0 ? QS_OK : qs_report_job(&m.w.in, &none, all, &text), QS_OK);
        assert_true(!l[0].fell && l[0].last == 1 && !l[1].fell);
        metrics_done(&m);
    }
    golden_check("made-report-work.txt", &told);
    qs_buf_done(&told);
    qs_buf_done(&text);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(comparisons_stay_what_they_are),
        cmocka_unit_test(reports_stay_what_they_are),
        cmocka_unit_test(a_p_at_the_level),
        cmocka_unit_test(shares_of_work_stay_what_they_are),
    };
    golden_dir = argc > 1 ? argv[1] : golden_dir;
    return cmocka_run_group_tests_name("made", tests, NULL, NULL);
}
