/* The page of a device at the widths that it has, and what is said of what a session changed. Argument 1: the
 * folder of goldens (QS_GOLDEN_WRITE writes its pages anew); 2: that of boards. */
#include "cm.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "pages.h"

static const char *folder, *boards;

static json_t *read_document(void)
{
    char *path = qs_asprintf("%s/device.json", folder);
    json_t *doc = json_load_file(path, 0, NULL);
    assert_non_null(doc);
    free(path);
    return doc;
}

static void fits(const char *page, size_t most)
{
    struct lines l = split_lines(qs_strdup(page));
    for (size_t i = 0; i < l.count; i++)
        if (qs_face_cells(l.at[i]) > most)
            fail_msg("wider than %zu: %s", most, l.at[i]);
    lines_done(&l);
}

static void a_page_at_each_width(void **state)
{
    json_t *doc = read_document();
    (void)state;
    for (size_t width = 40; width <= 120; width += 40) {
        for (int utf8 = 0; utf8 <= 1; utf8++) {
            const struct qs_layout layout = {.face = {.width = width, .utf8 = utf8 == 1}};
            char name[64];
            QS_BUF(out);
            snprintf(name, sizeof name, "device.%zu.%s.txt", width, utf8 ? "utf8" : "ascii");
            qs_layout_device(&layout, doc, &out);
            fits(out.data, width);
            check_golden(folder, name, &out);
        }
    }
    json_decref(doc);
}

/* A device that was never looked at, of any kind of answer. */
static void what_is_not_known_is_said(void **state)
{
    static const struct {
        const char *document, *page;
    } rows[] = {
        {"{\"name\":\"a\",\"state\":\"down\",\"link\":\"exec\",\"why\":\"no "
         "route\",\"fingerprint\":\"6.1 Board\",\"board\":null,\"control\":"
         "null}",
         "device a: down\n  why        no route\n  system     6.1 Board\n  link       exec\n\nIts "
         "frequencies and sensors have not "
         "been looked at yet: the first job that runs\non it does that.\n\nNo session has changed anything "
         "on it.\n"},
        {"{\"name\":\"a\",\"state\":\"ready\",\"simulated\":true,\"board\":{}}",
         "device a: ready, simulated\n\nWhether it does what is written to it is not known: quiesce devices "
         "probe a\n\nHow it warms up and cools down is not known: quiesce characterize "
         "a\n\nNo session has changed anything on it.\n"},
        {"{\"name\":\"a\",\"state\":\"ready\",\"board\":{\"cpus\":\"0-3\",\"online\":\"0-3\",\"clusters\":[{"
         "\"name\":\"all\",\"cpus\":\"0-3\",\"max_khz\":1000000}],\"domains\":[{\"name\":\"p\",\"cpus\":\"0-"
         "3\","
         "\"steps_khz\":[999000,1000000],\"hw_min_khz\":0,\"hw_max_khz\":0,\"hold\":\"ok\"}]}}",
         "device a: ready\n  processors 0-3, up to 1.00 GHz\n\nfrequency of  CPUs  range                "
         "steps  governor "
         " pin\np             0-3   999 MHz to 1.00 GHz      2  -         yes\n\nWhether it does what is "
         "written to it is not known: quiesce devices probe a\n\nHow it warms up and cools "
         "down is not known: quiesce characterize a\n\nNo session has changed "
         "anything on it.\n"},
        {"{\"name\":\"a\",\"state\":\"ready\",\"board\":{},\"models\":[{\"kind\":\"sensor\",\"domain\":\"\","
         "\"sensor\":\"x\",\"says\":\"still\",\"why\":"
         "\"it "
         "stayed\",\"job\":3},{\"kind\":\"cools\",\"domain\":\"big\",\"sensor\":\"t\",\"says\":\"fits\","
         "\"tau_s\":15.04,\"tau_lo_s\":"
         "9.5,\"tau_hi_s\":65,\"end_mc\":25040,\"end_lo_mc\":24000,\"end_hi_mc\":26000,\"low_mc\":30000,"
         "\"high_mc\":70000,\"span_s\":9,"
         "\"job\":3,\"trace\":[[0,70000],[3000,50000],[9000,30000]]}],"
         "\"refits\":[{\"sensor\":\"t\",\"waits\":5,\"newest_wall_ns\":1795000000000000000,"
         "\"says\":\"fits\",\"tau_s\":20,\"tau_lo_s\":19,\"tau_hi_s\":21,\"end_mc\":27000,"
         "\"end_lo_mc\":26000,\"end_hi_mc\":28000,\"characterized\":\"no longer holds\"},"
         "{\"sensor\":\"u\",\"waits\":2,\"says\":\"few\",\"characterized\":null}]}",
         "device a: ready\n\nWhether it does what is written to it is not known: quiesce devices probe "
         "a\n\nHow it warms up and cools down; job 3 found it\n  big, t: cools down with a time "
         "constant of 15.0 s "
         "(9.50 s to 1 min 5 s)\n  towards 25.0 °C (24.0 to 26.0)\n    70.0 █▅▁ 30.0 °C in 9.00 s\n"
         "  by its last 5 waits at gates, up to 2026-11-18, t cools down with a time\n  constant of 20.0 s "
         "(19.0 s to 21.0 s) towards 27.0 °C (26.0 to 28.0)\n- how t cools down, as it was measured, no "
         "longer "
         "holds: quiesce characterize\n  --again a\n- x "
         "cannot be "
         "relied on: it stayed\n\nNo session has changed anything on it.\n"}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct qs_layout layout = {.face = {.width = 80, .utf8 = true}};
        QS_BUF(out);
        json_t *doc = json_loads(rows[i].document, 0, NULL);
        assert_non_null(doc);
        qs_layout_device(&layout, doc, &out);
        assert_string_equal(out.data, rows[i].page);
        json_decref(doc);
    }
}

