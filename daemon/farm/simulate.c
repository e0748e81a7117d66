#include "farm/simulate.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "base/loop.h"
#include "base/mem.h"
#include "config/job/stored.h"
#include "farm/farm.h"
#include "link/link.h"
#include "report/results.h"
#include "report/shown.h"
#include "store/files.h"
#include "store/read/read.h"

/* 2020-01-01T00:00:00Z: any fixed moment does; a real one would differ from run to run. */
#define START_NS (INT64_C(1577836800) * 1000000000)

struct simulator {
    const struct qs_simulation *sim;
    struct qs_loop *loop;
    struct qs_store *store;
    struct qs_files *files;
    struct qs_farm *farm;
    FILE *log;
    char *db, *files_dir;
    int64_t job;
    bool ran;
    struct qs_err err;
};

static void on_event(const struct qs_farm_event *event, void *user)
{
    struct simulator *s = user;
    if (!s->log)
        return;
    QS_BUF(line);
    struct qs_json j = qs_json_to(&line);
    qs_json_object(&j);
    qs_json_kint(&j, "id", event->id);
    qs_json_kint(&j, "wall_ns", event->wall_ns);
    qs_json_kint(&j, "job", event->job);
    qs_json_kstring(&j, "device", event->device);
    qs_json_kstring(&j, "kind", event->kind);
    qs_json_kraw(&j, "body", event->body_json ? event->body_json : "null");
    qs_json_object_end(&j);
    fprintf(s->log, "%s\n", line.data);
}

static void on_stopped(void *user)
{
    struct simulator *s = user;
    qs_loop_stop(s->loop);
}

static void on_idle(void *user)
{
    struct simulator *s = user;
    qs_farm_stop(s->farm, on_stopped, s);
}

static void on_submitted(const struct qs_err *err, int64_t id, void *user)
{
    struct simulator *s = user;
    s->job = id;
    if (!err)
        return;
    s->err = *err;
    qs_loop_stop(s->loop);
}

static bool submit(struct simulator *s, struct qs_err *err)
{
    const struct qs_submission sub = {
        .text = s->sim->job_text, .text_bytes = s->sim->job_bytes, .name = s->sim->job_name};
    struct qs_prepared *p = qs_farm_prepare(s->farm, &sub);
    bool ok = qs_farm_submit(s->farm, p, "simulation", NULL, on_submitted, s, err);
    if (!ok) {
        QS_BUF(text);
        qs_problems_text(qs_prepared_problems(p), s->sim->job_name, &text);
        fputs(text.data, stderr);
    }
    qs_prepared_free(p);
    return ok;
}

struct reading {
    struct simulator *s;
    struct qs_buf *out;
};

static bool report(struct qs_store_reader *reader, void *user, struct qs_err *err)
{
    struct reading *r = user;
    QS_SCOPED(qs_job_results_done) struct qs_job_results results = {0};
    QS_FREED char *taints = NULL;
    const struct qs_metric_names all = {.names = NULL};
    if (!qs_job_results_open(reader, r->s->job, &results, err) ||
        !qs_job_results_load(reader, &all, &results, err) ||
        !qs_shown_taints(reader, r->s->job, &taints, err))
        return false;
    struct qs_report_input in = qs_job_results_input(&results);
    in.taints_json = taints;
    in.db_path = r->s->sim->db;
    if (!r->s->sim->json) {
        qs_report_lines(&in, r->out);
        return true;
    }
    bool ok = qs_report_compare(&in, r->out, err);
    qs_buf_char(r->out, '\n');
    return ok;
}

static bool all_simulated(const struct qs_farm_config *config, struct qs_err *err)
{
    for (size_t i = 0; i < config->device_count; i++) {
        if (!qs_link_traits(config->devices[i].link)->simulated)
            return qs_fail(err, QS_E_CONFIG,
                           "device %s is real: a simulation has devices with `link: sim` only",
                           config->devices[i].name);
    }
    return config->device_count > 0 ||
           qs_fail(err, QS_E_CONFIG, "a simulation needs at least one device with `link: sim`");
}

static bool open_all(struct simulator *s, struct qs_err *err)
{
    char temporary[] = "/tmp/quiesce-sim-XXXXXX";
    if (s->sim->db) {
        s->db = qs_strdup(s->sim->db);
        if (access(s->db, F_OK) == 0)
            return qs_fail(err, QS_E_USAGE, "%s exists: a simulation writes a database of its own", s->db);
    } else {
        if (!mkdtemp(temporary))
            return qs_fail(err, QS_E_IO, "cannot make a temporary folder: %s", strerror(errno));
        s->db = qs_asprintf("%s/sim.db", temporary);
    }
    s->files_dir = qs_asprintf("%s.files", s->db);
    if (s->sim->event_log && !(s->log = fopen(s->sim->event_log, "we")))
        return qs_fail(err, QS_E_IO, "cannot write %s: %s", s->sim->event_log, strerror(errno));
    s->loop = qs_loop_new_virtual(START_NS, s->sim->seed);
    const struct qs_store_events events = {0};
    if (!qs_store_open(s->loop, s->db, &events, &s->store, err))
        return false;
    s->files = qs_files_open(s->files_dir, err);
    return s->files != NULL;
}

static void remove_temporary(struct simulator *s)
{
    static const char *const ends[] = {"", "-wal", "-shm", ".lock"};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        QS_FREED char *path = qs_asprintf("%s%s", s->db, ends[i]);
        (void)unlink(path);
    }
    (void)rmdir(s->files_dir);
    *strrchr(s->db, '/') = '\0';
    (void)rmdir(s->db);
}

static bool run(struct simulator *s, struct qs_buf *out, struct qs_err *err)
{
    const struct qs_farm_parts parts = {
        .loop = s->loop, .store = s->store, .files = s->files, .config = s->sim->config};
    const struct qs_farm_events events = {.on_event = on_event, .on_idle = on_idle, .user = s};
    s->farm = qs_farm_new(&parts, &events);
    if (!qs_farm_start(s->farm, err) || !submit(s, err))
        return false;
    qs_loop_run(s->loop);
    s->ran = true;
    if (s->err.code != QS_E_NONE) {
        *err = s->err;
        return false;
    }
    struct reading reading = {.s = s, .out = out};
    return qs_store_read_now(s->store, report, &reading, err);
}

bool qs_simulate(const struct qs_simulation *sim, struct qs_buf *out, struct qs_err *err)
{
    struct simulator s = {.sim = sim};
    bool ok = all_simulated(sim->config, err) && open_all(&s, err) && run(&s, out, err);
    if (s.store)
        qs_store_close(s.store);
    if (s.ran)
        qs_loop_run(s.loop); /* what the store has under way lets go of it */
    qs_farm_free(s.farm);
    if (s.files)
        qs_files_close(s.files);
    if (s.loop)
        (void)qs_loop_free(s.loop);
    if (s.log)
        fclose(s.log);
    if (s.db && !sim->db)
        remove_temporary(&s);
    free(s.db);
    free(s.files_dir);
    return ok;
}
