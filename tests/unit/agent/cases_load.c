/* Processors that are kept busy: on request, between runs, and for how long. */
#include "cases.h"
#include "script.h"

#include <string.h>

static const struct script_options plain = {.no_pull = false};

static void ask(struct script *s, const char *cpus, uint32_t for_ms)
{
    const struct qs_msg_load m = {.id = 5, .cpus = qs_text_of(cpus), .for_ms = for_ms};
    size_t at = peer_begin(&s->peer);
    assert_true(qs_msg_encode_load(&s->peer.w, &m));
    peer_end(&s->peer, at, QS_MSG_LOAD);
}

static void load(struct script *s, const char *cpus, uint32_t for_ms, enum qs_load_outcome wanted)
{
    struct qs_msg_loaded m;
    ask(s, cpus, for_ms);
    const struct letter *l = script_expect(s, QS_MSG_LOADED);
    assert_int_equal(qs_msg_decode_loaded(l->payload, l->n, &m), 0);
    assert_int_equal(m.id, 5);
    assert_int_equal(m.outcome, wanted);
}

static struct script *connected(void)
{
    struct script *s = script_new(&plain);
    script_connect(s);
    assert_true((s->peer.agent.features & QS_FEATURE_LOAD) != 0);
    return s;
}

static void lasts_as_long_as_was_asked(void **state)
{
    struct script *s = connected();
    (void)state;
    load(s, "0-3,6", 2500, QS_LOAD_ON);
    assert_string_equal(s->burden.cpus, "0-3,6");
    script_expect_state(s, QS_STATE_READY);
    assert_int_equal(qs_agent_next_deadline_ns(s->agent), s->now_ns + 2500 * MS);
    script_pass(s, 2499 * MS);
    assert_true(s->burden.on);
    script_pass(s, 1 * MS);
    assert_false(s->burden.on);
    assert_int_equal(s->burden.stops, 1);
    script_pass(s, 400 * MS);
    assert_int_equal(s->burden.stops, 1); /* once */
    script_free(s);
}

static void is_replaced_and_ended(void **state)
{
    struct script *s = connected();
    (void)state;
    load(s, "0", 2500, QS_LOAD_ON);
    script_pass(s, 2 * S);
    load(s, "", 2500, QS_LOAD_ON);
    assert_int_equal(s->burden.stops, 1);
    assert_string_equal(s->burden.cpus, "");
    script_pass(s, 1 * S); /* beyond the first one's time */
    assert_true(s->burden.on);
    load(s, "", 0, QS_LOAD_OFF);
    assert_false(s->burden.on);
    assert_int_equal(s->burden.stops, 2);
    load(s, "", 0, QS_LOAD_OFF); /* there is none */
    assert_int_equal(s->burden.stops, 2);
    script_free(s);
}

static void says_what_cannot_be(void **state)
{
    struct script *s = connected();
    (void)state;
    load(s, "0", 10000, QS_LOAD_ON);
    s->burden.answer = QS_LOAD_NO_CPUS;
    load(s, "77", 10000, QS_LOAD_NO_CPUS);
    assert_int_equal(s->burden.stops, 1); /* nor goes the one before on */
    assert_false(s->burden.on);
    s->burden.answer = QS_LOAD_FAILED;
    load(s, "", 10000, QS_LOAD_FAILED);
    script_free(s);
}

/* Whatever is measured, or would be taken for something's child, begins without it. */
static void ends_with_what_comes(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++) {
        struct script *s = connected();
        load(s, "", 60000, QS_LOAD_ON);
        if (i == 0) {
            script_run(s, &(struct run_spec){.capture = false});
        } else if (i == 1) {
            const char *const argv[] = {"hook", NULL};
            peer_hook(&s->peer, 1, argv, S);
        } else if (i == 2) {
            script_unplug(s);
        } else {
            qs_agent_stop(s->agent, "the end");
        }
        assert_false(s->burden.on);
        assert_int_equal(s->burden.stops, 1);
        if (i == 1) {
            script_exit(s, MS, 0);
        }
        script_free(s);
    }
}

static void refuses_what_is_not_agreed(void **state)
{
    struct script *s = script_new(&(struct script_options){.no_load = true});
    (void)state;
    script_connect(s);
    assert_int_equal(s->peer.agent.features & QS_FEATURE_LOAD, 0);
    ask(s, "", 1000);
    script_expect_fatal(s);
    script_free(s);
    s = connected();
    script_run(s, &(struct run_spec){.capture = false});
    ask(s, "", 1000); /* in a run */
    script_expect_fatal(s);
    assert_false(s->burden.on);
    script_free(s);
}

const struct CMUnitTest cases_load[] = {
    cmocka_unit_test(lasts_as_long_as_was_asked), cmocka_unit_test(is_replaced_and_ended),
    cmocka_unit_test(says_what_cannot_be),        cmocka_unit_test(ends_with_what_comes),
    cmocka_unit_test(refuses_what_is_not_agreed),
};
const size_t cases_load_count = sizeof cases_load / sizeof cases_load[0];
