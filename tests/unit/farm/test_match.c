/* Which devices a job fits, and what is told where none does or a file is not here; what a build's label
 * stands for; a gate that gives the device back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/loop.h"
#include "base/mem.h"
#include "farm/farm_impl.h"
#include "store/files.h"

struct bed {
    char dir[32], *db, *work;
    struct qs_farm_config *config;
    struct qs_loop *loop;
    struct qs_store *store;
    struct qs_files *files;
    struct qs_farm *farm;
    struct qs_buf told;
    int64_t job;
    const struct qs_farm_device *unplug; /* when the next job begins */
};

static void on_stopped(void *user)
{
    qs_loop_stop(((struct bed *)user)->loop);
}

static void on_event(const struct qs_farm_event *event, void *user)
{
    struct bed *b = user;
    if (strcmp(event->kind, "job.state") == 0 && b->unplug) {
        qs_farm_lost(b->unplug, b->farm);
        b->unplug = NULL;
    }
    if (strcmp(event->kind, "job.state") == 0)
        qs_buf_fmt(&b->told, "%lld %s\n", (long long)event->job, event->body_json);
    else if (strcmp(event->kind, "gate.timeout") == 0)
        qs_buf_fmt(&b->told, "%lld gate at %lld ms\n", (long long)event->job,
                   (long long)(event->wall_ns / 1000000));
}

static void on_idle(void *user)
{
    qs_loop_stop(((struct bed *)user)->loop);
}

static struct qs_doc *doc_of(const char *text)
{
    struct qs_problems problems;
    struct qs_doc *doc = NULL;
    qs_problems_init(&problems);
    assert_true(qs_doc_read("d", text, strlen(text), false, &doc, &problems));
    qs_problems_done(&problems);
    return doc;
}

static struct qs_farm_config *config_of(const char *text)
{
    struct qs_farm_config *config = NULL;
    struct qs_problems problems;
    qs_problems_init(&problems);
    struct qs_doc *doc = doc_of(text);
    assert_true(qs_farm_from_doc(doc, qs_link_check_address, &config, &problems));
    qs_doc_free(doc);
    qs_problems_done(&problems);
    return config;
}

static void bed_begin(struct bed *b, const char *farm_text)
{
    struct qs_err err = QS_ERR_INIT;
    const struct qs_store_events none = {0};
    *b = (struct bed){.dir = "/tmp/quiesce-test-XXXXXX"};
    assert_non_null(mkdtemp(b->dir));
    b->db = qs_asprintf("%s/farm.db", b->dir);
    b->work = qs_asprintf("%s/files", b->dir);
    qs_buf_init(&b->told);
    b->config = config_of(farm_text);
    b->loop = qs_loop_new_virtual(INT64_C(1000000000), 7);
    assert_true(qs_store_open(b->loop, b->db, &none, &b->store, &err));
    assert_non_null(b->files = qs_files_open(b->work, &err));
    const struct qs_farm_parts parts = {
        .loop = b->loop, .store = b->store, .files = b->files, .config = b->config};
    const struct qs_farm_events events = {.on_event = on_event, .on_idle = on_idle, .user = b};
    b->farm = qs_farm_new(&parts, &events);
    assert_true(qs_farm_start(b->farm, &err));
}

static void bed_end(struct bed *b)
{
    qs_farm_stop(b->farm, on_stopped, b);
    qs_loop_run(b->loop);
    qs_store_close(b->store);
    qs_loop_run(b->loop);
    qs_farm_free(b->farm);
    qs_files_close(b->files);
    assert_int_equal(qs_loop_free(b->loop), 0);
    char *command = qs_asprintf("rm -r -- '%s'", b->dir);
    assert_int_equal(system(command), 0);
    free(command);
    free(b->db);
    free(b->work);
    qs_farm_config_free(b->config);
    qs_buf_done(&b->told);
}

static const char three[] = "devices:\n"
                            "  d0: {link: sim, labels: {soc: one, big: ''}}\n"
                            "  d1: {link: sim, labels: {soc: two, so: three}, local: true}\n"
                            "  d2: {link: exec, argv: [/bin/false]}\n";

