/* What a device was found to be like: kept by system, kind, load and sensor, the last of each. */
#include "fixture.h"

#include <math.h>

#include "base/buf.h"
#include "store/model.h"

static const struct qs_model_row cools = {.kind = "cools",
                                          .domain = "big",
                                          .sensor = "thermal:cpu",
                                          .says = "fits",
                                          .tau_s = 50.5,
                                          .tau_lo_s = 49,
                                          .tau_hi_s = 52,
                                          .end_mc = 31000,
                                          .end_lo_mc = 30000,
                                          .end_hi_mc = 32500,
                                          .sd_mc = 120,
                                          .low_mc = 0,
                                          .high_mc = 78000,
                                          .readings = 300,
                                          .span_s = 299,
                                          .trace = "[[0,78000]]"};
static const struct qs_model_row still = {.kind = "sensor",
                                          .domain = "",
                                          .sensor = "thermal:pmic",
                                          .says = "still",
                                          .why = "it does not move",
                                          .tau_s = NAN,
                                          .tau_lo_s = NAN,
                                          .tau_hi_s = NAN,
                                          .end_mc = NAN,
                                          .end_lo_mc = NAN,
                                          .end_hi_mc = NAN,
                                          .sd_mc = NAN,
                                          .low_mc = NAN,
                                          .high_mc = NAN};
static const struct qs_model_row sustained = {
    .kind = "sustained", .domain = "policy4", .sensor = "", .says = "held", .khz = 1800000, .readings = 600};

static void put(struct fixture *f, const char *fingerprint, int64_t at_ns, const struct qs_model_row *rows,
                size_t count)
{
    const struct qs_model_rows models = {.device = "bench",
                                         .fingerprint = fingerprint,
                                         .job = f->job,
                                         .found_wall_ns = at_ns,
                                         .rows = rows,
                                         .count = count};
    qs_store_models(f->store, &models, on_fine, NULL);
    qs_loop_run(f->loop);
}

static const char *or_none(const char *text)
{
    return text ? text : "-";
}

static void show(const struct qs_model_info *m, void *user)
{
    const struct qs_model_row *r = &m->row;
    qs_buf_fmt(user, "%s %s %s %s %s %g %g %g %g %g %g %g %g %g %lld %lld %g %s job%lld %lld\n", r->kind,
               r->domain, r->sensor, r->says, or_none(r->why), r->tau_s, r->tau_lo_s, r->tau_hi_s, r->end_mc,
               r->end_lo_mc, r->end_hi_mc, r->sd_mc, r->low_mc, r->high_mc, (long long)r->khz,
               (long long)r->readings, r->span_s, or_none(r->trace), (long long)m->job,
               (long long)m->found_wall_ns);
}

struct asked {
    const char *device, *fingerprint;
    bool with_traces;
    struct qs_buf out;
};

static bool read_models(struct qs_store_reader *r, void *user, struct qs_err *err)
{
    struct asked *a = user;
    return qs_read_models(r, a->device, a->fingerprint, a->with_traces, show, &a->out, err);
}

static void says(struct fixture *f, struct asked a, const char *expected)
{
    struct qs_err err = QS_ERR_INIT;
    qs_buf_init(&a.out);
    assert_true(qs_store_read_now(f->store, read_models, &a, &err));
    assert_string_equal(a.out.data, expected);
    qs_buf_done(&a.out);
}

static void the_last_of_each_stands(void **state)
{
    struct fixture *f = *state;
    const struct qs_model_row both[] = {still, cools};
    struct qs_model_row later = cools;
    const struct asked bench = {"bench", "6.1", false, {0}}, traced = {"bench", "6.1", true, {0}};
    says(f, bench, "");
    put(f, "6.1", 100, both, 2);
    put(f, "6.6", 150, both, 1);
    says(
        f, traced,
        "cools big thermal:cpu fits - 50.5 49 52 31000 30000 32500 120 0 78000 0 300 299 [[0,78000]] job1 "
        "100\n"
        "sensor  thermal:pmic still it does not move nan nan nan nan nan nan nan nan nan 0 0 0 - job1 100\n");
    later.tau_s = 60;
    later.trace = NULL;
    put(f, "6.1", 200, &later, 1);
    put(f, "6.1", 300, &sustained, 1);
    says(f, bench,
         "sensor  thermal:pmic still it does not move nan nan nan nan nan nan nan nan nan 0 0 0 - job1 100\n"
         "cools big thermal:cpu fits - 60 49 52 31000 30000 32500 120 0 78000 0 300 299 - job1 200\n"
         "sustained policy4  held - 0 0 0 0 0 0 0 0 0 1800000 600 0 - job1 300\n");
    says(f, (struct asked){"another", "6.1", false, {0}}, "");
    says(f, (struct asked){"bench", "6.2", false, {0}}, "");
}

/* All of them or none. */
static void what_cannot_be_is_refused(void **state)
{
    struct fixture *f = *state;
    struct told told[2] = {{0}};
    struct qs_model_row rows[2] = {cools, still};
    struct qs_model_rows models = {
        .device = "another", .fingerprint = "6.1", .rows = rows, .count = 2, .job = f->job};
    qs_store_models(f->store, &models, on_told, &told[0]);
    qs_loop_run(f->loop);
    assert_int_equal(told[0].code, QS_E_NOT_FOUND);
    models.device = "bench";
    rows[1].kind = "guess";
    qs_store_models(f->store, &models, on_told, &told[1]);
    qs_loop_run(f->loop);
    assert_int_equal(told[1].code, QS_E_CONFLICT);
    says(f, (struct asked){"bench", "6.1", false, {0}}, "");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_last_of_each_stands),
        TEST(what_cannot_be_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
