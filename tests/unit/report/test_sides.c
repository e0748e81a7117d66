/* Two sides: what is matched, what differs, which level a verdict stands on, and what forbids it. */
#include "base/mem.h"
#include "golden.h"
#include "listener.h"
#include "page.h"
#include "report/job/opinion.h"
#include "sides.h"

static const char env_new[] = "{\"agent\":\"1\",\"cgroup\":\"/b\",\"kernel\":\"6.2\"}";

#define FIRST "results.0.devices.0.comparisons.0."

static void check(struct sides *s, const char *verdict, const char *reason, const char *level)
{
    json_t *doc = sides_compared(s);
    assert_string_equal(text_at(doc, FIRST "verdict"), verdict);
    assert_string_equal(text_at(doc, FIRST "reason"), reason);
    assert_string_equal(text_at(doc, FIRST "units_of"), level);
    json_decref(doc);
}

static void one_session_a_side(void **state)
{
    (void)state;
    struct sides s;
    sides_init(&s, NULL);
    sides_add_job(&s, 0, 1, 0, 10, 1e6);
    sides_add_job(&s, 1, 2, 0, 10, 1e6);
    check(&s, "equivalent", "none", "runs");
    sides_done(&s);
    sides_init(&s, NULL);
    sides_add_job(&s, 0, 1, 0, 10, 1e6);
    sides_add_job(&s, 1, 2, 0, 10, 1.03e6); /* past the margin, not past two of them */
    check(&s, "probable-regression", "one-session", "runs");
    sides_done(&s);
    sides_init(&s, NULL);
    sides_add_job(&s, 0, 1, 0, 10, 1e6);
    sides_add_job(&s, 1, 2, 0, 10, 1.06e6);
    check(&s, "regression", "none", "runs");
    json_t *doc = sides_compared(&s);
    assert_true(has_warning(doc, "results.0.devices.0.warnings", "one-session"));
    assert_int_equal(json_integer_value(at(doc, "regressions")), 1);
    assert_string_equal(text_at(doc, FIRST "sentence"),
                        "the candidate takes 5.87–6.12 % longer than the base");
    json_decref(doc);
    s.in.margin_ratio = 0.1;
    check(&s, "negligible", "none", "runs");
    sides_done(&s);
}

/* Two sessions each: their difference is what a verdict has to pass. */
static void several_sessions(void **state)
{
    (void)state;
    struct sides s;
    sides_init(&s, NULL);
    sides_add_job(&s, 0, 1, 0, 10, 1e6);
    sides_add_job(&s, 0, 2, 0, 10, 1.03e6);
    sides_add_job(&s, 1, 3, 0, 10, 1.05e6);
    sides_add_job(&s, 1, 4, 0, 10, 1.08e6);
    check(&s, "inconclusive", "wide-interval", "sessions"); /* runs alone would call it */
    json_t *doc = sides_compared(&s);
    assert_int_equal(json_integer_value(at(doc, FIRST "base.units")), 2);
    assert_int_equal(json_integer_value(at(doc, FIRST "base.runs")), 20);
    assert_false(has_warning(doc, "results.0.devices.0.warnings", "one-session"));
    json_decref(doc);
    sides_done(&s);
    sides_init(&s, NULL);
    for (int64_t job = 1; job <= 4; job++)
        sides_add_job(&s, job > 2, job, 0, 10, job > 2 ? 1.5e6 : 1e6);
    check(&s, "regression", "none", "sessions");
    sides_done(&s);
}

/* Arms of one job meet in its blocks; its environment is the same for both. */
static void arms_of_one_job(void **state)
{
    (void)state;
    struct sides s;
    sides_init(&s, NULL);
    for (uint32_t b = 1; b <= 8; b++) { /* the machine drifts by 80 %, the difference does not */
        sides_add(&s, 0, 1, 0, b, 1e6 * (1 + 0.1 * b));
        sides_add(&s, 1, 1, 1, b, 1.05e6 * (1 + 0.1 * b) + 100 * (b % 3));
    }
    sides_add(&s, 1, 1, 1, 9, 9e6); /* has no partner */
    sides_name(&s.runs[1].at[0].env_json, env_new);
    check(&s, "regression", "none", "blocks");
    json_t *doc = sides_compared(&s);
    assert_int_equal(json_integer_value(at(doc, FIRST "candidate.units_dropped")), 1);
    assert_true(has_warning(doc, "results.0.devices.0.warnings", "left-out"));
    assert_string_equal(text_at(doc, "results.0.base_arm"), "a");
    assert_string_equal(text_at(doc, "results.0.candidate_arm"), "b");
    assert_int_equal(json_array_size(at(doc, "environment")), 0);
    assert_string_equal(text_at(doc, "arm.1.key"), "command");
    assert_string_equal(text_at(doc, "arm.1.base"), "a it's x");
    json_decref(doc);
    sides_done(&s);
}

