/* Tables for a pull request or a wiki: what has a meaning in their form is escaped, and a verdict is one row.
 */
#include "sides.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "formats/import.h"
#include "page.h"
#include "report/analysis/analysis.h"
#include "report/tables/tables.h"
#include "report/verdict/verdict.h"

#define ZERO "\xe2\x80\x8b"

static const char hostile[] = "a|b\\c`d*e_f<g>h[i]j#k@l&m\"n\ao\np\tq\r\xc3\xa9\x7f\x1b[31m";

static void in_form(const char *form, void (*put)(struct qs_tables *t, const char *s), const char *text,
                    const char *want)
{
    struct qs_tables t;
    assert_true(qs_tables_init(&t, form));
    put(&t, text);
    assert_string_equal(t.out.data, want);
    qs_tables_done(&t);
}

static void every_sign_means_itself(void **state)
{
    (void)state;
    struct qs_tables t;
    in_form("markdown", qs_tables_text, hostile,
            "a\\|b\\\\c\\`d\\*e\\_f\\<g\\>h\\[i\\]j#<!-- -->k@<!-- -->l\\&m\"n\\\\x07o p\\\\x09q "
            "\xc3\xa9\\\\x7f\\\\x1b\\[31m");
    in_form("asciidoc", qs_tables_text, hostile,
            "a&#124;b&#92;c&#96;d&#42;e&#95;f&#60;g&#62;h&#91;i&#93;j&#35;k@l&#38;m\"n&#92;x07o p&#92;x09q "
            "\xc3\xa9&#92;x7f&#92;x1b&#91;31m");
    in_form("orgmode", qs_tables_text, hostile,
            "a\\vert{}b\\" ZERO "c`d\\ast{}e\\under{}f\\lt{}g>h[" ZERO "i]j#k@" ZERO "l&m\"n\\" ZERO
            "x07o p\\" ZERO "x09q \xc3\xa9\\" ZERO "x7f\\" ZERO "x1b[" ZERO "31m");
    in_form("markdown", qs_tables_text, NULL, "");
    in_form("markdown", qs_tables_code, "sort -n | head *", "`sort -n \\| head *`");
    in_form("markdown", qs_tables_code, "echo `x`", "echo \\`x\\`");
    in_form("markdown", qs_tables_code, "echo \a", "echo \\\\x07");
    in_form("asciidoc", qs_tables_code, "a|b", "`a&#124;b`");
    in_form("orgmode", qs_tables_code, "a*b", "~a*b~");
    in_form("orgmode", qs_tables_code, "a|~", "a\\vert{}\\tilde{}");
    in_form("orgmode", qs_tables_code, "a\a", "a\\" ZERO "x07");
    in_form("orgmode", qs_tables_code, " a", " a");
    in_form("orgmode", qs_tables_code, "", "");
    assert_false(qs_tables_init(&t, "html"));
    assert_false(qs_tables_init(&t, ""));
    qs_tables_done(&t);
}

/* What Org reads as bold, italic, underlined, verbatim, code, struck out, lower, upper, a formula, a mark of
 * time, a column's width, a link, a count, a macro, an entity. */
