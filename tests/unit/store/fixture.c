#include "fixture.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"

static int order;

void on_told(const struct qs_err *err, int64_t id, void *user)
{
    struct told *told = user;
    assert_true(!err || err->code != QS_E_NONE); /* what fails says how */
    told->count++;
    told->order = ++order;
    told->code = err ? err->code : QS_E_NONE;
    told->id = id;
    snprintf(told->text, sizeof told->text, "%s", err ? err->text : "");
}

void on_fine(const struct qs_err *err, int64_t id, void *user)
{
    if (err)
        fail_msg("%s", err->text);
    if (user)
        *(int64_t *)user = id;
}

static void on_trouble(const struct qs_err *err, void *user)
{
    assert_int_equal(err->code, QS_E_STORE);
    ((struct fixture *)user)->troubles++;
}

static void on_recovered(void *user)
{
    ((struct fixture *)user)->recoveries++;
}

/* How many descriptors are open. */
static int count_fds(void)
{
    int n = 0;
    DIR *d = opendir("/proc/self/fd");
    assert_non_null(d);
    while (readdir(d))
        n++;
    closedir(d);
    return n;
}

void fixture_init(struct fixture *f)
{
    memset(f, 0, sizeof *f);
    f->fds = count_fds();
    snprintf(f->dir, sizeof f->dir, "/tmp/qs-store-XXXXXX");
    assert_non_null(mkdtemp(f->dir));
    snprintf(f->path, sizeof f->path, "%s/q.db", f->dir);
    f->loop = qs_loop_new_virtual(1700000000000000000, 7);
}

void fixture_open(struct fixture *f)
{
    struct qs_err err = QS_ERR_INIT;
    struct qs_store_events events = {.on_trouble = on_trouble, .on_recovered = on_recovered, .user = f};
    if (!qs_store_open(f->loop, f->path, &events, &f->store, &err))
        fail_msg("%s", err.text);
}

void fixture_close(struct fixture *f)
{
    qs_store_close(f->store);
    f->store = NULL;
    qs_loop_run(f->loop);
}

void fixture_done(struct fixture *f)
{
    fixture_close(f);
    assert_int_equal(qs_loop_free(f->loop), 0);
    assert_int_equal(count_fds(), f->fds); /* all are closed */
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", f->dir);
    assert_int_equal(system(command), 0);
}

void fixture_world(struct fixture *f)
{
    struct qs_device_row device = {.name = "bench", .serial = "S1", .port_path = "", .profile = "local"};
    struct qs_boot_row boot = {.device = "bench",
                               .boot_uuid = "boot-1",
                               .fingerprint_json = "{\"cpu\":\"x\"}",
                               .clock = "monotonic_raw",
                               .seen_wall_ns = 5};
    struct qs_arm_row arms[] = {{.name = "a", .argv_json = "[\"gzip\",\"-1\"]"},
                                {.name = "b", .argv_json = "[\"gzip\",\"-6\"]"}};
    struct qs_point_row point = {
        .benchmark = "gzip", .params_json = "{}", .conditions_json = "{}", .label = "gzip"};
    struct qs_job_row job = {.idem = "key-1",
                             .owner = "me",
                             .name = "first",
                             .spec_json = "{\"x\":1}",
                             .seed = 0xfedcba9876543210,
                             .submitted_wall_ns = 10,
                             .arms = arms,
                             .arm_count = 2,
                             .points = &point,
                             .point_count = 1};
    qs_store_device(f->store, &device, on_fine, NULL);
    qs_store_boot(f->store, &boot, on_fine, NULL);
    qs_store_submit(f->store, &job, on_fine, &f->job);
    qs_loop_run(f->loop);
    struct qs_session_row session = {.uid = {99},
                                     .job = f->job,
                                     .device = "bench",
                                     .boot_uuid = "boot-1",
                                     .env_json = "{\"kernel\":\"6.1\"}",
                                     .started_wall_ns = 20};
    qs_store_session_begin(f->store, &session, on_fine, NULL);
    qs_loop_run(f->loop);
}

int fixture_setup(void **state)
{
    struct fixture *f = malloc(sizeof *f);
    fixture_init(f);
    fixture_open(f);
    fixture_world(f);
    *state = f;
    return 0;
}

int fixture_teardown(void **state)
{
    fixture_done(*state);
    free(*state);
    return 0;
}

int fixture_setup_files(void **state, struct qs_files **ret_files)
{
    struct qs_err err;
    fixture_setup(state);
    const struct fixture *f = *state;
    char *dir = qs_asprintf("%s.files", f->path);
    *ret_files = qs_files_open(dir, &err);
    free(dir);
    return *ret_files ? 0 : -1;
}

int fixture_teardown_files(void **state, struct qs_files *files)
{
    qs_files_close(files);
    return fixture_teardown(state);
}

void run_begin(struct fixture *f, uint8_t run, uint32_t arm, uint32_t block, uint32_t pos)
{
    struct qs_run_row row = {.uid = {run},
                             .session_uid = {99},
                             .job = f->job,
                             .arm = arm,
                             .block = block,
                             .pos = pos,
                             .started_wall_ns = 30};
    qs_store_run_begin(f->store, &row, on_fine, NULL);
    qs_loop_run(f->loop);
}

struct qs_window_row make_window(uint8_t run, uint32_t ord, uint64_t first_seq, size_t n,
                                 struct qs_iteration_row *rows)
{
    static const char *const metrics[] = {"user_time_us", "max_rss_bytes", "energy_uj"};
    for (size_t i = 0; i < n; i++) {
        int64_t seq = (int64_t)(first_seq + i);
        rows[i] = (struct qs_iteration_row){.start_off_ns = 1000 * (int64_t)i,
                                            .duration_ns = 1000000 + 1000 * run + seq};
        rows[i].values[0] = 10 + seq;
        rows[i].values[1] = 4096 * (1 + seq);
        rows[i].values[2] = seq % 2 ? INT64_MIN : -seq;
    }
    return (struct qs_window_row){.run_uid = {run},
                                  .ord = ord,
                                  .phase = QS_PHASE_MEASURE,
                                  .first_seq = first_seq,
                                  .opened_ns = 1000 + (int64_t)first_seq,
                                  .closed_ns = 900000 + (int64_t)first_seq,
                                  .evals = 1,
                                  .silence = QS_SILENCE_CLAIMED,
                                  .how = "done",
                                  .metrics = metrics,
                                  .metric_count = 3,
                                  .iterations = rows,
                                  .n = n};
}

enum qs_errc put_window(struct fixture *f, const struct qs_window_row *w)
{
    struct told told = {0};
    qs_store_window(f->store, w, on_told, &told);
    qs_loop_run(f->loop);
    assert_int_equal(told.count, 1);
    return told.code;
}

uint64_t file_sum(const char *path)
{
    FILE *in = fopen(path, "rb");
    if (!in)
        return 0;
    uint64_t sum = 1469598103934665603u; /* FNV-1a */
    for (int c = getc(in); c != EOF; c = getc(in))
        sum = (sum ^ (unsigned)c) * 1099511628211u;
    fclose(in);
    return sum;
}