/* As of 12,14 and 12,15: what both have is compared with itself. */
static void runs_of_both_sides_are_told(void **state)
{
    (void)state;
    struct sides s;
    sides_init(&s, NULL);
    for (int side = 0; side < 2; side++) {
        sides_add_job(&s, side, 1, 0, 6, 1e6);
        sides_add_job(&s, side, 2 + side, 0, 6, 1e6);
    }
    json_t *doc = sides_compared(&s);
    assert_false(has_warning(doc, "results.0.devices.0.warnings", "shared-runs"));
    json_decref(doc);
    for (size_t i = 3; i < 5; i++)
        memcpy(s.runs[1].at[i].uid, s.runs[0].at[i].uid, sizeof s.runs[0].at[i].uid);
    doc = sides_compared(&s);
    assert_true(has_warning(doc, "results.0.devices.0.warnings", "shared-runs"));
    assert_int_equal(
        strncmp(text_at(doc, "results.0.devices.0.warnings.0.text"), "2 of 12 runs of the base", 24), 0);
    json_decref(doc);
    sides_done(&s);
}

static void the_last_attempt_counts(void **state)
{
    (void)state;
    struct sides s;
    sides_init(&s, NULL);
    sides_add_job(&s, 0, 1, 0, 10, 1e6);
    sides_add_job(&s, 1, 2, 0, 9, 1e6);
    sides_add(&s, 1, 2, 0, 10, 5e6)->superseded = true;
    sides_add(&s, 1, 2, 0, 10, 1e6)->attempt = 1;
    check(&s, "equivalent", "none", "runs");
    sides_done(&s);
}

static void another_environment_is_refused(void **state)
{
    (void)state;
    struct sides s;
    sides_init(&s, NULL);
    sides_add_job(&s, 0, 1, 0, 8, 1e6);
    sides_add_job(&s, 1, 2, 0, 8, 1e6);
    for (size_t i = 0; i < 8; i++) {
        s.runs[1].at[i].env = 2;
        sides_name(&s.runs[1].at[i].env_json, env_new);
    }
    json_t *doc = sides_compared(&s);
    assert_true(json_is_true(at(doc, "refused")));
    assert_int_equal(json_array_size(at(doc, "results")), 0);
    assert_int_equal(json_array_size(at(doc, "environment")), 2);
    assert_string_equal(text_at(doc, "environment.0.key"), "cgroup");
    assert_true(json_is_false(at(doc, "environment.0.matters")));
    assert_string_equal(text_at(doc, "environment.1.base"), "6.1");
    assert_string_equal(text_at(doc, "environment.1.candidate"), "6.2");
    assert_true(json_is_false(at(doc, "environment.1.allowed")));
    json_decref(doc);
    static const char *const allowed[] = {"kernel", "x,kernel", "all"}, *const not [] = {"kern", "kernel.x",
                                                                                         "x,"};
    for (int i = 0; i < 3; i++) {
        s.in.allow = allowed[i];
        check(&s, "equivalent", "none", "runs");
        s.in.allow = not [i];
        doc = sides_compared(&s);
        assert_true(json_is_true(at(doc, "refused")));
        json_decref(doc);
    }
    sides_done(&s);
}

/* Variables, folder and hooks of the job are environment as well; its command and its executable are the arm.
 */
