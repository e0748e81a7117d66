/* Pages for people, at the widths that they have: what is cut, what is said once, what is advised. */
#include "cm.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "ctl/commands/command.h"
#include "ctl/layout/layout.h"

typedef void lay_out_fn(const struct qs_layout *layout, const json_t *doc, struct qs_buf *out);

static char *page_of(lay_out_fn *lay_out, const char *document, size_t width, bool told)
{
    const struct qs_layout layout = {.face = {.width = width, .utf8 = true}, .told = told};
    struct qs_buf out;
    json_t *doc = json_loads(document, 0, NULL);
    assert_non_null(doc);
    qs_buf_init(&out);
    lay_out(&layout, doc, &out);
    json_decref(doc);
    return qs_buf_take(&out);
}

static void check_width(const char *page, size_t most)
{
    for (const char *s = page; *s != '\0';) {
        size_t n = strcspn(s, "\n");
        char *line = qs_strndup(s, n);
        if (qs_face_cells(line) > most)
            fail_msg("wider than %zu: %s", most, line);
        free(line);
        s += n + (s[n] == '\n');
    }
}

static size_t count(const char *page, const char *part)
{
    size_t n = 0;
    for (const char *s = page; (s = strstr(s, part)) != NULL; s++)
        n++;
    return n;
}

#define LONG "a-very-long-name-of-a-job-that-takes-more-than-half-of-a-usual-screen-and-then-some"
#define JOBS                                                                                                 \
    "{\"jobs\":[{\"id\":7,\"name\":\"" LONG "\",\"owner\":\"root\",\"state\":\"failed\",\"reason\":\"" LONG  \
    "\",\"submitted_wall_ns\":1795363303144541281,\"runs\":4,\"runs_tainted\":4,\"iterations\":29}]}"

/* An ended job with this verdict (JSON) and name. */
static char *jobs_page(const char *name, const char *verdict, size_t width)
{
    char document[700];
    snprintf(document, sizeof document,
             "{\"jobs\":[{\"id\":8,\"name\":\"%s\",\"owner\":\"root\",\"state\":\"done\",\"reason\":"
             "\"interval\",\"verdict\":%s,\"submitted_wall_ns\":1795363303144541281,\"runs\":4,"
             "\"runs_tainted\":4,\"iterations\":29}]}",
             name, verdict);
    return page_of(qs_layout_jobs, document, width, false);
}

static void a_job_shows_its_verdict_at_every_width(void **state)
{
    (void)state;
    static const char *const names[] = {"nightly", LONG};
    for (size_t width = 40; width <= 160; width += 20) {
        for (size_t i = 0; i < 2; i++) {
            char *page = jobs_page(names[i], "{\"text\":\"b 3.1 % slower\"}", width);
            check_width(page, width);
            assert_non_null(strstr(page, width < 60 ? "result" : "verdict"));
            assert_non_null(strstr(page, "b 3.1 % slower"));
            free(page);
        }
    }
    char *page = jobs_page("nightly", "null", 160);
    assert_non_null(strstr(page, "done   nightly  -  "));
    free(page);
    page = jobs_page("nightly", "null", 40);
    assert_string_equal(page, "job  name     result\n  8  nightly  done: interval\n");
    free(page);
}

static void a_long_name_is_cut_before_other_columns_go(void **state)
{
    (void)state;
    static const struct {
        size_t width;
        const char *title[6];
    } screens[] = {{40, {"job", "name", "result"}},
                   {60, {"job", "state", "name", "reason"}},
                   {80, {"job", "state", "name", "submitted", "reason"}},
                   {120, {"name", "runs", "tainted", "iterations", "submitted", "owner"}}};
    for (size_t i = 0; i < 4; i++) {
        char *page = page_of(qs_layout_jobs, JOBS, screens[i].width, false);
        check_width(page, screens[i].width);
        for (size_t k = 0; k < 6 && screens[i].title[k] != NULL; k++)
            if (strstr(page, screens[i].title[k]) == NULL)
                fail_msg("no %s at %zu: %s", screens[i].title[k], screens[i].width, page);
        assert_non_null(strstr(page, "a-ver"));
        free(page);
    }
}

