/* What is written to try a frequency or a switch, and what the answers say of it. */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "device/board/knob.h"

/* What files of one frequency said when 1 was written, one after the other. */
struct step {
    const char *path;
    enum qs_tune_outcome outcome;
    int error;
    const char *before, *now;
    int64_t after_ms;
};
static const struct {
    struct step steps[3]; /* path NULL: no more */
    const char *sticks, *path, *why;
} taken[] = {
    {{{"a", QS_TUNE_SET, 0, "0", "1", 0}}, "yes", "", NULL},
    {{{"a", QS_TUNE_SAME, 0, "1", "1", 0}}, "yes", "", NULL},
    {{{"a", QS_TUNE_SLIPPED, 0, "0", "0", 9}},
     "ignored",
     "a",
     "1 was written and taken, and it still says 0"},
    {{{"a", QS_TUNE_SLIPPED, 0, "0", "7", 9}}, "slips", "a", "1 was written, and it says 7"},
    {{{"a", QS_TUNE_SLIPPED, 0, "0", "0", 9}, {"a", QS_TUNE_SAME, 0, "1", "1", 950}},
     "late",
     "a",
     "it took 950 ms until it said 1"},
    {{{"a", QS_TUNE_REFUSED, EIO, "0", "0", 9}},
     "refused",
     "a",
     "1 could not be written: Input/output error"},
    {{{"a", QS_TUNE_TIMEOUT, 0, "", "", 9}}, "timeout", "a", "its driver did not answer when 1 was written"},
    {{{"a", QS_TUNE_MISSING, ENOENT, "", "", 9}},
     "missing",
     "a",
     "1 could not be written: No such file or directory"},
    /* the worst file stays, whichever comes first */
    {{{"a", QS_TUNE_SLIPPED, 0, "0", "0", 9}, {"b", QS_TUNE_SET, 0, "0", "1", 9}},
     "ignored",
     "a",
     "1 was written and taken, and it still says 0"},
    {{{"a", QS_TUNE_SLIPPED, 0, "0", "0", 9}, {"b", QS_TUNE_REFUSED, EPERM, "0", "0", 9}},
     "refused",
     "b",
     "1 could not be written: Operation not permitted"},
    {{{"a", QS_TUNE_SLIPPED, 0, "0", "0", 9},
      {"a", QS_TUNE_SAME, 0, "1", "1", 500},
      {"a", QS_TUNE_SET, 0, "1", "2", 5}},
     "late",
     "a",
     "it took 500 ms until it said 1"},
};

static void what_became_of_writes(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++) {
        struct qs_knob k = {.name = "x"};
        qs_buf_init(&k.why);
        for (size_t s = 0; s < 3 && taken[i].steps[s].path; s++) {
            const struct step *at = &taken[i].steps[s];
            char path[8], value[] = "1";
            snprintf(path, sizeof path, "%s", at->path);
            const struct qs_pin_item item = {.path = path, .value = value};
            const struct qs_tuned t = {at->outcome, at->error, qs_text_of(at->before), qs_text_of(at->now)};
            qs_knob_take(&k, &item, &t, at->after_ms);
        }
        struct qs_knob_row row = qs_knob_row(&k);
        if (strcmp(row.sticks, taken[i].sticks) != 0 || strcmp(row.path, taken[i].path) != 0 ||
            strcmp(row.why ? row.why : "", taken[i].why ? taken[i].why : "") != 0)
            fail_msg("%zu: %s of %s: %s", i, row.sticks, row.path, row.why ? row.why : "");
        qs_knob_done(&k);
    }
}

/* Held at 600 and 1800 MHz. */
static const struct {
    struct qs_knob_point low, high;
    const char *effect, *why;
} judged[] = {
    {{600000, 0}, {1800000, 0}, "yes", NULL},
    {{899999, 0}, {1500001, 0}, "yes", NULL}, /* a quarter of the way */
    {{900001, 0}, {1800000, 0}, "no", "held at 600 MHz it ran at 900.001 MHz"},
    {{600000, 0}, {1499999, 0}, "no", "held at 1800 MHz it ran at 1499.999 MHz"},
    {{1200000, 0},
     {1200000, 0},
     "no",
     "held at 600 MHz it ran at 1200 MHz, held at 1800 MHz it ran at 1200 MHz"},
    {{0, 0}, {1800000, 0}, "unknown", NULL},
    {{600000, 290}, {1800000, 100}, "yes", NULL},
    {{600000, 110},
     {1800000, 100},
     "claimed",
     "its clock says that it moved, but a loop took only 1.10 times as long"},
    {{600000, 199},
     {1800000, 100},
     "claimed",
     "its clock says that it moved, but a loop took only 1.99 times as long"},
    {{600000, 200}, {1800000, 100}, "yes", NULL},
    {{1200000, 290}, {1200000, 100}, "yes", NULL}, /* its file does not follow, it does */
    {{0, 290}, {0, 100}, "yes", NULL},
    {{0, 100}, {0, 100}, "no", "a loop took only 1.00 times as long at the lowest frequency"},
};