static void what_the_job_set_up_counts(void **state)
{
    (void)state;
    struct sides s;
    sides_init(&s, NULL);
    sides_add_job(&s, 0, 1, 0, 8, 1e6);
    sides_add_job(&s, 1, 2, 1, 8, 1e6); /* arm b has another command */
    struct qs_job_benchmark *b = &s.jobs[1].spec->benchmarks[0];
    b->env.at = qs_calloc(2, sizeof *b->env.at);
    b->env.at[0] = qs_strdup("MODE=old");
    b->env.at[1] = qs_strdup("MODE=new");
    b->env.count = 2;
    b->dir = qs_strdup("/elsewhere");
    for (size_t i = 0; i < 8; i++)
        s.runs[1].at[i].exe_sha256 = qs_strdup("ff");
    json_t *doc = sides_compared(&s);
    assert_true(json_is_true(at(doc, "refused")));
    assert_int_equal(json_array_size(at(doc, "environment")), 2);
    assert_string_equal(text_at(doc, "environment.0.key"), "directory");
    assert_string_equal(text_at(doc, "environment.1.key"), "env.MODE");
    assert_string_equal(text_at(doc, "environment.1.candidate"), "new");
    assert_int_equal(json_array_size(at(doc, "arm")), 3);
    assert_string_equal(text_at(doc, "arm.2.key"), "executable_sha256");
    json_decref(doc);
    s.in.allow = "env,directory";
    check(&s, "equivalent", "none", "runs");
    sides_done(&s);
}

static void what_has_no_partner_is_listed(void **state)
{
    (void)state;
    struct sides s;
    sides_init(&s, NULL);
    sides_add_job(&s, 0, 1, 0, 8, 1e6);
    sides_add_job(&s, 1, 2, 0, 8, 1e6);
    sides_name(&sides_add(&s, 0, 1, 0, 1, 3e6)->device, "phone");
    sides_name(&sides_add(&s, 1, 2, 0, 1, 3e6)->benchmark, "other");
    json_t *doc = sides_compared(&s);
    assert_int_equal(json_array_size(at(doc, "results")), 1);
    assert_int_equal(json_array_size(at(doc, "only_in_base")), 1);
    assert_string_equal(text_at(doc, "only_in_base.0.device"), "phone");
    assert_string_equal(text_at(doc, "only_in_candidate.0.benchmark"), "other");
    assert_int_equal(json_integer_value(at(doc, "only_in_candidate.0.runs")), 1);
    json_decref(doc);
    sides_done(&s);
}

/* Less alike things are compared where there is one of them on each side, and the difference is told. */
static void one_of_each_is_matched(void **state)
{
    (void)state;
    struct sides s;
    sides_init(&s, NULL);
    sides_add_job(&s, 0, 1, 0, 8, 1e6);
    sides_add_job(&s, 1, 2, 1, 8, 1e6); /* under another name */
    json_t *doc = sides_compared(&s);
    assert_int_equal(json_array_size(at(doc, "results")), 1);
    json_decref(doc);
    for (size_t i = 0; i < 8; i++) {
        sides_name(&s.runs[1].at[i].controls_json, "{\"affinity\":\"0\"}");
        sides_name(&s.runs[1].at[i].conditions_json, "{\"controls\":{\"affinity\":\"0\"}}");
    }
    doc = sides_compared(&s);
    assert_true(json_is_true(at(doc, "refused")));
    assert_string_equal(text_at(doc, "environment.0.key"), "conditions.affinity");
    json_decref(doc);
    for (size_t i = 0; i < 8; i++)
        sides_name(&s.runs[1].at[i].benchmark, "other");
    doc = sides_compared(&s);
    assert_string_equal(text_at(doc, "environment.0.key"), "benchmark");
    json_decref(doc);
    sides_add_job(&s, 0, 3, 0, 8, 1e6);
    for (size_t i = 8; i < 16; i++)
        sides_name(&s.runs[0].at[i].benchmark, "third");
    doc = sides_compared(&s); /* which of two is meant nobody knows */
    assert_int_equal(json_array_size(at(doc, "only_in_base")), 2);
    assert_int_equal(json_array_size(at(doc, "only_in_candidate")), 1);
    json_decref(doc);
    sides_done(&s);
}

