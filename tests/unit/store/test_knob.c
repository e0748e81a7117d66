/* What was tried on a device: all of a system's rows are of its last job, and the last system's are read. */
#include "fixture.h"

#include <math.h>

#include "base/buf.h"
#include "store/knob.h"

static const struct qs_knob_row held = {.name = "policy0",
                                        .kind = "cpu",
                                        .path = "",
                                        .sticks = "yes",
                                        .effect = "yes",
                                        .low_khz = 600000,
                                        .high_khz = 1500000,
                                        .seen_low_khz = 600001,
                                        .seen_high_khz = 1500001,
                                        .loop_ratio = 2.5};
static const struct qs_knob_row late = {.name = "boost",
                                        .kind = "boost",
                                        .path = "a/boost",
                                        .sticks = "late",
                                        .effect = "unknown",
                                        .why = "it took 900 ms",
                                        .after_ms = 900,
                                        .loop_ratio = NAN};

static void put(struct fixture *f, const char *fingerprint, int64_t at_ns, const struct qs_knob_row *rows,
                size_t count)
{
    const struct qs_knob_rows knobs = {.device = "bench",
                                       .fingerprint = fingerprint,
                                       .job = f->job,
                                       .found_wall_ns = at_ns,
                                       .rows = rows,
                                       .count = count};
    qs_store_knobs(f->store, &knobs, on_fine, NULL);
    qs_loop_run(f->loop);
}

static void show(const struct qs_knob_info *k, void *user)
{
    const struct qs_knob_row *r = &k->row;
    qs_buf_fmt(user, "%s %s %s %s '%s' %s %s %lld %lld %lld %lld %lld %g job%lld %lld\n", k->fingerprint,
               r->name, r->kind, r->sticks, r->path, r->effect, r->why ? r->why : "-", (long long)r->after_ms,
               (long long)r->low_khz, (long long)r->high_khz, (long long)r->seen_low_khz,
               (long long)r->seen_high_khz, r->loop_ratio, (long long)k->job, (long long)k->found_wall_ns);
}

struct asked {
    const char *device;
    struct qs_buf out;
};

static bool read_knobs(struct qs_store_reader *r, void *user, struct qs_err *err)
{
    struct asked *a = user;
    return qs_read_knobs(r, a->device, show, &a->out, err);
}

static void says(struct fixture *f, const char *device, const char *expected)
{
    struct qs_err err = QS_ERR_INIT;
    struct asked a = {.device = device};
    qs_buf_init(&a.out);
    assert_true(qs_store_read_now(f->store, read_knobs, &a, &err));
    assert_string_equal(a.out.data, expected);
    qs_buf_done(&a.out);
}

static void the_last_ones_stand(void **state)
{
    struct fixture *f = *state;
    const struct qs_knob_row both[] = {held, late};
    says(f, "bench", "");
    put(f, "6.1", 100, both, 2);
    says(f, "bench",
         "6.1 boost boost late 'a/boost' unknown it took 900 ms 900 0 0 0 0 nan job1 100\n"
         "6.1 policy0 cpu yes '' yes - 0 600000 1500000 600001 1500001 2.5 job1 100\n");
    put(f, "6.6", 200, both, 1);
    says(f, "bench", "6.6 policy0 cpu yes '' yes - 0 600000 1500000 600001 1500001 2.5 job1 200\n");
    put(f, "6.1", 300, &late, 1);
    says(f, "bench", "6.1 boost boost late 'a/boost' unknown it took 900 ms 900 0 0 0 0 nan job1 300\n");
    says(f, "another", "");
}

static void what_cannot_be_is_refused(void **state)
{
    struct fixture *f = *state;
    struct told told = {0};
    const struct qs_knob_row twice[] = {late, late};
    struct qs_knob_rows knobs = {
        .device = "another", .fingerprint = "6.1", .rows = twice, .count = 1, .job = f->job};
    qs_store_knobs(f->store, &knobs, on_told, &told);
    qs_loop_run(f->loop);
    assert_int_equal(told.code, QS_E_NOT_FOUND);
    put(f, "6.1", 100, &held, 1);
    struct told again = {0};
    knobs.device = "bench";
    knobs.count = 2;
    qs_store_knobs(f->store, &knobs, on_told, &again);
    qs_loop_run(f->loop);
    assert_int_equal(again.code, QS_E_CONFLICT);
    says(f, "bench", "6.1 policy0 cpu yes '' yes - 0 600000 1500000 600001 1500001 2.5 job1 100\n");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_last_ones_stand),
        TEST(what_cannot_be_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