static void what_the_clock_says(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof judged / sizeof *judged; i++) {
        struct qs_knob k = {.name = "x",
                            .low_khz = 600000,
                            .high_khz = 1800000,
                            .low = judged[i].low,
                            .high = judged[i].high};
        qs_buf_init(&k.why);
        qs_knob_judge(&k);
        struct qs_knob_row row = qs_knob_row(&k);
        if (strcmp(row.effect, judged[i].effect) != 0 ||
            strcmp(row.why ? row.why : "", judged[i].why ? judged[i].why : "") != 0)
            fail_msg("%zu: %s: %s", i, row.effect, row.why ? row.why : "");
        assert_true(judged[i].low.loop_ns == 0 ? isnan(row.loop_ratio) : row.loop_ratio >= 1);
        qs_knob_done(&k);
    }
}

/* What was not written stays so has no effect to be judged. */
static void what_does_not_stay_is_not_judged(void **state)
{
    struct qs_knob k = {
        .name = "x", .sticks = QS_KNOB_IGNORED, .low_khz = 1, .high_khz = 9, .low = {5, 0}, .high = {5, 0}};
    (void)state;
    qs_buf_init(&k.why);
    qs_knob_judge(&k);
    assert_int_equal(k.effect, QS_KNOB_UNKNOWN);
    qs_knob_done(&k);
}

static char on[] = "Y", off[] = "N", says_on[] = "Y", says_off[] = "N", five[] = "5", nine[] = "9",
            file[] = "f", name[] = "s", command[] = "\tget\nset";
#define SWITCH(...)                                                                                          \
    {                                                                                                        \
        .name = name, .path = file, .writable = true, __VA_ARGS__                                            \
    }
static const struct {
    struct qs_board_switch one;
    const char *value, *why; /* one of them NULL */
} switches[] = {
    {SWITCH(.kind = QS_SWITCH_IDLE, .on = on, .off = off, .said = says_on), "N", NULL},
    {SWITCH(.kind = QS_SWITCH_BOOST, .on = on, .off = off, .said = says_off), "Y", NULL},
    {SWITCH(.kind = QS_SWITCH_OTHER, .hi = 9, .said = five), "9", NULL},
    {SWITCH(.kind = QS_SWITCH_OTHER, .lo = 2, .hi = 9, .said = nine), "2", NULL},
    {SWITCH(.kind = QS_SWITCH_OTHER, .lo = 2, .hi = 2, .said = nine), NULL, "it has one value"},
    {SWITCH(.kind = QS_SWITCH_OTHER, .on = on, .off = off), NULL, "what it says cannot be read"},
    {SWITCH(.kind = QS_SWITCH_IDLE, .on = on, .off = off, .said = says_on, .persistent = true), NULL,
     "it would outlast a restart of the device"},
    {SWITCH(.kind = QS_SWITCH_ONLINE, .on = on, .off = off, .said = says_on), NULL,
     "groups of processes may lose a processor that goes and comes back"},
    {SWITCH(.kind = QS_SWITCH_THERMAL, .on = on, .off = off, .said = says_on), NULL,
     "what protects the device from heat is not switched off to try it"},
    {SWITCH(.kind = QS_SWITCH_FAN, .hi = 9, .said = five), NULL,
     "what protects the device from heat is not switched off to try it"},
    {SWITCH(.kind = QS_SWITCH_CHARGING, .on = on, .off = off, .said = says_on), NULL,
     "charging is not interrupted to try it"},
    {{.name = name, .path = command, .writable = true, .kind = QS_SWITCH_OTHER, .hi = 9, .said = five},
     NULL,
     "a command of the system is not run only to try it"},
    {{.name = name, .path = file, .kind = QS_SWITCH_IDLE, .on = on, .off = off, .said = says_on},
     NULL,
     "the agent's user may not write it: run the agent as root"},
};