/* Half of the candidate's runs timed out: what is left is the fast half. */
static void losses_forbid_good_news(void **state)
{
    (void)state;
    struct sides s;
    sides_init(&s, NULL);
    sides_add_job(&s, 0, 1, 0, 16, 1e6);
    sides_add_job(&s, 1, 2, 0, 16, 1e6);
    for (size_t i = 0; i < 8; i++)
        s.runs[1].at[i].values[0].n = 0;
    check(&s, "inconclusive", "taint-rates-differ", "runs");
    for (size_t i = 0; i < 8; i++)
        s.runs[1].at[i].taints = QS_TAINT_TIMEOUT;
    check(&s, "inconclusive", "timeout-rates-differ", "runs");
    json_t *doc = sides_compared(&s);
    assert_int_equal(json_integer_value(at(doc, "results.0.devices.0.losses.candidate.lost")), 8);
    assert_int_equal(json_integer_value(at(doc, "results.0.devices.0.losses.candidate.timed_out")), 8);
    /* R: fisher.test(matrix(c(0, 16, 8, 8), 2))$p.value */
    assert_true(fabs(json_real_value(at(doc, "results.0.devices.0.comparisons.0.lost_p")) - 0.002447163515) <
                1e-11);
    assert_true(has_warning(doc, "results.0.devices.0.warnings", "timeout-rates"));
    json_decref(doc);
    static const double times[] = {0.9e6, 0.97e6, 0.99e6}; /* better, probably, negligibly */
    for (size_t k = 0; k < sizeof times / sizeof *times; k++) {
        for (size_t i = 8; i < 16; i++)
            sides_set(&s.runs[1].at[i].values[0], times[k] + 1e2 * (double)i);
        check(&s, "inconclusive", "timeout-rates-differ", "runs");
    }
    for (size_t i = 8; i < 16; i++)
        sides_set(&s.runs[1].at[i].values[0], 2e6 + 1e3 * (double)i);
    check(&s, "regression", "none", "runs"); /* bad news stands */
    sides_done(&s);
}

static void deterministic_metrics_are_compared_exactly(void **state)
{
    (void)state;
    struct sides s;
    sides_init(&s, NULL);
    sides_add_job(&s, 0, 1, 0, 8, 1e6);
    sides_add_job(&s, 1, 2, 0, 8, 1e6);
    sides_fill_metric(&s, 0, 1, 1000000);
    sides_fill_metric(&s, 1, 1, 1000001);
    json_t *doc = sides_compared(&s);
    assert_int_equal(json_array_size(at(doc, "results.0.devices.0.comparisons")), 2);
#define SECOND "results.0.devices.0.comparisons.1."
    assert_string_equal(text_at(doc, SECOND "verdict"), "regression"); /* far below any margin */
    assert_string_equal(text_at(doc, SECOND "reason"), "exact");
    assert_string_equal(text_at(doc, SECOND "method"), "exact");
    assert_true(json_number_value(at(doc, SECOND "exact.change")) == 1);
    assert_true(json_is_null(at(doc, SECOND "p")));
    assert_int_equal(json_integer_value(at(doc, "family.comparisons")), 1);
    assert_int_equal(json_integer_value(at(doc, "regressions")), 1);
    json_decref(doc);
    sides_fill_metric(&s, 1, 1, 1000000);
    doc = sides_compared(&s);
    assert_string_equal(text_at(doc, SECOND "verdict"), "equivalent");
    json_decref(doc);
    s.runs[1].at[3].values[1].at[1] = 1000007;
    doc = sides_compared(&s);
    assert_true(has_warning(doc, "results.0.devices.0.warnings", "not-deterministic"));
    assert_true(json_is_false(at(doc, SECOND "exact.candidate_constant")));
    assert_string_not_equal(text_at(doc, SECOND "reason"), "exact");
    json_decref(doc);
    sides_done(&s);
}