#define KNOB(name, sticks, effect, why)                                                                      \
    "{\"name\":\"" name "\",\"sticks\":\"" sticks "\",\"effect\":\"" effect "\",\"why\":" why "}"

/* Each that cannot be relied on by name, and how old that knowledge is. */
static void what_was_tried_is_told(void **state)
{
    static const char document[] =
        "{\"name\":\"a\",\"fingerprint\":\"new\",\"knobs\":{\"fingerprint\":"
        "\"old\",\"job\":4,"
        "\"found_wall_ns\":1000000000,\"rows\":["
        "{\"name\":\"p0\",\"sticks\":\"yes\",\"effect\":\"yes\",\"loop_ratio\":2."
        "5}," KNOB("p1", "yes", "yes", "null") "," KNOB("p2", "ignored", "unknown", "\"it says 0\"") "," KNOB(
            "p3", "yes", "no",
            "\"still 5\"") "," KNOB("p4", "late", "yes",
                                    "\"9 ms\"") "," KNOB("p5", "yes", "claimed",
                                                         "null") "," KNOB("s0",
                                                                          "untrie"
                                                                          "d",
                                                                          "unknow"
                                                                          "n",
                                                                          "\"hot"
                                                                          "\"") "," KNOB("s1", "untried",
                                                                                         "unknown",
                                                                                         "\"hot\"") "," KNOB("s2",
                                                                                                             "untried",
                                                                                                             "unknown",
                                                                                                             "\"cold\"") "]}}";
    static const char page[] =
        "\nOf what can be written, 2 of 6 can be relied on; job 4 tried it 2 h 0 min ago\n"
        "- that was another system (old): quiesce devices probe a\n"
        "  the clock follows: p0 (at its lowest a loop takes 2.50 times as long), p1\n"
        "- p2 is ignored: it says 0\n- p3 stays as it is written and has no effect: still 5\n"
        "- p4 is late: 9 ms\n- p5 stays as it is written and only claims to have an effect\n"
        "- s0 and 1 more were not tried: hot\n- s2 was not tried: cold\n";
    const struct qs_layout layout = {.face = {.width = 100, .utf8 = true}, .now_wall_ns = 8000000000000};
    json_t *doc = json_loads(document, 0, NULL);
    QS_BUF(out);
    (void)state;
    assert_non_null(doc);
    qs_layout_knobs(&layout, doc, &out);
    assert_string_equal(out.data, page);
    json_decref(doc);
}

static void is_there(const char *page, const char *name, const char *of)
{
    if (strstr(page, name) == NULL)
        fail_msg("%s lacks %s:\n%s", of, name, page);
}

/* The boards that the daemon makes of real devices, with all that they have. */
static void boards_as_the_daemon_writes_them(void **state)
{
    static const struct {
        const char *file, *line;
    } rows[] = {{"rpi4b", "\npolicy0       0-3   600 MHz to 1.50 GHz     10  ondemand  yes\n"},
                {"pixel6-oriole", "little 0-3 up to 1.80 GHz; big 4-5"},
                {"sony-xperia-z-unrooted", " is not used: "},
                {"huawei-p8lite2017", "gpufreq"},
                {"odroid-xu3", "10c20000.memory-controller"},
                {"rock5b-rk3588", "1.20 GHz to 2.40 GHz"}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char *path = qs_asprintf("%s/%s.json", boards, rows[i].file);
        json_t *board = json_load_file(path, 0, NULL), *one;
        assert_non_null(board);
        json_t *doc = json_pack("{s:s,s:s,s:o}", "name", "a", "state", "ready", "board", board);
        for (size_t width = 40; width <= 160; width += 40) {
            const struct qs_layout layout = {.face = {.width = width, .utf8 = true}};
            size_t k;
            QS_BUF(out);
            qs_layout_device(&layout, doc, &out);
            fits(out.data, width);
            if (width < 80)
                continue;
            is_there(out.data, rows[i].line, rows[i].file);
            json_array_foreach(json_object_get(board, "domains"), k, one)
                is_there(out.data, json_string_value(json_object_get(one, "name")), rows[i].file);
            json_array_foreach(json_object_get(board, "sensors"), k, one)
                is_there(out.data, json_string_value(json_object_get(one, "name")), rows[i].file);
        }
        json_decref(doc);
        free(path);
    }
}

