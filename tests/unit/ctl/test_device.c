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
static const struct {
    const char *document, *page;
} unknown[] = {
    {"{\"name\":\"a\",\"state\":\"down\",\"link\":\"exec\",\"why\":\"no "
     "route\",\"fingerprint\":\"6.1 Board\",\"board\":null,\"control\":"
     "null}",
     "device a: down\n  why        no route\n  system     6.1 Board\n  link       exec\n\nIts "
     "frequencies and sensors have not been looked at yet: the first job that runs\non it does "
     "that.\n\nNothing is changed on it right now, and no session has changed anything.\n"},
    {"{\"name\":\"a\",\"state\":\"ready\",\"simulated\":true,\"board\":{}}",
     "device a: ready, simulated\n\nWhether it does what is written to it is not known.\n\nHow it warms "
     "up and cools down is not known.\n\nNothing is changed on it right now, and no session has changed "
     "anything.\n\nWhat to do\n- Find out what stays as it is written: quiesce devices probe a (the "
     "first job\n  that changes something does it, too, unless the farm says `probe: never`)\n- Find out "
     "how it warms up and cools down, for forecasts of gates and\n  `frequency: sustained`: quiesce "
     "characterize a\n"},
    {"{\"name\":\"a\",\"state\":\"ready\",\"board\":{\"cpus\":\"0-3\",\"online\":\"0-3\",\"clusters\":[{"
     "\"name\":\"all\",\"cpus\":\"0-3\",\"max_khz\":1000000}],\"domains\":[{\"name\":\"p\",\"cpus\":\"0-"
     "3\","
     "\"steps_khz\":[999000,1000000],\"hw_min_khz\":0,\"hw_max_khz\":0,\"hold\":\"ok\"}]}}",
     "device a: ready\n  processors 0-3, up to 1.00 GHz\n  rights     its agent can pin 1 of 1 "
     "clocks\n\nfrequency of  CPUs  range                steps  governor  pin\np             0-3   999 "
     "MHz to 1.00 GHz      2  -         yes\n\nWhether it does what is written to it is not "
     "known.\n\nHow it warms up and cools down is not known.\n\nNothing is changed on it right now, and "
     "no session has changed anything.\n\nWhat to do\n- Find out what stays as it is written: quiesce "
     "devices probe a (the first job\n  that changes something does it, too, unless the farm says "
     "`probe: never`)\n- Find out how it warms up and cools down, for forecasts of gates and\n  "
     "`frequency: sustained`: quiesce characterize a\n"},
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
     "device a: ready\n\nWhether it does what is written to it is not known.\n\nHow it warms up and "
     "cools down; job 3 found it\n  big, t: cools down with a time constant of 15.0 s (9.50 s to 1 min 5 "
     "s)\n  towards 25.0 °C (24.0 to 26.0)\n    70.0 █▅▁ 30.0 °C in 9.00 s\n  by its last 5 waits at "
     "gates, up to 2026-11-18, t cools down with a time\n  constant of 20.0 s (19.0 s to 21.0 s) towards "
     "27.0 °C (26.0 to 28.0)\n- how t cools down, as it was measured, no longer holds\n- x cannot be "
     "relied on: it stayed\n\nNothing is changed on it right now, and no session has changed "
     "anything.\n\nWhat to do\n- Reject in a profile what is no temperature, or declare its unit "
     "(`quiesce\n  devices add a` has the rows): x\n- Find out what stays as it is written: quiesce "
     "devices probe a (the first job\n  that changes something does it, too, unless the farm says "
     "`probe: never`)\n- Find out anew how it cools down: quiesce characterize --again a\n"}};

static void what_is_not_known_is_said(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++) {
        const struct qs_layout layout = {.face = {.width = 80, .utf8 = true}};
        QS_BUF(out);
        json_t *doc = json_loads(unknown[i].document, 0, NULL);
        assert_non_null(doc);
        qs_layout_device(&layout, doc, &out);
        assert_string_equal(out.data, unknown[i].page);
        json_decref(doc);
    }
}

#define LATELY                                                                                               \
    "{\"name\":\"a\",\"state\":\"ready\",\"fingerprint\":\"x\",\"board\":{\"domains\":[{\"name\":\"p\","     \
    "\"cpus\":"                                                                                              \
    "\"0\",\"steps_khz\":[1000000,2000000],\"hold\":\"ok\"}],\"sensors\":[{\"name\":\"t\",\"role\":\"cpu\"," \
    "\"unit\":"                                                                                              \
    "\"mC\",\"value\":1000,\"status\":\"ok\"},{\"name\":\"u\",\"role\":\"skin\",\"unit\":\"mC\",\"value\":"  \
    "2000,"                                                                                                  \
    "\"status\":\"ok\"}]},\"recent\":{\"from_wall_ns\":1000000000000,\"newest_wall_ns\":1600000000000,"      \
    "\"sensors\":[{\"sensor\":\"freq:p_khz\",\"points\":[[0,1000000],[600000,2000000]]},{\"sensor\":\"t\","  \
    "\"points\":[[300000,30000],[310000,50000],[599000,70000]]}]}"