static void other_metrics_have_verdicts(void **state)
{
    (void)state;
    struct sides s;
    sides_init(&s, NULL);
    sides_add_job(&s, 0, 1, 0, 8, 1e6);
    sides_add_job(&s, 1, 2, 0, 8, 1e6);
    sides_fill_metric(&s, 0, 2, 5000);
    sides_fill_metric(&s, 1, 2, 4000); /* less is worse */
    sides_fill_metric(&s, 0, 1, 0);
    sides_fill_metric(&s, 1, 1, 0);
    s.metrics[1].deterministic = false;
    json_t *doc = sides_compared(&s);
    assert_string_equal(text_at(doc, "results.0.devices.0.comparisons.2.verdict"), "regression");
    assert_true(json_is_false(at(doc, "results.0.devices.0.comparisons.2.lower_is_better")));
    assert_string_equal(text_at(doc, SECOND "verdict"), "equivalent"); /* nothing but zeros */
    assert_int_equal(json_integer_value(at(doc, "family.comparisons")), 2);
    json_decref(doc);
    sides_fill_metric(&s, 1, 1, 3);
    doc = sides_compared(&s);
    assert_string_equal(text_at(doc, SECOND "verdict"), "inconclusive");
    assert_string_equal(text_at(doc, SECOND "reason"), "not-positive");
    json_decref(doc);
    sides_done(&s);
}

/* A change on every device, and one that only one of three has. */
static void devices_are_a_level(void **state)
{
    (void)state;
    static const char *const devices[] = {"p1", "p2", "p3"};
    struct sides s;
    sides_init(&s, NULL);
    for (size_t d = 0; d < 3; d++) {
        sides_add_job(&s, 0, 1, 0, 8, 1e6 * (double)(d + 1));
        sides_add_job(&s, 1, 2, 0, 8, 1.2e6 * (double)(d + 1) * (1 + 0.002 * (double)d));
        for (size_t i = 8 * d; i < 8 * d + 8; i++) {
            sides_name(&s.runs[0].at[i].device, devices[d]);
            sides_name(&s.runs[1].at[i].device, devices[d]);
        }
    }
    json_t *doc = sides_compared(&s);
    assert_int_equal(json_array_size(at(doc, "results")), 1);
    assert_int_equal(json_array_size(at(doc, "results.0.devices")), 3);
    assert_string_equal(text_at(doc, "results.0.over_devices.0.verdict"), "regression");
    assert_string_equal(text_at(doc, "results.0.over_devices.0.units_of"), "devices");
    assert_int_equal(json_integer_value(at(doc, "results.0.over_devices.0.base.units")), 3);
    assert_int_equal(json_integer_value(at(doc, "family.comparisons")), 4);
    json_decref(doc);
    for (size_t i = 8; i < 24; i++)
        s.runs[1].at[i].values[0].at[0] = s.runs[1].at[i].values[0].at[1] = s.runs[0].at[i].values[0].at[0];
    doc = sides_compared(&s);
    assert_string_equal(text_at(doc, "results.0.over_devices.0.verdict"), "inconclusive");
    assert_int_equal(json_integer_value(at(doc, "regressions")), 1);
    json_decref(doc);
    sides_done(&s);
}

/* One of forty that alone would be called: among so many it is expected by chance, and ends no build. */
static void one_of_many_does_not_stand(void **state)
{
    (void)state;
    static const double noise[] = {-0.02, 0.03, -0.01, 0.02, 0.01, -0.03};
    struct sides s;
    sides_init(&s, NULL);
    for (uint32_t point = 0; point < 40; point++) {
        for (int side = 0; side < 2; side++) {
            for (uint32_t b = 0; b < 6; b++) {
                double worse = side == 1 && point == 7 ? 0.052 : 0;
                double v = 1e6 * (1 + noise[(b + (uint32_t)side * (point % 5)) % 6] + worse);
                char text[16];
                struct qs_arm_run *run = sides_add(&s, side, side + 1, 0, b + 1, v);
                snprintf(text, sizeof text, "{\"n\":%u}", (unsigned)point);
                sides_name(&run->params_json, text);
            }
        }
    }
    s.in.margin_ratio = 0.001;
    json_t *doc = sides_compared(&s);
    assert_int_equal(json_integer_value(at(doc, "family.comparisons")), 40);
    const json_t *devices = NULL;
    for (size_t i = 0; i < 40; i++) {
        const json_t *result = json_array_get(at(doc, "results"), i);
        if (json_integer_value(at(result, "params.n")) == 7)
            devices = json_object_get(result, "devices");
    }
    assert_non_null(devices);
    assert_string_equal(text_at(devices, "0.comparisons.0.verdict"), "regression");
    assert_true(json_is_false(at(devices, "0.comparisons.0.stands")));
    assert_true(has_warning(devices, "0.warnings", "multiplicity"));
    assert_int_equal(json_integer_value(at(doc, "regressions")), 0);
    json_decref(doc);
    sides_done(&s);
}