#define SET(path, outcome)                                                                                   \
    "{\"kind\":\"set\",\"path\":\"x/" path                                                                   \
    "\",\"wanted\":\"1\",\"before\":\"0\",\"now\":\"1\",\"outcome\":\"" outcome "\"}"
#define BACK(path, outcome)                                                                                  \
    "{\"kind\":\"restore\",\"path\":\"x/" path "\",\"wanted\":\"0\",\"now\":\"2\",\"outcome\":\"" outcome    \
    "\",\"error\":"                                                                                          \
    "5}"

static const struct {
    bool runs;
    const char *changes, *first, *more; /* the first line, and another; NULL: there is one line and a table */
} sessions[] = {
    {false, SET("a/f", "set") "," BACK("a/f", "set"), "Job 7 changed 1 file, and it was put back\n",
     "put back\n"},
    {false, SET("a/f", "set") "," SET("a/g", "set") "," BACK("a/g", "same") "," BACK("a/f", "set"),
     "Job 7 changed 2 files, all were put back\n", "  a/g   0    1       put back\n"},
    {true, SET("a/f", "set"), "Job 7 has changed 1 file and will put it back at its end\n", "stands\n"},
    {false, SET("a/f", "set"), "Job 7 changed 1 file, 1 was not put back\n",
     "not seen put back\n- /sys/x/a/f was not seen put back. Write 0 into it, or restart the device\n"},
    {false, SET("a/f", "slipped") "," SET("a/g", "timeout"), "Job 7 changed 2 files, 2 were not put back\n",
     "- /sys/x/a/g did not take 1: its driver did not answer\n"},
    {false, SET("a/f", "set") "," BACK("a/f", "refused"), "Job 7 changed 1 file, 1 was not put back\n",
     "NOT put back\n- /sys/x/a/f was not put back: it cannot be written (Input/output error). Write 0 into "
     "it, or\n  restart the device\n"},
    {false, SET("a/f", "set") "," BACK("a/f", "set") "," SET("a/f", "set"),
     "Job 7 changed 1 file, 1 was not put back\n", "not seen put back\n"},
    {false, SET("a/f", "set") "," SET("a/f", "same"), "Job 7 changed 1 file, 1 was not put back\n",
     "not seen put back\n"},
    {false, SET("a/f", "refused") "," SET("a/g", "same"), "Job 7 changed 0 files\n",
     "left as it was\n  a/g   0    1       was so already\n- /sys/x/a/f did not take 1: it cannot be "
     "written\n"},
    {false, BACK("a/f", "slipped"), "Job 7 changed 1 file, 1 was not put back\n",
     "- /sys/x/a/f was not put back: it says 2. Write 0 into it, or restart the device\n"},
};

static void what_was_not_put_back_is_said_with_what_to_do(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof sessions / sizeof *sessions; i++) {
        const struct qs_layout layout = {.face = {.width = 100, .utf8 = true}};
        QS_BUF(out);
        char *text = qs_asprintf("{\"job\":7,\"ended_wall_ns\":%s,\"changes\":[%s]}",
                                 sessions[i].runs ? "null" : "9", sessions[i].changes);
        json_t *control = json_loads(text, 0, NULL);
        assert_non_null(control);
        qs_layout_control(&layout, control, &out);
        if (strncmp(out.data, sessions[i].first, strlen(sessions[i].first)) != 0 ||
            strstr(out.data, sessions[i].more) == NULL)
            fail_msg("%zu: %s", i, out.data);
        json_decref(control);
        free(text);
    }
}

int main(int argc, char **argv)
{
    if (argc != 3)
        return 2;
    folder = argv[1];
    boards = argv[2];
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_page_at_each_width), cmocka_unit_test(what_is_not_known_is_said),
        cmocka_unit_test(what_was_tried_is_told), cmocka_unit_test(boards_as_the_daemon_writes_them),
        cmocka_unit_test(what_was_not_put_back_is_said_with_what_to_do)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