#define NAMED                                                                                                \
    "\"runs\":12,\"jobs\":[3,4,5,9,12],\"devices\":[\"pixel6\",\"bench\"],\"benchmarks\":[\"" LONG "\"]"
static const char named[] = "{\"builds\":[{\"build\":\"v1.5\",\"first_night\":\"2026-11-20\",\"last_night\":"
                            "\"2026-11-21\"," NAMED "}],\"nights\":[{\"night\":\"2026-11-21\",\"builds\":["
                            "\"v1.4\",\"v1.5\"]," NAMED "}]}";

static void what_compare_can_name_is_there_at_every_width(void **state)
{
    (void)state;
    for (size_t width = 40; width <= 160; width += 20) {
        char *page = page_of(qs_layout_builds, named, width, false);
        check_width(page, width);
        assert_non_null(strstr(page, "\nv1.5 "));
        assert_non_null(strstr(page, "\n2026-11-21  v1.4, v1.5"));
        free(page);
    }
    char *page = page_of(qs_layout_builds, named, 120, false);
    assert_non_null(
        strstr(page, "v1.5   2026-11-20   2026-11-21    12  3 to 12 (5)  pixel6, bench  a-very-long"));
    free(page);
    page = page_of(qs_layout_builds, "{\"builds\":[],\"nights\":[]}", 80, false);
    assert_string_equal(page, "Nothing has been measured yet. To begin: quiesce run -- COMMAND\n");
    free(page);
}

static void why_a_device_is_down_is_there_at_every_width(void **state)
{
    (void)state;
    static const char document[] =
        "{\"devices\":[{\"name\":\"bench1\",\"link\":\"exec\",\"state\":\"down\",\"agent\":\"quiesce-agent "
        "0.1.0 "
        "(linux, x86_64, static)\",\"why\":\"ssh: connect to host bench1 port 22: No route to host\"}]}";
    for (size_t width = 40; width <= 120; width += 40) {
        char *page = page_of(qs_layout_devices, document, width, false);
        check_width(page, width);
        assert_non_null(strstr(page, "ssh: conn"));
        free(page);
    }
}

#define ARM(name, n)                                                                                         \
    "{\"arm\":0,\"name\":\"" name "\",\"iterations\":9,\"warnings\":[{\"code\":\"outliers\","                \
    "\"text\":\"" n " of 9 iterations lie beyond 3 IQR\"}]}"
#define TAINT(name)                                                                                          \
    "{\"arm\":\"" name                                                                                       \
    "\",\"code\":\"gate:cpu.busy_ratio_ppm\",\"windows\":3,\"example\":\"block 0, window 0: "                \
    "500000 (bound 100000)\",\"busiest\":\"cc1\"}"

/* In the list the state of the job that waits, and once below it what for; beside all devices; of one job. */
static void what_waits_for_the_disk_says_so(void **state)
{
    (void)state;
    static const char waits[] = "waiting for the disk: it is full";
    static const struct {
        lay_out_fn *lay_out;
        const char *document, *line;
    } pages[] = {
        {qs_layout_jobs,
         "{\"jobs\":[{\"id\":8,\"name\":\"b\",\"state\":\"queued\",\"why\":null},{\"id\":7,\"name\":\"a\","
         "\"state\":\"running\",\"why\":\"waiting for the disk: it is full\"}]}",
         "\nwaiting for the disk: it is full\n"},
        {qs_layout_devices,
         "{\"devices\":[{\"name\":\"local\",\"state\":\"ready\",\"link\":\"exec\"}],"
         "\"disk\":\"waiting for the disk: it is full\"}",
         "\nwaiting for the disk: it is full\n"},
        {qs_layout_job,
         "{\"id\":7,\"name\":\"a\",\"state\":\"running\",\"why\":\"waiting for the disk: it is full\"}",
         "waits for"}};
    for (size_t i = 0; i < sizeof pages / sizeof *pages; i++) {
        char *page = page_of(pages[i].lay_out, pages[i].document, 80, false);
        if (count(page, waits) != 1 || strstr(page, pages[i].line) == NULL)
            fail_msg("%s", page);
        if (pages[i].lay_out == qs_layout_jobs) {
            assert_non_null(strstr(page, "\n  8  queued "));
            assert_non_null(strstr(page, "\n  7  waiting "));
            assert_null(strstr(page, "running"));
        }
        free(page);
    }
}