static void harmless_switches_are_turned(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof switches / sizeof *switches; i++) {
        struct qs_pins pins = {.survey_again = false};
        struct qs_knob k = {.name = NULL};
        qs_buf_init(&k.why);
        bool turned = qs_knob_turn(&switches[i].one, &pins, &k);
        assert_int_equal(turned, switches[i].value != NULL);
        assert_int_equal(pins.items.count, turned ? 1 : 0);
        if (turned) {
            assert_string_equal(pins.items.at[0].value, switches[i].value);
        } else {
            assert_string_equal(qs_knob_row(&k).sticks, "untried");
            assert_string_equal(k.why.data, switches[i].why);
        }
        qs_pins_done(&pins);
        qs_knob_done(&k);
    }
}

/* Which of what was found a job has to know, and in which words. */
static void what_matters_to_a_job(void **state)
{
    static char idle_name[] = "idle:*", schedutil[] = "schedutil", little[] = "little";
    static struct qs_switch_wish idle_wish = {.of = idle_name};
    const struct qs_knob_row cpu = {.name = "policy0", .kind = "cpu"}, gpu = {.name = "mali", .kind = "gpu"},
                             idle = {.name = "idle:cpu0", .kind = "idle"},
                             boost = {.name = "b", .kind = "boost"},
                             online = {.name = "online:cpu1", .kind = "online"};
    const struct qs_knob_row *const rows[] = {&cpu, &gpu, &idle, &boost, &online};
    static const struct {
        struct qs_wishes wishes;
        const char *matters; /* by row */
    } cases[] = {{{.boost = QS_SWITCH_LEFT}, "....."},
                 {{.frequency[QS_DOMAIN_CPU] = {.how = QS_WISH_MAX}}, "x...."},
                 {{.frequency[QS_DOMAIN_GPU] = {.how = QS_WISH_MIN}}, ".x..."},
                 {{.frequency[QS_DOMAIN_CPU] = {.how = QS_WISH_HOLD}}, "....."}, /* nothing is written */
                 {{.governor[QS_DOMAIN_CPU] = schedutil}, "x...."},
                 {{.switches = &idle_wish, .switch_count = 1}, "..x.."},
                 {{.idle = true}, "..x.."},
                 {{.boost = QS_SWITCH_OFF}, "...x."},
                 {{.online = little}, "....x"}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (size_t k = 0; k < 5; k++)
            if (qs_knob_matters(rows[k], &cases[i].wishes) != (cases[i].matters[k] == 'x'))
                fail_msg("case %zu, %s", i, rows[k]->name);
}

static void what_cannot_be_relied_on(void **state)
{
    static const struct {
        const char *sticks, *effect, *why, *says; /* NULL: it can be */
    } cases[] = {{"yes", "yes", NULL, NULL},
                 {"yes", "unknown", NULL, NULL},
                 {"untried", "unknown", "hot", NULL},
                 {"late", "yes", "900 ms", "p cannot be relied on (late): 900 ms"},
                 {"ignored", "unknown", "5", "p cannot be relied on (ignored): 5"},
                 {"refused", "unknown", NULL, "p cannot be relied on (refused)"},
                 {"yes", "no", "6", "p cannot be relied on (no effect): 6"},
                 {"yes", "claimed", "7", "p cannot be relied on (an effect that it only claims): 7"}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct qs_knob_row row = {
            .name = "p", .sticks = cases[i].sticks, .effect = cases[i].effect, .why = cases[i].why};
        QS_BUF(says);
        assert_int_equal(qs_knob_is_doubtful(&row), cases[i].says != NULL);
        qs_knob_say(&row, &says);
        if (cases[i].says)
            assert_string_equal(says.data, cases[i].says);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_became_of_writes),
                                       cmocka_unit_test(what_the_clock_says),
                                       cmocka_unit_test(what_does_not_stay_is_not_judged),
                                       cmocka_unit_test(harmless_switches_are_turned),
                                       cmocka_unit_test(what_matters_to_a_job),
                                       cmocka_unit_test(what_cannot_be_relied_on)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