static void page_says(const json_t *doc, struct qs_layout layout, const char *part)
{
    QS_BUF(out);
    qs_layout_device(&layout, doc, &out);
    if (strstr(out.data, part) == NULL)
        fail_msg("no\n%s\nin\n%s", part, out.data);
}

/* Readings in their places between the oldest and the newest of all; nothing where there are none. */
static void what_sensors_said_lately(void **state)
{
    json_t *then = json_loads(LATELY "}", 0, NULL);
    json_t *now = json_loads(LATELY ",\"now\":{\"readings\":[{\"sensor\":\"t\",\"value\":31500},"
                                    "{\"sensor\":\"u\",\"status\":\"unreadable\"}]}}",
                             0, NULL);
    struct qs_layout layout = {.face = {.width = 80, .utf8 = true}, .now_wall_ns = 1660000000000};
    (void)state;
    assert_true(then != NULL && now != NULL);
    page_says(then, layout,
              "\nfrequency of  CPUs  range                 pin      then  last 10 min\n"
              "p             0     1.00 GHz to 2.00 GHz  yes  2.00 GHz  ▁                  █\n");
    page_says(then, layout,
              "\nsensor  near     then  last 10 min\n"
              "t       cpu   70.0 °C            ▃        █\n" /* 30 and 50 share a sign */
              "u       skin   2.0 °C\n"
              "then: its last window, 1970-01-01T00:26:40.000Z, 1 min 0 s ago\n");
    page_says(now, layout,
              "\nsensor  near      now  last 10 min\n"
              "t       cpu   31.5 °C            ▃        █\n"
              "u       skin        -\n\n");
    layout.now_wall_ns = 1600000000000 + 7200 * INT64_C(1000000000);
    layout.face.utf8 = false;
    page_says(then, layout,
              "\nsensor  near    then  10 min, until 2 h 0 min ago\n"
              "t       cpu   70.0 C            -        @\n");
    json_decref(then);
    json_decref(now);
}