static void org_reads_no_markup(void **state)
{
    static const char *const rows[][2] = {
        {"*b* /i/ _u_ =v= ~c~ +s+",
         "\\ast{}b\\ast{} \\slash{}i/ \\under{}u\\under{} \\equal{}v= \\tilde{}c~ \\plus{}s+"},
        {"image=4k, a/b, 1+2, 1~2, -1.5", "image=4k, a/b, 1+2, 1~2, -1.5"},
        {"read_file x^2 $x$", "read\\under{}file x\\asciicirc{}2 \\dollar{}x\\dollar{}"},
        {"<2026-11-23> <r>", "\\lt{}2026-11-23> \\lt{}r>"},
        {"[[x]] [50%]", "[" ZERO "[" ZERO "x]] [" ZERO "50%]"},
        {"{{{m}}} @@x@@ \\alpha",
         "{" ZERO "{" ZERO "{" ZERO "m}}} @" ZERO "@" ZERO "x@" ZERO "@" ZERO " \\" ZERO "alpha"},
        {"**x", "\\ast{}\\ast{}x"},
        {"a --b ...", "a -" ZERO "-b ." ZERO "." ZERO "."},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        in_form("orgmode", qs_tables_text, rows[i][0], rows[i][1]);
    struct qs_tables t;
    assert_true(qs_tables_init(&t, "orgmode"));
    qs_tables_row(&t);
    qs_tables_text(&t, "---"); /* a rule has its first dash at the bar */
    qs_tables_next(&t);
    qs_tables_text(&t, "*");
    qs_tables_row_end(&t);
    assert_string_equal(t.out.data, "| -" ZERO "-" ZERO "- | \\ast{} |\n");
    qs_tables_done(&t);
}

static struct qs_comparison made(const struct qs_arm_metric *metric, double base[2], double cand[2])
{
    const struct qs_judging how = {.alpha = 0.05, .margin_ratio = 0.02};
    struct qs_comparison c = qs_comparison_new(&how, metric);
    c.side[QS_BASE] = (struct qs_side_values){.v = base, .n = 2};
    c.side[QS_CAND] = (struct qs_side_values){.v = cand, .n = 2};
    c.v.kind = QS_VERDICT_REGRESSION;
    c.v.ratio = 1.2;
    c.v.l95 = (struct qs_ci){.lo = 1.1, .hi = 1.3, .level = 0.95};
    c.v.l90 = (struct qs_ci){.lo = 1.15, .hi = 1.25, .level = 0.9};
    c.v.sd_log = 0.0123;
    c.p_bh = 0.01;
    return c;
}

static void check_row(const struct qs_comparison *c, const char *const arms[2], const char *want)
{
    struct qs_tables t;
    assert_true(qs_tables_init(&t, "markdown"));
    qs_tables_verdict_row(&t, &(struct qs_tables_verdict){
                                  .point = "p|q", .where = "bench", .arms = {arms[0], arms[1]}, .c = c});
    assert_string_equal(t.out.data, want);
    qs_tables_done(&t);
}

/* Each row differs from the first in one thing. */
static void a_verdict_is_a_row(void **state)
{
    (void)state;
    static const char *const arms[2] = {"a", "b_1"}, *const same[2] = {"a", "a"};
    const struct qs_arm_metric time = {.name = (char *)"duration_ns", .unit = (char *)"ns"},
                               calls = {.name = (char *)"calls", .unit = (char *)"calls*"};
    double base[2] = {1e6, 1e6}, cand[2] = {1.2e6, 1.2e6};
    struct qs_comparison c = made(&time, base, cand), d = made(&calls, base, cand);
    check_row(&c, arms,
              "| p\\|q | a → b\\_1 | bench | duration\\_ns | 1.00 ms | 1.20 ms | +20.00 % (+10.00 to +30.00 "
              "%) | **regression** | noise ±1.23 % |\n");
    check_row(&c, same,
              "| p\\|q |  | bench | duration\\_ns | 1.00 ms | 1.20 ms | +20.00 % (+10.00 to +30.00 %) | "
              "**regression** | noise ±1.23 % |\n");
    check_row(&d, arms,
              "| p\\|q | a → b\\_1 | bench | calls | 1e+06 calls\\* | 1.2e+06 calls\\* | +20.00 % (+10.00 to "
              "+30.00 %) | **regression** | noise ±1.23 % |\n");
    c.p_bh = 0.2; /* expected among so many */
    c.reason = "borderline";
    check_row(&c, arms,
              "| p\\|q | a → b\\_1 | bench | duration\\_ns | 1.00 ms | 1.20 ms | +20.00 % (+10.00 to +30.00 "
              "%) | **regression**, by chance? | noise ±1.23 % |\n");
    c.v.kind = QS_VERDICT_EQUIVALENT; /* rests on the narrower interval */
    check_row(&c, arms,
              "| p\\|q | a → b\\_1 | bench | duration\\_ns | 1.00 ms | 1.20 ms | +20.00 % (+15.00 to +25.00 "
              "%) | equivalent (borderline) | noise ±1.23 % |\n");
    c.v.l90.hi = NAN;
    c.v.sd_log = NAN;
    check_row(&c, arms,
              "| p\\|q | a → b\\_1 | bench | duration\\_ns | 1.00 ms | 1.20 ms | +20.00 % | equivalent "
              "(borderline) | – |\n");
    c.v.ratio = NAN;
    c.side[QS_BASE].n = 0;
    check_row(
        &c, arms,
        "| p\\|q | a → b\\_1 | bench | duration\\_ns | – | 1.20 ms | – | equivalent (borderline) | – |\n");
    d.exact = (struct qs_exact){.declared = true, .constant = {true, true}, .value = {1, 2}};
    d.reason = "exact";
    check_row(&d, arms,
              "| p\\|q | a → b\\_1 | bench | calls | 1e+06 calls\\* | 1.2e+06 calls\\* | +20.00 % | "
              "**regression** (exact) | – |\n");
}

/* How often a unit of the candidate is above one of the base: of pairs, and of two samples. */
static void superiority_is_of_what_counts(void **state)
{
    (void)state;
    static const char *const same[2] = {"a", "a"};
    const struct qs_arm_metric time = {.name = (char *)"duration_ns", .unit = (char *)"ns"};
    double base[2] = {1e6, 1e6}, cand[2] = {1.2e6, 1.2e6};
    struct qs_comparison c = made(&time, base, cand);
    c.paired = true;
    c.names[QS_BASE] = "a";
    c.names[QS_CAND] = "b_1";
    c.v.n_used[QS_BASE] = c.v.n_used[QS_CAND] = 2;
    check_row(&c, same,
              "| p\\|q |  | bench | duration\\_ns | 1.00 ms | 1.20 ms | +20.00 % (+10.00 to +30.00 %) | "
              "**regression** | b\\_1 takes longer than a in 100 % of pairs (34–100 %); noise ±1.23 % |\n");
    base[0] = 2e6; /* above, but disturbed: it does not count */
    c.side[QS_BASE].disturbed = c.side[QS_CAND].disturbed = (bool[]){true, false};
    check_row(&c, same,
              "| p\\|q |  | bench | duration\\_ns | 1.50 ms | 1.20 ms | +20.00 % (+10.00 to +30.00 %) | "
              "**regression** | b\\_1 takes longer than a in 50 % of pairs (9–91 %); noise ±1.23 % |\n");
    c.v.n_used[QS_BASE] = c.v.n_used[QS_CAND] = 1;
    check_row(&c, same,
              "| p\\|q |  | bench | duration\\_ns | 1.50 ms | 1.20 ms | +20.00 % (+10.00 to +30.00 %) | "
              "**regression** | b\\_1 takes longer than a in 100 % of pairs (21–100 %); noise ±1.23 % |\n");
    c.paired = false;
    c.v.n_used[QS_BASE] = c.v.n_used[QS_CAND] = 2;
    check_row(&c, same,
              "| p\\|q |  | bench | duration\\_ns | 1.50 ms | 1.20 ms | +20.00 % (+10.00 to +30.00 %) | "
              "**regression** | b\\_1 takes longer than a in 50 % of pairs (11–89 %); noise ±1.23 % |\n");
}

/* Two devices, metrics, what differs, what has no partner, a view; names that could break out of a cell. */
static void two_sides_as_tables(void **state)
{
    (void)state;
    struct sides s;
    struct qs_tables t;
    sides_init(&s, NULL);
    for (size_t d = 0; d < 2; d++) {
        sides_add_job(&s, 0, 1, 0, 8, 1e6);
        sides_add_job(&s, 1, 2, 1, 8, 1.2e6);
        for (size_t i = 8 * d; i < 8 * d + 8; i++)
            for (int k = 0; k < 2; k++) {
                sides_name(&s.runs[k].at[i].device, d == 0 ? "pixel|4\a" : "p2");
                sides_name(&s.runs[k].at[i].label, "blur <&\"'>|*\x1b[31m");
            }
    }
    sides_fill_metric(&s, 0, 1, 5);
    sides_fill_metric(&s, 1, 1, 5);
    sides_name(&sides_add(&s, 0, 1, 0, 1, 3e6)->device, "p3");
    sides_name(&sides_add(&s, 1, 2, 0, 1, 3e6)->device, "p4");
    assert_true(qs_tables_init(&t, "markdown"));
    s.in.tables = &t;
    json_t *doc = sides_compared(&s);
    assert_string_equal(text_at(doc, "tables"), t.out.data);
    golden_check("sides.md", &t.out);
    json_decref(doc);
    qs_tables_done(&t);
    s.in.tables = NULL;
    doc = sides_compared(&s);
    assert_null(at(doc, "tables"));
    json_decref(doc);
    sides_done(&s);
}

static void refused_and_strange_sides(void **state)
{
    (void)state;
    struct sides s;
    struct qs_tables t;
    sides_init(&s, NULL);
    sides_add_job(&s, 0, 1, 0, 6, 1e6);
    sides_add_job(&s, 1, 2, 0, 6, 1e6);
    for (size_t i = 0; i < 6; i++) {
        sides_name(&s.runs[1].at[i].env_json, "{\"agent\":\"1\",\"cgroup\":\"/b\",\"kernel\":\"6.2\"}");
        s.runs[1].at[i].env = 2;
    }
    assert_true(qs_tables_init(&t, "markdown"));
    s.in.tables = &t;
    json_decref(sides_compared(&s));
    assert_non_null(strstr(t.out.data, "\n**Refused**: the sides differ in more than the arm.\n"));
    assert_non_null(strstr(t.out.data, "\nWhat else differs:\n\n| key | base | candidate |\n"));
    assert_non_null(strstr(t.out.data, "\n| kernel | 6.1 | 6.2 |\n"));
    assert_null(strstr(t.out.data, "verdict"));
    qs_tables_done(&t);
    for (size_t i = 0; i < 6; i++)
        sides_name(&s.runs[1].at[i].device, "another");
    s.in.allow = "all";
    assert_true(qs_tables_init(&t, "asciidoc"));
    json_decref(sides_compared(&s));
    assert_non_null(strstr(t.out.data, "\n*Nothing was compared*: the sides have nothing in common.\n"));
    assert_non_null(strstr(t.out.data, "\nOnly in the base:\n\n- "));
    assert_non_null(strstr(t.out.data, "\nOnly in the candidate:\n\n- "));
    qs_tables_done(&t);
    sides_done(&s);
}

/* The second arm's set has a name in job 1; in job 2 all is measured so. */
static void check_sets(const int64_t job[2], const uint32_t arm[2], const char *want)
{
    static const char *const jobs[2] = {
        "quiesce: 1\nbenchmarks: [{name: work, argv: [x]}]\ncondition_sets: {quiet: {affinity: 1}}\n"
        "arms: {a: {argv: [x]}, b: {argv: [x], conditions: quiet}}\n",
        "quiesce: 1\nbenchmarks: [{name: work, argv: [x]}]\nconditions: {affinity: 1}\n"
        "arms: {a: {argv: [y]}, b: {argv: [x]}}\n"};
    struct sides s;
    struct qs_tables t;
    sides_init(&s, NULL);
    for (size_t i = 0; i < 2; i++) {
        world_done(&s.jobs[i]);
        world_read(&s.jobs[i], jobs[i]);
        s.list[i].spec = s.jobs[i].spec;
        sides_add_job(&s, (int)i, job[i], arm[i], 8, 1e6);
    }
    assert_true(qs_tables_init(&t, "markdown"));
    s.in.tables = &t;
    json_t *doc = sides_compared(&s);
    assert_true(json_is_false(at(doc, "refused")));
    if (!strstr(t.out.data, want))
        fail_msg("%s is not in %s", want, t.out.data);
    json_decref(doc);
    qs_tables_done(&t);
    sides_done(&s);
}

/* Two arms of one job, and of two jobs; the name alone refuses nothing. */
static void sets_of_conditions_are_named(void **state)
{
    (void)state;
    check_sets((const int64_t[2]){1, 1}, (const uint32_t[2]){0, 1},
               "\n| conditions.set | default | quiet |\n");
    check_sets((const int64_t[2]){1, 2}, (const uint32_t[2]){1, 1},
               "\nWhat else differs:\n\n| key | base | candidate |\n|:---|:---|:---|\n"
               "| conditions.set | quiet | default |\n");
}

static void files_in(const char *const texts[2], struct qs_tables *t, bool views)
{
    struct qs_analysis_opts opts = qs_analysis_opts_default();
    struct qs_import imports[2];
    struct qs_analysis_file files[2];
    struct qs_problems problems;
    QS_BUF(out);
    static const char *const names[2] = {"old|1.csv", "new.csv"};
    qs_problems_init(&problems);
    for (int i = 0; i < 2; i++) {
        assert_true(
            qs_import_read(names[i], texts[i], strlen(texts[i]), QS_FORMAT_AUTO, &imports[i], &problems));
        files[i] = (struct qs_analysis_file){
            .name = names[i], .import = &imports[i], .tally = {.used = {5}, .dropped = {1}}};
    }
    opts.tables = t;
    opts.per = QS_PER_ITERATION;
    opts.views.count = views;
    opts.views.at[0].kind = QS_VIEWS_FENCED;
    assert_int_equal(qs_analysis_compare(files, 2, &opts, &out), QS_OK);
    json_t *doc = page_read(&out);
    assert_string_equal(text_at(doc, "tables"), t->out.data);
    json_decref(doc);
    for (int i = 0; i < 2; i++)
        qs_import_done(&imports[i]);
    qs_problems_done(&problems);
}

static void two_files_as_tables(void **state)
{
    (void)state;
    static const char *const texts[2] = {"a_ms,b_ms,x\n1,5,1\n2,5,2\n3,5,3\n1,5,4\n2,5,5\n3,5,6\n",
                                         "a_ms,b_ms,y\n4,5,1\n6,5,2\n8,5,3\n4,5,4\n6,5,5\n8,5,6\n"},
                             *const apart[2] = {"x\n1\n2\n3\n", "y\n1\n2\n3\n"};
    struct qs_tables t;
    assert_true(qs_tables_init(&t, "markdown"));
    files_in(texts, &t, true);
    golden_check("files.md", &t.out);
    qs_tables_done(&t);
    assert_true(qs_tables_init(&t, "orgmode"));
    files_in(apart, &t, false);
    assert_string_equal(t.out.data,
                        "** new.csv with old\\vert{}1.csv\n\n*Nothing was compared*: the sides have nothing "
                        "in common.\n\nOnly in the base:\n\n- x\n\nOnly in the candidate:\n\n- y\n");
    qs_tables_done(&t);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_sign_means_itself),      cmocka_unit_test(org_reads_no_markup),
        cmocka_unit_test(a_verdict_is_a_row),           cmocka_unit_test(superiority_is_of_what_counts),
        cmocka_unit_test(two_sides_as_tables),          cmocka_unit_test(refused_and_strange_sides),
        cmocka_unit_test(sets_of_conditions_are_named), cmocka_unit_test(two_files_as_tables)};
    golden_dir = argc > 1 ? argv[1] : golden_dir;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