static void devices_fit_by_their_facts(void **state)
{
    static const struct {
        const char *where, *fits; /* a digit for each that does */
    } rows[] = {
        {"name == \"d1\"", "1"},
        {"name != \"d1\"", "02"},
        {"link == \"sim\"", "01"},
        {"link == \"exec\"", "2"},
        {"local == \"true\"", "12"},
        {"!local", "0"},
        {"label.soc == \"two\"", "1"},
        {"label.soc", "01"},
        {"label.so == \"three\"", "1"},
        {"label.big == \"\"", "0"},
        {"label.bi", ""},
        {"label.socx", ""},
        {"label.soc == \"three\"", ""},
        {"name == \"d0\" || name == \"d2\"", "02"},
    };
    struct bed b;
    (void)state;
    bed_begin(&b, three);
    char fits[4];
    for (size_t i = 0; i <= sizeof rows / sizeof *rows; i++) {
        bool all = i == sizeof rows / sizeof *rows;
        struct qs_job_spec spec = {.where = all ? NULL : (char *)rows[i].where};
        const char *want = all ? "012" : rows[i].fits;
        size_t n;
        struct qs_inventory_item **found = qs_farm_match(b.farm, &spec, &n);
        assert_in_range(n, 0, 3);
        for (size_t f = 0; f < n; f++)
            fits[f] = found[f]->config->name[1];
        fits[n] = '\0';
        free(found);
        if (strcmp(fits, want) != 0)
            fail_msg("%s: %s in place of %s", all ? "all" : rows[i].where, fits, want);
    }
    bed_end(&b);
}

/* The problems of a submission, one a line. */
static void problems_of(struct bed *b, const char *text, const struct qs_job_file *files, size_t count,
                        const char *want)
{
    struct qs_buf told;
    const struct qs_submission sub = {.text = text,
                                      .text_bytes = strlen(text),
                                      .name = "j",
                                      .files = files,
                                      .file_count = count,
                                      .only_looked_at = !files};
    struct qs_prepared *p = qs_farm_prepare(b->farm, &sub);
    const struct qs_problems *problems = qs_prepared_problems(p);
    qs_buf_init(&told);
    assert_int_equal(qs_farm_check(b->farm, p), want[0] == '\0');
    for (size_t i = 0; i < problems->count; i++)
        qs_buf_fmt(&told, "%s (%s)\n", problems->at[i].what,
                   problems->at[i].suggestion ? problems->at[i].suggestion : "");
    assert_string_equal(told.data, want);
    qs_prepared_free(p);
    qs_buf_done(&told);
}

static void what_is_missing_is_told(void **state)
{
    static const char text[] = "quiesce: 1\nbenchmarks: [{name: x, argv: [x], inputs: {a: p/a, b: p/b}}]\n";
    struct qs_job_file files[] = {{.path = (char *)"p/a"}, {.path = (char *)"p/b"}};
    struct qs_err err = QS_ERR_INIT;
    union qs_msg m;
    struct bed b;
    (void)state;
    bed_begin(&b, three);
    problems_of(&b, "quiesce: 1\nbenchmarks: [{name: x, argv: [x]}]\ndevices: {where: name == \"d7\"}\n",
                NULL, 0, "no device of this farm fits `name == \"d7\"` (the farm has: d0, d1, d2)\n");
    problems_of(&b, text, files, 0,
                "no hash was given for the file `p/a` (send its hash with the job)\n"
                "no hash was given for the file `p/b` (send its hash with the job)\n");
    memset(files[0].sha256, 'a', 64);
    assert_true(qs_files_put(b.files, "abc", 3, files[1].sha256, &err));
    problems_of(&b, text, files, 2,
                "the content of the file `p/a` is not here (upload it first: PUT /api/v1/files/HASH)\n");
    memcpy(files[0].sha256, files[1].sha256, 65);
    problems_of(&b, text, files, 2, "");
    problems_of(&b, text, NULL, 0, ""); /* only looked at: nothing is bound */
    assert_false(qs_farm_ask(b.farm, "d7", QS_MSG_CLEAN, &m, NULL, NULL, &err));
    assert_int_equal(err.code, QS_E_NOT_FOUND);
    bed_end(&b);
}