/* Each thing once, with what it is for: by which right, what a profile would say, what was not found. */
static void what_to_do(void **state)
{
    static const struct {
        const char *document, *list; /* of the same thing, and no more */
    } rows[] = {
        {"\"facts\":{\"uid\":\"1000\",\"os\":\"Linux\"},\"board\":{\"domains\":[{\"name\":\"p\",\"hold\":"
         "\"denied\"},{"
         "\"name\":\"q\",\"hold\":\"denied\"}],\"switches\":[{\"writable\":false},{\"writable\":true}],"
         "\"sensors\":[{"
         "\"name\":\"t\",\"status\":\"unreadable\",\"why\":\"it cannot be read: Permission denied\"}]}",
         "- Run its agent as root (start it as root; or let a udev rule give its files to a group that the "
         "agent's user "
         "is in: RUN+=\"/bin/chgrp -R GROUP /sys%p\", and chmod g+w), to set p, q, 1 switch, to read t\n"},
        {"\"facts\":{\"uid\":\"2000\",\"os\":\"Android\"},\"board\":{\"domains\":[{\"name\":\"p\",\"hold\":"
         "\"denied\"}]}",
         "- Run its agent as root (`adb root` before `adb shell`, or `su` on a phone that has it), to set "
         "p\n"},
        {"\"facts\":{\"uid\":\"0\"},\"board\":{\"domains\":[{\"name\":\"p\",\"hold\":\"denied\"}]}",
         "- Its agent is root, and yet some files are closed to it, by their mode or by SELinux: p\n"},
        {"\"board\":{\"domains\":[{\"name\":\"p\",\"hold\":\"no-file\",\"why\":\"it has none\"}]}",
         "- Say in a profile how p is held (`quiesce devices add a` writes one to begin with): it has "
         "none\n"},
        {"\"board\":{\"sensors\":[{\"name\":\"t\",\"status\":\"zero\"},{\"name\":\"u\",\"status\":\"not-"
         "temperature\"},{"
         "\"name\":\"v\",\"status\":\"ok\"}]}",
         "- Reject in a profile what is no temperature, or declare its unit (`quiesce devices add a` has the "
         "rows): t\n"},
        {"\"board\":{},\"knobs\":{\"fingerprint\":\"x\",\"rows\":[{\"name\":\"p\",\"sticks\":\"ignored\"},{"
         "\"name\":\"q\","
         "\"sticks\":\"yes\",\"effect\":\"no\"},{\"name\":\"r\",\"sticks\":\"late\",\"effect\":\"yes\"},{"
         "\"name\":\"s\","
         "\"sticks\":\"untried\"}]}",
         "- Leave these out of `conditions`, or stop the service that sets them again (on a phone the "
         "vendor's thermal or "
         "performance service), and probe again: p, q\n"},
        {"\"board\":{\"domains\":[{\"name\":\"p\",\"hold\":\"avoided\"}]}", ""}};
    static const char found[] =
        "\"fingerprint\":\"x\",\"models\":[{\"kind\":\"cools\"}],\"knobs\":{\"fingerprint\":\"x\"},";
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct qs_layout layout = {.face = {.width = 400, .utf8 = true}};
        QS_BUF(out);
        char *text = qs_asprintf("{%s\"name\":\"a\",%s}", found, rows[i].document);
        char *want = qs_asprintf("%s%s", rows[i].list[0] != '\0' ? "\nWhat to do\n" : "", rows[i].list);
        json_t *device = json_loads(text, 0, NULL);
        assert_non_null(device);
        qs_layout_todo(&layout, device, &out);
        assert_string_equal(out.len > 0 ? out.data : "", want);
        json_decref(device);
        free(text);
        free(want);
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
        "- that was another system (old)\n"
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
    {false, SET("a/f", "set") "," BACK("a/f", "set"),
     "Nothing is changed on it right now. Job 7 changed 1 file, and it was put back\n", "put back\n"},
    {false, SET("a/f", "set") "," SET("a/g", "set") "," BACK("a/g", "same") "," BACK("a/f", "set"),
     "Nothing is changed on it right now. Job 7 changed 2 files, all were put back\n",
     "  a/g   0    1       put back\n"},
    {true, SET("a/f", "set"), "Changed right now: job 7 has changed 1 file and will put it back at its end\n",
     "stands\n"},
    {false, SET("a/f", "set"), "Changed right now: job 7 changed 1 file, 1 was not put back\n",
     "not seen put back\n- /sys/x/a/f was not seen put back\n\nWhat to do\n- Write 0 into /sys/x/a/f, or "
     "restart the device\n"},
    {false, SET("a/f", "slipped") "," SET("a/g", "timeout"),
     "Changed right now: job 7 changed 2 files, 2 were not put back\n",
     "- /sys/x/a/g did not take 1: its driver did not answer\n"},
    {false, SET("a/f", "set") "," BACK("a/f", "refused"),
     "Changed right now: job 7 changed 1 file, 1 was not put back\n",
     "NOT put back\n- /sys/x/a/f was not put back: it cannot be written (Input/output error)\n\nWhat to do\n"
     "- Write 0 into /sys/x/a/f, or restart the device\n"},
    {false, SET("a/f", "set") "," BACK("a/f", "set") "," SET("a/f", "set"),
     "Changed right now: job 7 changed 1 file, 1 was not put back\n", "not seen put back\n"},
    {false, SET("a/f", "set") "," SET("a/f", "same"),
     "Changed right now: job 7 changed 1 file, 1 was not put back\n", "not seen put back\n"},
    {false, SET("a/f", "refused") "," SET("a/g", "same"),
     "Nothing is changed on it right now. Job 7 changed 0 files\n",
     "left as it was\n  a/g   0    1       was so already\n- /sys/x/a/f did not take 1: it cannot be "
     "written\n"},
    {false, BACK("a/f", "slipped"), "Changed right now: job 7 changed 1 file, 1 was not put back\n",
     "- /sys/x/a/f was not put back: it says 2\n\nWhat to do\n- Write 0 into /sys/x/a/f, or restart the "
     "device\n"},
};

static void what_was_not_put_back_is_said_with_what_to_do(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof sessions / sizeof *sessions; i++) {
        const struct qs_layout layout = {.face = {.width = 100, .utf8 = true}};
        QS_BUF(out);
        char *text = qs_asprintf("{\"control\":{\"job\":7,\"ended_wall_ns\":%s,\"changes\":[%s]}}",
                                 sessions[i].runs ? "null" : "9", sessions[i].changes);
        json_t *device = json_loads(text, 0, NULL);
        assert_non_null(device);
        qs_layout_control(&layout, device, &out);
        qs_layout_todo(&layout, device, &out);
        if (strncmp(out.data, sessions[i].first, strlen(sessions[i].first)) != 0 ||
            strstr(out.data, sessions[i].more) == NULL)
            fail_msg("%zu: %s", i, out.data);
        assert_true(!sessions[i].runs || strstr(out.data, "What to do") == NULL);
        json_decref(device);
        free(text);
    }
}

int main(int argc, char **argv)
{
    if (argc != 3)
        return 2;
    folder = argv[1];
    boards = argv[2];
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_page_at_each_width),
                                       cmocka_unit_test(what_is_not_known_is_said),
                                       cmocka_unit_test(what_sensors_said_lately),
                                       cmocka_unit_test(what_to_do),
                                       cmocka_unit_test(what_was_tried_is_told),
                                       cmocka_unit_test(boards_as_the_daemon_writes_them),
                                       cmocka_unit_test(what_was_not_put_back_is_said_with_what_to_do)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