/* A document that has a value in every field. */
static void every_field_is_described(void **state)
{
    (void)state;
    struct sides s;
    sides_init(&s, NULL);
    for (size_t d = 0; d < 2; d++) {
        sides_add_job(&s, 0, 1, 0, 8, 1e6);
        sides_add_job(&s, 1, 2, 1, 8, d == 0 ? 1.2e6 : 1.21e6);
        for (size_t i = 8 * d; i < 8 * d + 8; i++) {
            sides_name(&s.runs[0].at[i].device, d == 0 ? "p1" : "p2");
            sides_name(&s.runs[1].at[i].device, d == 0 ? "p1" : "p2");
            sides_name(&s.runs[1].at[i].env_json, env_new);
            s.runs[1].at[i].env = 2;
        }
        for (size_t i = 8 * d; i < 8 * d + 3; i++) {
            sides_disturb(&s, 0, i, 1.1);
            sides_disturb(&s, 1, i, 1.1);
        }
    }
    for (size_t i = 0; i < 32; i++) /* on the second device each side has two sessions */
        s.runs[i / 16].at[i % 16].session += i % 16 >= 12 ? 2 : 0;
    sides_fill_metric(&s, 0, 1, 5);
    sides_fill_metric(&s, 1, 1, 5);
    sides_name(&sides_add(&s, 0, 1, 0, 1, 3e6)->device, "p3");
    sides_name(&sides_add(&s, 1, 2, 0, 1, 3e6)->device, "p4");
    s.in.allow = "kernel";
    s.in.opinions = QS_OPINIONS_ALL;
    json_t *doc = sides_compared(&s);
    page_check(doc, "sides.md", 60);
    golden_document("sides", doc);
    json_decref(doc);
    sides_done(&s);
}

/* Every question may be the last; nothing is written then. */
static void it_ends_where_it_is_told_to(void **state)
{
    (void)state;
    struct sides s;
    struct listener all = {.asked = 0};
    sides_init(&s, NULL);
    sides_add_job(&s, 0, 1, 0, 6, 1e6);
    sides_add_job(&s, 1, 2, 0, 6, 1e6);
    s.in.opinions = QS_OPINIONS_ALL;
    s.in.progress = (struct qs_progress){.go_on = hear, .user = &all};
    assert_int_equal(qs_sides_compare(&s.in, &s.text), QS_OK);
    assert_true(!all.fell && all.last >= 1 && all.stages >= 2);
    for (size_t k = 1; k <= all.asked; k++) {
        struct listener l = {.refuse_at = k};
        s.in.progress.user = &l;
        qs_buf_clear(&s.text);
        assert_int_equal(qs_sides_compare(&s.in, &s.text), QS_ECANCELED);
        assert_int_equal(l.asked, k);
        assert_int_equal(s.text.len, 0);
    }
    sides_done(&s);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_session_a_side),
        cmocka_unit_test(several_sessions),
        cmocka_unit_test(arms_of_one_job),
        cmocka_unit_test(runs_of_both_sides_are_told),
        cmocka_unit_test(the_last_attempt_counts),
        cmocka_unit_test(another_environment_is_refused),
        cmocka_unit_test(what_the_job_set_up_counts),
        cmocka_unit_test(what_has_no_partner_is_listed),
        cmocka_unit_test(one_of_each_is_matched),
        cmocka_unit_test(losses_forbid_good_news),
        cmocka_unit_test(deterministic_metrics_are_compared_exactly),
        cmocka_unit_test(other_metrics_have_verdicts),
        cmocka_unit_test(devices_are_a_level),
        cmocka_unit_test(one_of_many_does_not_stand),
        cmocka_unit_test(every_field_is_described),
        cmocka_unit_test(it_ends_where_it_is_told_to),
    };
    golden_dir = argc > 2 ? argv[1] : golden_dir;
    schema_dir = argc > 2 ? argv[2] : schema_dir;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