static void what_arms_have_in_common_is_said_once(void **state)
{
    (void)state;
    char *page = page_of(
        qs_layout_compare,
        "{\"job\":1,\"state\":\"done\",\"results\":[{\"arms\":[" ARM("a", "2") "," ARM("b", "2") "," ARM(
            "c",
            "2") "," ARM("d",
                         "1") "]}],\"taints\":[" TAINT("a") "," TAINT("b") "," TAINT("c") ","
                                                                                          "" TAINT("d") "]}",
        120, false);
    assert_int_equal(count(page, "windows began"), 1);
    assert_non_null(
        strstr(page, "- a, b, c, d: 12 windows began although the processor was busy (first: block 0, "));
    assert_int_equal(count(page, "beyond 3 IQR"), 1);
    assert_non_null(strstr(page, "- a, b, c, d: 2, 2, 2, 1 of 9 iterations lie beyond 3 IQR"));
    free(page);
}

static void why_a_job_failed_is_said_once(void **state)
{
    (void)state;
    static const char nothing[] =
        "{\"job\":1,\"state\":\"failed\",\"stopped\":\"a exited with code 3\",\"results\":[]}";
    static const char some[] =
        "{\"job\":1,\"state\":\"failed\",\"stopped\":\"a exited with code 3\",\"results\":[{"
        "\"arms\":[" ARM("a", "2") "]}]}";
    char *page = page_of(qs_layout_compare, nothing, 80, true);
    assert_string_equal(page, "");
    free(page);
    page = page_of(qs_layout_compare, nothing, 80, false);
    assert_non_null(strstr(page, "exited with code 3"));
    free(page);
    page = page_of(qs_layout_compare, some, 80, true);
    assert_null(strstr(page, "exited with code 3"));
    assert_non_null(strstr(page, "The job failed. What was measured before is kept."));
    free(page);
}

static char *inconclusive(const char *needed)
{
    char document[600];
    snprintf(
        document, sizeof document,
        "{\"job\":1,\"state\":\"done\",\"results\":[{\"arms\":[" ARM("a", "1") "," ARM(
            "b", "1") "],\"blocks\":9,\"comparisons\":[{\"base_arm\":\"a\",\"candidate_arm\":\"b\","
                      "\"metric\":\"duration_ns\",\"units_of\":\"blocks\",\"base\":{\"units\":9},\"verdict\":"
                      "\"inconclusive\","
                      "\"margin_ratio\":0.02,\"needed\":%s,\"mde_ratio\":0.3}]}]}",
        needed);
    return page_of(qs_layout_compare, document, 200, false);
}

static void no_more_runs_are_advised_than_a_job_may_have(void **state)
{
    (void)state;
    char *page = inconclusive("10000");
    assert_non_null(strstr(page, "about 10000 blocks: --runs 10000, or `blocks: 10000` in a job file"));
    free(page);
    page = inconclusive("20304");
    assert_null(strstr(page, "--runs"));
    assert_non_null(strstr(page, "about 20304 blocks, more than a job may have (10000)"));
    free(page);
}

/* A word alone may be wider; nothing else. */
static void every_help_fits_forty_columns(void **state)
{
    (void)state;
    const struct qs_face face = {.width = 40, .utf8 = true};
    for (size_t i = 0; qs_commands[i] != NULL; i++) {
        struct qs_buf out;
        qs_buf_init(&out);
        qs_help_command(&face, qs_commands[i], &out);
        qs_help_overview(&face, &out);
        check_width(out.data, 40);
        qs_buf_done(&out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_job_shows_its_verdict_at_every_width),
                                       cmocka_unit_test(a_long_name_is_cut_before_other_columns_go),
                                       cmocka_unit_test(what_compare_can_name_is_there_at_every_width),
                                       cmocka_unit_test(why_a_device_is_down_is_there_at_every_width),
                                       cmocka_unit_test(what_waits_for_the_disk_says_so),
                                       cmocka_unit_test(what_arms_have_in_common_is_said_once),
                                       cmocka_unit_test(why_a_job_failed_is_said_once),
                                       cmocka_unit_test(no_more_runs_are_advised_than_a_job_may_have),
                                       cmocka_unit_test(every_help_fits_forty_columns)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