/* By another program: printf 'a\n0400\n%s\nb\n0500\n%s\n' aa.. bb.. | sha256sum */
static void a_build_is_its_files(void **state)
{
    struct qs_job_file files[2] = {{.name = (char *)"b", .executable = true}, {.name = (char *)"a"}};
    struct qs_job_arm arm = {.files = files, .file_count = 2};
    struct qs_buf out;
    (void)state;
    memset(files[0].sha256, 'b', 64);
    memset(files[1].sha256, 'a', 64);
    qs_buf_init(&out);
    qs_farm_build_content(&arm, &out);
    assert_string_equal(out.data, "d7bbd2edbd3af1f11da6e0eaaf9e94fb77b979fdabe02271dd00acb7f25faac0");
    qs_buf_done(&out);
}

static void on_submitted(const struct qs_err *err, int64_t id, void *user)
{
    assert_null(err);
    ((struct bed *)user)->job = id;
}

static void submit(struct bed *b, const char *name, const char *more)
{
    struct qs_err err = QS_ERR_INIT;
    char *text = qs_asprintf("quiesce: 1\nname: %s\nbenchmarks: [{name: x, argv: [sim, '1000000', exact]}]\n"
                             "plan: {blocks: 2, window: {iterations: 2}}\n%s",
                             name, more);
    const struct qs_submission sub = {.text = text, .text_bytes = strlen(text), .name = "j"};
    struct qs_prepared *p = qs_farm_prepare(b->farm, &sub);
    assert_true(qs_farm_submit(b->farm, p, "me", NULL, on_submitted, b, &err));
    qs_prepared_free(p);
    free(text);
}

static void on_cancelled(const struct qs_err *err, int64_t id, void *user)
{
    (void)id;
    (void)user;
    assert_null(err);
}

static void on_time(void *user)
{
    qs_loop_stop(((struct bed *)user)->loop);
}

/* Three jobs on one device; the gates of the first and the last never open. */
static void gives_back(const char *how, int position)
{
    static const char want[] = "1 {\"state\":\"running\",\"reason\":null}\n"
                               "1 gate at 2001 ms\n"
                               "2 {\"state\":\"running\",\"reason\":null}\n"
                               "2 {\"state\":\"done\",\"reason\":\"blocks\"}\n"
                               "3 {\"state\":\"running\",\"reason\":null}\n"
                               "3 gate at 4009 ms\n"
                               "1 gate at 33001 ms\n"
                               "3 gate at 36009 ms\n"
                               "1 gate at 64002 ms\n"
                               "3 gate at 68010 ms\n"
                               "%d gate given back by its gate; it will be tried again\n"
                               "1 {\"state\":\"cancelled\",\"reason\":\"enough\"}\n"
                               "3 {\"state\":\"cancelled\",\"reason\":\"enough\"}\n";
    struct bed b;
    struct qs_err err = QS_ERR_INIT;
    QS_BUF(text);
    bed_begin(&b, "devices: {d0: {link: sim}}\n");
    char *gate = qs_asprintf(
        "conditions: {gate: [{sensor: cpu.busy_ratio_ppm, above: 99%%, timeout: 1s, on_timeout: %s}]}\n",
        how);
    submit(&b, "first", gate);
    submit(&b, "second", "");
    submit(
        &b, "third",
        "conditions: {gate: [{sensor: cpu.busy_ratio_ppm, above: 99%, timeout: 2s, on_timeout: defer}]}\n");
    (void)qs_timer_start(b.loop, INT64_C(80000000000), on_time, &b);
    qs_loop_run(b.loop);
    const struct qs_farm_why why = qs_farm_why(b.farm, 1, &text);
    qs_buf_fmt(&b.told, "%lld %s %s\n", (long long)why.position, why.code, text.data);
    assert_true(qs_farm_cancel(b.farm, 1, "enough", on_cancelled, &b, &err) &&
                qs_farm_cancel(b.farm, 3, "enough", on_cancelled, &b, &err));
    qs_loop_run(b.loop);
    char *expected = qs_asprintf(want, position);
    assert_string_equal(b.told.data, expected);
    free(expected);
    free(gate);
    bed_end(&b);
}

static void a_gate_gives_the_device_back(void **state)
{
    (void)state;
    gives_back("requeue", 1);
    gives_back("defer", 0);
}

