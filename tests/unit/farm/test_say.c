/* What people say of devices: holds, notes and tags, in force once they are on disk, and in the next life. */
#include "bed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "farm/declare.h"
#include "farm/say.h"

#define S INT64_C(1000000000)

static const char farm[] = "devices:\n"
                           "  d0: {link: sim, labels: {rack: '1', soc: one}}\n"
                           "  d1: {link: sim}\n";

static const char job[] = "quiesce: 1\nbenchmarks: [{name: x, argv: [x]}]\n"
                          "plan: {seed: 1, blocks: 1, window: {iterations: 1}}\n"
                          "conditions: {gate: none}\n"
                          "devices: {where: 'name == \"d0\"'}\n";

struct world {
    struct bed bed;
    struct qs_buf told;   /* events of devices and ends of jobs */
    struct qs_buf queued; /* the last job's first event */
    struct qs_err err;    /* of what was said last */
    bool answered;
};

static void on_event(const struct qs_farm_event *event, void *user)
{
    struct world *w = user;
    if (strncmp(event->kind, "device.", 7) == 0)
        qs_buf_fmt(&w->told, "%lld s %s %s %s\n", (long long)(event->wall_ns / S), event->kind, event->device,
                   event->body_json);
    else if (strcmp(event->kind, "job.queued") == 0) {
        qs_buf_clear(&w->queued);
        qs_buf_str(&w->queued, event->body_json);
    } else if (strcmp(event->kind, "job.state") == 0)
        qs_buf_fmt(&w->told, "job %lld %s\n", (long long)event->job, event->body_json);
}

static void stop(void *user)
{
    qs_loop_stop(((struct world *)user)->bed.loop);
}

/* Virtual time goes on for so long. */
static void pass(struct world *w, int64_t ns)
{
    qs_timer_start(w->bed.loop, ns, stop, w);
    qs_loop_run(w->bed.loop);
}

static void begin(struct world *w)
{
    *w = (struct world){.answered = false};
    qs_buf_init(&w->told);
    qs_buf_init(&w->queued);
    bed_init(&w->bed, farm);
    w->bed.events = (struct qs_farm_events){.on_event = on_event, .user = w};
    bed_begin(&w->bed, 0, 1);
    pass(w, S);
}

static void end(struct world *w)
{
    bed_end(&w->bed);
    bed_done(&w->bed);
    qs_buf_done(&w->told);
    qs_buf_done(&w->queued);
}

static void on_said(const struct qs_err *err, int64_t id, void *user)
{
    struct world *w = user;
    assert_int_equal(id, 0);
    assert_false(w->answered);
    w->answered = true;
    if (err)
        w->err = *err;
}

static void say_all(struct world *w, const struct qs_word *words, size_t count)
{
    struct qs_err err = QS_ERR_INIT;
    w->answered = false;
    w->err = QS_ERR_INIT;
    if (!qs_farm_say(w->bed.farm, words, count, on_said, w, &err))
        fail_msg("%s", err.text);
    pass(w, S / 10);
    assert_true(w->answered);
    assert_int_equal(w->err.code, QS_E_NONE);
}

static void say(struct world *w, enum qs_word_kind kind, const char *key, const char *value, int64_t until_ns)
{
    const struct qs_word word = {
        .device = "d0", .kind = kind, .key = key, .value = value, .by = "ann", .until_wall_ns = until_ns};
    say_all(w, &word, 1);
}

static void tells(struct world *w, const char *expected)
{
    assert_string_equal(w->told.len > 0 ? w->told.data : "", expected);
    qs_buf_clear(&w->told);
}

static void submit(struct world *w, const char *text, bool fits)
{
    const struct qs_submission sub = {.text = text, .text_bytes = strlen(text), .name = "j"};
    char *problem = NULL;
    assert_int_equal(bed_submit(&w->bed, &sub, NULL, on_said, w, &problem), fits);
    assert_int_equal(problem == NULL, fits);
    free(problem);
}

static void on_stored(const struct qs_err *err, int64_t id, void *user)
{
    (void)user;
    assert_null(err);
    assert_true(id > 0);
}

static void submits(struct world *w, const char *text)
{
    const struct qs_submission sub = {.text = text, .text_bytes = strlen(text), .name = "j"};
    char *problem = NULL;
    if (!bed_submit(&w->bed, &sub, NULL, on_stored, w, &problem))
        fail_msg("%s", problem ? problem : "refused");
    pass(w, S / 10);
}