static int64_t unread_job; /* its runs cannot be read */

bool __real_qs_read_measured_runs(struct qs_store_reader *r, int64_t job, struct qs_measured_runs *ret,
                                  struct qs_err *err);
bool __wrap_qs_read_measured_runs(struct qs_store_reader *r, int64_t job, struct qs_measured_runs *ret,
                                  struct qs_err *err);

bool __wrap_qs_read_measured_runs(struct qs_store_reader *r, int64_t job, struct qs_measured_runs *ret,
                                  struct qs_err *err)
{
    return job == unread_job ? qs_fail(err, QS_E_STORE, "no page for them")
                             : __real_qs_read_measured_runs(r, job, ret, err);
}

/* One device gives the second job back, and what it has measured cannot be read: the job has failed, and ends
 * with its other device, whose gate would give it back too. */
static void a_job_that_is_not_read_back_ends_with_its_last_device(void **state)
{
    static const char gate[] =
        "%sconditions: {gate: [{sensor: cpu.busy_ratio_ppm, above: 99%%, timeout: %ds, "
        "on_timeout: defer}]}\n";
    struct bed b;
    struct qs_err err = QS_ERR_INIT;
    (void)state;
    bed_begin(&b, "devices: {d0: {link: sim}, d1: {link: sim}}\n");
    char *first = qs_asprintf(gate, "devices: {where: name == \"d1\"}\n", 50);
    char *second = qs_asprintf(gate, "devices: {take: all}\n", 60);
    submit(&b, "first", first);
    submit(&b, "second", second);
    unread_job = 2;
    (void)qs_timer_start(b.loop, INT64_C(120000000000), on_time, &b);
    qs_loop_run(b.loop);
    unread_job = 0;
    assert_true(qs_farm_cancel(b.farm, 1, "enough", on_cancelled, &b, &err));
    qs_loop_run(b.loop);
    assert_string_equal(b.told.data, "2 {\"state\":\"running\",\"reason\":null}\n"
                                     "1 {\"state\":\"running\",\"reason\":null}\n"
                                     "1 gate at 51001 ms\n"
                                     "2 gate at 61001 ms\n"
                                     "2 gate at 111001 ms\n"
                                     "2 {\"state\":\"failed\",\"reason\":\"no page for them\"}\n"
                                     "1 {\"state\":\"cancelled\",\"reason\":\"enough\"}\n");
    free(first);
    free(second);
    bed_end(&b);
}

static void on_cleaned(const struct qs_err *err, const union qs_msg *reply, void *user)
{
    assert_null(err);
    qs_buf_fmt(&((struct bed *)user)->told, "cleaned %llu\n", (unsigned long long)reply->cleaned.freed_bytes);
}

static void run_a_second(struct bed *b)
{
    (void)qs_timer_start(b->loop, INT64_C(1000000000), on_time, b);
    qs_loop_run(b->loop);
}

/* Plugged in while the daemon runs; unplugged under a job; and plugged in again. */
static void devices_come_and_go(void **state)
{
    struct bed b;
    struct qs_farm_config *found = config_of("devices: {d9: {link: sim}, d0: {link: sim}}\n");
    const struct qs_farm_device *d9 = &found->devices[0];
    (void)state;
    bed_begin(&b, "devices: {d0: {link: sim}}\n");
    qs_farm_found(&found->devices[1], b.farm); /* declared: that one stays as it is */
    qs_farm_lost(&found->devices[1], b.farm);
    qs_farm_found(d9, b.farm);
    qs_farm_found(d9, b.farm);
    assert_int_equal(qs_inventory_count(b.farm->inventory), 2);
    const struct qs_inventory_handle handle = qs_inventory_find(b.farm->inventory, "d9", NULL)->handle;
    b.unplug = d9;
    submit(&b, "first", "devices: {where: name == \"d9\"}\n");
    qs_loop_run(b.loop);
    assert_null(b.unplug);
    assert_string_equal(b.told.data, "1 {\"state\":\"running\",\"reason\":null}\n"
                                     "1 {\"state\":\"done\",\"reason\":\"blocks\"}\n");
    run_a_second(&b);
    assert_null(qs_inventory_at(b.farm->inventory, handle));
    assert_int_equal(qs_inventory_count(b.farm->inventory), 1);
    problems_of(&b, "quiesce: 1\nbenchmarks: [{name: x, argv: [x]}]\ndevices: {where: name == \"d9\"}\n",
                NULL, 0, "no device of this farm fits `name == \"d9\"` (the farm has: d0)\n");
    qs_farm_found(d9, b.farm);
    qs_farm_lost(d9, b.farm);
    qs_farm_found(d9, b.farm); /* gone for a moment only */
    run_a_second(&b);
    assert_int_equal(qs_inventory_find(b.farm->inventory, "d9", NULL)->handle.generation,
                     handle.generation + 1);
    qs_buf_clear(&b.told);
    submit(&b, "second", "devices: {take: all}\n");
    qs_loop_run(b.loop);
    assert_string_equal(b.told.data, "2 {\"state\":\"running\",\"reason\":null}\n"
                                     "2 {\"state\":\"done\",\"reason\":\"blocks\"}\n");
    bed_end(&b);
    qs_farm_config_free(found);
}

/* A device whose cache is cleaned is nobody's: not for another cleaning, and not for a job. */
static void no_job_begins_while_a_cache_is_cleaned(void **state)
{
    union qs_msg all = {.clean = {.what = QS_CLEAN_ALL}};
    struct bed b;
    struct qs_err err = QS_ERR_INIT;
    (void)state;
    bed_begin(&b, "devices: {d0: {link: sim}}\n");
    run_a_second(&b);
    submit(&b, "first", "");
    assert_true(qs_farm_ask(b.farm, "d0", QS_MSG_CLEAN, &all, on_cleaned, &b, &err));
    assert_false(qs_farm_ask(b.farm, "d0", QS_MSG_CLEAN, &all, on_cleaned, &b, &err));
    assert_int_equal(err.code, QS_E_CONFLICT);
    assert_non_null(strstr(err.text, "d0 is busy"));
    qs_loop_run(b.loop);
    assert_string_equal(b.told.data, "cleaned 0\n"
                                     "1 {\"state\":\"running\",\"reason\":null}\n"
                                     "1 {\"state\":\"done\",\"reason\":\"blocks\"}\n");
    bed_end(&b);
}

/* Who is refused, and does not ask again, is in nobody's way. */
static void a_refused_request_does_not_wait_for_the_hub(void **state)
{
    union qs_msg all = {.clean = {.what = QS_CLEAN_ALL}};
    struct bed b;
    struct qs_err err = QS_ERR_INIT;
    const char *why;
    (void)state;
    bed_begin(&b, "devices: {d0: {link: sim, hub: desk}, d1: {link: sim, hub: desk}}\n");
    run_a_second(&b);
    struct qs_hub_user *first = &qs_inventory_find(b.farm->inventory, "d0", NULL)->hub;
    assert_true(qs_hub_take(b.farm->hub, first, QS_HUB_WINDOW, qs_loop_now_ns(b.loop), &why));
    assert_false(qs_farm_ask(b.farm, "d1", QS_MSG_CLEAN, &all, on_cleaned, &b, &err));
    assert_int_equal(err.code, QS_E_CONFLICT);
    assert_false(qs_inventory_find(b.farm->inventory, "d1", NULL)->hub.waits);
    qs_hub_give(b.farm->hub, first);
    assert_true(qs_hub_take(b.farm->hub, first, QS_HUB_WINDOW, qs_loop_now_ns(b.loop), &why));
    qs_hub_give(b.farm->hub, first);
    bed_end(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(devices_fit_by_their_facts),
        cmocka_unit_test(what_is_missing_is_told),
        cmocka_unit_test(a_build_is_its_files),
        cmocka_unit_test(a_gate_gives_the_device_back),
        cmocka_unit_test(devices_come_and_go),
        cmocka_unit_test(no_job_begins_while_a_cache_is_cleaned),
        cmocka_unit_test(a_refused_request_does_not_wait_for_the_hub),
        cmocka_unit_test(a_job_that_is_not_read_back_ends_with_its_last_device),
    };
    return cmocka_run_group_tests_name("match", tests, NULL, NULL);
}