static void waits(struct world *w, int64_t id, const char *expected)
{
    QS_BUF(text);
    struct qs_farm_why why = qs_farm_why(w->bed.farm, id, &text);
    assert_string_equal(text.len > 0 ? text.data : "", expected);
    assert_string_equal(why.code, "queue");
}

static void nothing_begins_on_a_held_device(void **state)
{
    struct world w;
    (void)state;
    begin(&w);
    say(&w, QS_WORD_HOLD, "", "its battery is changed", 0);
    tells(&w, "1 s device.hold d0 {\"by\":\"ann\",\"text\":\"its battery is changed\"}\n");
    submits(&w, job);
    assert_string_equal(
        w.queued.data,
        "{\"position\":0,\"why\":\"the device is held (d0, by ann: its battery is changed)\"}");
    pass(&w, 3600 * S);
    waits(&w, 1, "the device is held (d0, by ann: its battery is changed)");
    say(&w, QS_WORD_HOLD, "", "", 7200 * S);
    waits(&w, 1, "the device is held (d0, by ann until 1970-01-01T02:00:00Z)");
    qs_buf_clear(&w.told);
    say(&w, QS_WORD_HOLD, "", NULL, 0);
    assert_null(qs_farm_hold(w.bed.farm, "d0"));
    pass(&w, 60 * S);
    tells(
        &w,
        "3601 s device.release d0 {\"by\":\"ann\",\"text\":\"\"}\n"
        "job 1 {\"state\":\"running\",\"reason\":null}\njob 1 {\"state\":\"done\",\"reason\":\"blocks\"}\n");
    end(&w);
}

static void a_hold_ends_by_itself(void **state)
{
    struct world w;
    (void)state;
    begin(&w);
    say(&w, QS_WORD_HOLD, "", "lunch", 5000 * S);
    qs_buf_clear(&w.told);
    submits(&w, job);
    pass(&w, 4990 * S);
    tells(&w, "");
    pass(&w, 60 * S);
    tells(
        &w,
        "5000 s device.release d0 {\"by\":\"its end\",\"text\":\"lunch\"}\n"
        "job 1 {\"state\":\"running\",\"reason\":null}\njob 1 {\"state\":\"done\",\"reason\":\"blocks\"}\n");
    end(&w);
}

static void a_job_that_is_there_goes_on(void **state)
{
    struct world w;
    (void)state;
    begin(&w);
    submits(&w, "quiesce: 1\nbenchmarks: [{name: x, argv: [sim, \"60000000000\"]}]\n"
                "plan: {seed: 1, blocks: 1, window: {iterations: 1}}\nconditions: {gate: none}\n"
                "devices: {where: 'name == \"d0\"'}\n");
    tells(&w, "job 1 {\"state\":\"running\",\"reason\":null}\n");
    say(&w, QS_WORD_HOLD, "", "", 0);
    qs_buf_clear(&w.told);
    submits(&w, job);
    pass(&w, 3600 * S);
    tells(&w, "job 1 {\"state\":\"done\",\"reason\":\"blocks\"}\n");
    waits(&w, 2, "the device is held (d0, by ann)");
    end(&w);
}

static void words_of(struct world *w, const char *device, const char *expected)
{
    size_t count;
    const struct qs_word *words = qs_farm_words(w->bed.farm, device, &count);
    QS_BUF(out);
    for (size_t i = 0; i < count; i++)
        qs_buf_fmt(&out, "%s %s=%s by %s at %lld s; ", qs_word_kind_name(words[i].kind), words[i].key,
                   words[i].value, words[i].by, (long long)(words[i].at_wall_ns / S));
    assert_string_equal(out.len > 0 ? out.data : "", expected);
}

static void all_of_it_outlives_the_daemon(void **state)
{
    static const char all[] =
        "hold =away by ann at 1 s; note =cracked by ann at 1 s; tag rack=7 by ann at 1 s; ";
    struct world w;
    (void)state;
    begin(&w);
    say(&w, QS_WORD_TAG, "rack", "7", 0);
    say(&w, QS_WORD_NOTE, "", "cracked", 0);
    say(&w, QS_WORD_HOLD, "", "away", 100 * S);
    words_of(&w, "d0", all);
    words_of(&w, "d1", "");
    bed_end(&w.bed);
    bed_begin(&w.bed, 50 * S, 2);
    words_of(&w, "d0", all);
    submits(&w, job);
    pass(&w, 20 * S);
    waits(&w, 1, "the device is held (d0, by ann until 1970-01-01T00:01:40Z: away)");
    bed_end(&w.bed);
    qs_buf_clear(&w.told);
    bed_begin(&w.bed, 200 * S, 3); /* its end has passed meanwhile */
    pass(&w, 60 * S);
    tells(
        &w,
        "200 s device.release d0 {\"by\":\"its end\",\"text\":\"away\"}\n"
        "job 1 {\"state\":\"running\",\"reason\":null}\njob 1 {\"state\":\"done\",\"reason\":\"blocks\"}\n");
    say(&w, QS_WORD_NOTE, "", NULL, 0);
    words_of(&w, "d0", "tag rack=7 by ann at 1 s; ");
    end(&w);
}

/* It goes by the name: the device need not be there. */
static void a_device_that_comes_is_held_already(void **state)
{
    const struct qs_word hold = {
        .device = "board", .kind = QS_WORD_HOLD, .key = "", .value = "", .by = "ann"};
    struct qs_err err;
    struct world w;
    (void)state;
    begin(&w);
    for (int life = 0; life < 2; life++) {
        QS_BUF(name);
        if (life > 0) {
            words_of(&w, "board", "hold = by ann at 1 s; ");
            assert_null(qs_inventory_find(w.bed.farm->inventory, "board", NULL));
        }
        assert_true(qs_farm_declare(w.bed.farm, "ssh", "board", &name, &err));
        assert_int_equal(qs_inventory_find(w.bed.farm->inventory, "board", NULL)->queue.held, life > 0);
        if (life == 0) {
            say_all(&w, &hold, 1);
            assert_true(qs_inventory_find(w.bed.farm->inventory, "board", NULL)->queue.held);
        }
        bed_end(&w.bed);
        bed_begin(&w.bed, 50 * S, 2);
    }
    end(&w);
}

static void tags_are_labels_that_can_be_changed(void **state)
{
    static const char of_seven[] = "quiesce: 1\nbenchmarks: [{name: x, argv: [x]}]\n"
                                   "plan: {seed: 1, blocks: 1, window: {iterations: 1}}\n"
                                   "conditions: {gate: none}\ndevices: {where: 'label.rack == \"7\"'}\n";
    const struct qs_word both[] = {
        {.device = "d1", .kind = QS_WORD_TAG, .key = "rack", .value = "7", .by = "bob"},
        {.device = "d1", .kind = QS_WORD_TAG, .key = "rooted", .value = "true", .by = "bob"}};
    struct qs_err err;
    struct world w;
    (void)state;
    begin(&w);
    submit(&w, of_seven, false);
    say_all(&w, both, 2);
    tells(&w, "1 s device.tags d1 {\"by\":\"bob\",\"tags\":{\"rack\":\"7\",\"rooted\":\"true\"}}\n");
    struct qs_inventory_item *d0 = qs_inventory_find(w.bed.farm->inventory, "d0", NULL);
    struct qs_inventory_item *d1 = qs_inventory_find(w.bed.farm->inventory, "d1", NULL);
    assert_string_equal(qs_farm_device_fact("label.rack", d0), "1");
    assert_string_equal(qs_farm_device_fact("label.rack", d1), "7");
    say(&w, QS_WORD_TAG, "rack", "8", 0);
    assert_string_equal(qs_farm_device_fact("label.rack", d0), "8"); /* before the farm file's */
    assert_string_equal(qs_farm_device_fact("label.soc", d0), "one");
    say(&w, QS_WORD_TAG, "rack", NULL, 0);
    assert_string_equal(qs_farm_device_fact("label.rack", d0), "1");
    assert_true(qs_farm_say(
        w.bed.farm,
        &(struct qs_word){.device = "d1", .kind = QS_WORD_HOLD, .key = "", .value = "", .by = "bob"}, 1, NULL,
        NULL, &err));
    pass(&w, S);
    submits(&w, of_seven);
    waits(&w, 1, "the device is held (d1, by bob)");
    qs_buf_clear(&w.told);
    say(&w, QS_WORD_TAG, "rack", "7", 0); /* a waiting job finds what fits now */
    pass(&w, 60 * S);
    tells(
        &w,
        "2 s device.tags d0 {\"by\":\"ann\",\"tags\":{\"rack\":\"7\"}}\n"
        "job 1 {\"state\":\"running\",\"reason\":null}\njob 1 {\"state\":\"done\",\"reason\":\"blocks\"}\n");
    end(&w);
}

static void refused(struct world *w, const struct qs_word *words, size_t count, enum qs_errc code,
                    const char *text)
{
    struct qs_err err = QS_ERR_INIT;
    assert_false(qs_farm_say(w->bed.farm, words, count, on_said, w, &err));
    assert_int_equal(err.code, code);
    assert_string_equal(err.text, text);
}

static void what_cannot_be_said_is_refused(void **state)
{
    static char texts[2][QS_WORD_TEXT_MAX + 2];
    struct world w;
    (void)state;
    begin(&w);
    memset(texts[0], 'x', QS_WORD_TEXT_MAX + 1);
    memset(texts[1], 'k', QS_WORD_KEY_MAX + 1);
    const struct {
        struct qs_word word;
        enum qs_errc code;
        const char *text;
    } rows[] = {
        {{"d7", QS_WORD_NOTE, "", "x", "ann", 0, 0}, QS_E_NOT_FOUND, "this farm has no device `d7`"},
        {{"d0", QS_WORD_NOTE, "", texts[0], "ann", 0, 0},
         QS_E_USAGE,
         "the text has 501 bytes, more than 500"},
        {{"d0", QS_WORD_NOTE, "", "a\nb", "ann", 0, 0},
         QS_E_USAGE,
         "the text has a control character at byte 1: write one line"},
        {{"d0", QS_WORD_TAG, "a", "\x7f", "ann", 0, 0},
         QS_E_USAGE,
         "the value of a tag has a control character at byte 0: write one line"},
        {{"d0", QS_WORD_TAG, "", "x", "ann", 0, 0},
         QS_E_USAGE,
         "a tag has no key: write 1 to 64 letters, digits and _ . -"},
        {{"d0", QS_WORD_TAG, "a b", "x", "ann", 0, 0},
         QS_E_USAGE,
         "`a b` is no key of a tag: write 1 to 64 letters, digits and _ . -"},
        {{"d0", QS_WORD_TAG, texts[1], "x", "ann", 0, 0},
         QS_E_USAGE,
         "`kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk` is no key of a tag: write 1 to "
         "64 "
         "letters, digits and _ . -"},
        {{"d0", QS_WORD_TAG, "a", NULL, "ann", 0, 0}, QS_E_CONFLICT, "d0 has no tag `a`"},
        {{"d0", QS_WORD_HOLD, "", NULL, "ann", 0, 0}, QS_E_CONFLICT, "d0 is not held"},
        {{"d0", QS_WORD_NOTE, "", NULL, "ann", 0, 0}, QS_E_CONFLICT, "d0 has no note"},
        {{"d0", QS_WORD_HOLD, "", "x", "ann", 0, S}, QS_E_USAGE, "the end of the hold has passed already"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        refused(&w, &rows[i].word, 1, rows[i].code, rows[i].text);
    words_of(&w, "d0", "");
    tells(&w, "");
    end(&w);
}

static void what_just_fits_is_taken(void **state)
{
    static char key[QS_WORD_KEY_MAX + 1], text[QS_WORD_TEXT_MAX + 1];
    struct qs_word many[QS_WORD_TAGS_MAX + 1];
    char keys[QS_WORD_TAGS_MAX + 1][8];
    struct world w;
    (void)state;
    begin(&w);
    memset(key, 'k', QS_WORD_KEY_MAX);
    memset(text, 'y', QS_WORD_TEXT_MAX);
    say(&w, QS_WORD_NOTE, "", text, 0);
    say(&w, QS_WORD_TAG, key, text, 0);
    say(&w, QS_WORD_TAG, key, NULL, 0);
    for (size_t i = 0; i <= QS_WORD_TAGS_MAX; i++) {
        snprintf(keys[i], sizeof keys[i], "k%zu", i);
        many[i] =
            (struct qs_word){.device = "d0", .kind = QS_WORD_TAG, .key = keys[i], .value = "1", .by = "ann"};
    }
    refused(&w, many, QS_WORD_TAGS_MAX + 1, QS_E_LIMIT, "d0 would have 33 tags, more than 32");
    say_all(&w, many, QS_WORD_TAGS_MAX);
    refused(&w, &many[QS_WORD_TAGS_MAX], 1, QS_E_LIMIT, "d0 would have 33 tags, more than 32");
    say(&w, QS_WORD_TAG, "k1", "other", 0);
    many[0].value = NULL; /* one goes, one comes */
    const struct qs_word swap[] = {many[0], many[QS_WORD_TAGS_MAX]};
    say_all(&w, swap, 2);
    end(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_begins_on_a_held_device),
        cmocka_unit_test(a_hold_ends_by_itself),
        cmocka_unit_test(a_job_that_is_there_goes_on),
        cmocka_unit_test(all_of_it_outlives_the_daemon),
        cmocka_unit_test(a_device_that_comes_is_held_already),
        cmocka_unit_test(tags_are_labels_that_can_be_changed),
        cmocka_unit_test(what_cannot_be_said_is_refused),
        cmocka_unit_test(what_just_fits_is_taken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
