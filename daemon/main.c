/* The composition root: builds every part with what it needs, runs the loop, takes them down in reverse. A
 * list, no logic. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api/api.h"
#include "api/socket.h"
#include "api/yield.h"
#include "base/folder.h"
#include "base/process.h"
#include "base/json.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/mem.h"
#include "config/farm/farm.h"
#include "config/document/load.h"
#include "config/options.h"
#include "device/job/run.h"
#include "device/session/session.h"
#include "farm/farm.h"
#include "farm/say.h"
#include "farm/simulate.h"
#include "link/link.h"
#include "store/files.h"
#include "store/read/files.h"
#include "store/store.h"

enum { EXIT_OK = 0, EXIT_USAGE = 2, EXIT_INFRASTRUCTURE = 3 };
#define SLOW_NS INT64_C(100000000)  /* a callback that takes so long is told */
#define IDLE_NS INT64_C(5000000000) /* an embedded daemon waits so long for somebody to need it */

struct app {
    struct qs_options opt;
    struct qs_loop *loop;
    struct qs_log *log;
    struct qs_farm_config *config;
    char *state_dir, *db, *socket, *contact, *files_dir, *agent;
    struct qs_store *store;
    struct qs_files *files;
    struct qs_farm *farm;
    struct qs_api *api;
    struct qs_signal *signals[2];
    struct qs_timer *idle_timer;
    struct qs_input *input; /* of a daemon that reads: its end */
    struct qs_heir heir;
    size_t clients;
    bool serving, stopping, yields;
};

static void stop_all(struct app *app);

static void look_idle(void *user);

static void on_idle_long(void *user)
{
    struct app *app = user;
    app->idle_timer = NULL;
    if (app->yields && app->clients > 0 && qs_api_is_working(app->api))
        look_idle(app); /* an answer is on its way */
    else
        stop_all(app);
}

/* An embedded daemon lives as long as somebody uses it, or until it may yield: those who only listen then
 * find the next one. */
static void look_idle(void *user)
{
    struct app *app = user;
    bool idle =
        app->yields ? !qs_farm_is_working(app->farm) : app->clients == 0 && qs_farm_live_jobs(app->farm) == 0;
    if (!app->opt.embedded || app->stopping || (idle && app->yields && app->clients > 0 && app->idle_timer))
        return;
    qs_timer_stop(app->idle_timer);
    app->idle_timer = NULL;
    if (idle)
        app->idle_timer =
            qs_timer_start(app->loop, app->yields && app->clients == 0 ? 0 : IDLE_NS, on_idle_long, app);
}

static void on_clients(size_t count, void *user)
{
    struct app *app = user;
    app->clients = count;
    look_idle(app);
}

static bool on_yield(void *user)
{
    struct app *app = user;
    if (!app->yields)
        qs_log(app->log, QS_LOG_INFO, "main", "another quiesced wants to take over: no more job begins here");
    app->yields = true;
    qs_farm_yield(app->farm);
    look_idle(app);
    return qs_farm_is_working(app->farm);
}

static void on_farm_event(const struct qs_farm_event *event, void *user)
{
    struct app *app = user;
    if (app->api)
        qs_api_on_farm_event(app->api, event);
}

static void on_silence(bool silent, void *user)
{
    struct app *app = user;
    if (app->api)
        qs_api_on_silence(app->api, silent);
}

static bool is_answering(void *user)
{
    const struct app *app = user;
    return app->api && qs_api_is_answering(app->api);
}

static void on_store_trouble(const struct qs_err *err, void *user)
{
    struct app *app = user;
    qs_log(app->log, QS_LOG_ERROR, "store", "%s: %s, reopening", err->text, qs_errc_advice(err->code));
}

static void on_store_recovered(void *user)
{
    struct app *app = user;
    qs_log(app->log, QS_LOG_INFO, "store", "%s can be written again", app->db);
}

static void on_store_log(int64_t bytes, const char *notice, void *user)
{
    struct app *app = user;
    qs_log(app->log, notice ? QS_LOG_WARN : QS_LOG_INFO, "store", "%s (%lld bytes)",
           notice ? notice : "the log has room again", (long long)bytes);
}

static void on_signal(int signum, void *user)
{
    struct app *app = user;
    qs_log(app->log, QS_LOG_INFO, "main", "signal=%d ending; live jobs continue after the next start",
           signum);
    stop_all(app);
}

/* The problems of the file go to stderr as they are: they are the message. */
static bool load_config(const char *path, struct qs_farm_config **ret, struct qs_err *err)
{
    QS_BUF(problems);
    bool ok = qs_load_farm(path, qs_link_check_address, ret, &problems, err);
    fputs(problems.data, stderr);
    return ok;
}

static char *first_of(const char *a, const char *b, char *otherwise)
{
    if (!a && !b)
        return otherwise;
    free(otherwise);
    return qs_strdup(a ? a : b);
}

static bool open_config(struct app *app, struct qs_err *err)
{
    static const char *const agents[] = {"quiesce-agent-static", "../agent/quiesce-agent-static",
                                         "quiesce-agent", "../agent/quiesce-agent", NULL};
    app->agent = first_of(app->opt.agent, NULL, qs_program_beside(agents, "quiesce-agent"));
    if (!app->opt.config)
        app->config = qs_farm_default(app->agent);
    else if (!load_config(app->opt.config, &app->config, err))
        return false;
    QS_FREED char *beside = qs_folder_of(app->agent);
    qs_farm_set_agents(app->config, beside);
    const char *db = app->opt.db ? app->opt.db : app->config->db;
    char *usual = qs_folder_of_state(getenv);
    app->state_dir = first_of(app->config->state_dir, NULL, usual || !db ? usual : qs_folder_of(db));
    if (!app->state_dir)
        return qs_fail(
            err, QS_E_STORE_PLACE,
            "neither HOME nor XDG_STATE_HOME says where the database belongs, and user %u has no home folder",
            (unsigned)geteuid());
    app->db = first_of(app->opt.db, app->config->db, qs_asprintf("%s/quiesce.db", app->state_dir));
    app->socket = first_of(app->opt.socket, app->config->socket, qs_path_socket(getenv, (unsigned)getuid()));
    app->contact = qs_listen_contact(app->socket);
    return true;
}

static bool open_loop(struct app *app, struct qs_err *err)
{
    app->loop = qs_loop_new_real(err);
    return app->loop != NULL;
}

static void on_slow(const struct qs_loop_slow *slow, void *user)
{
    struct app *app = user;
    qs_log(app->log, QS_LOG_WARN, "loop",
           "a callback of the loop took %lld ms of processor time (%lld ms by the clock): %s%s%s; everything "
           "else waited",
           (long long)(slow->cpu_ns / 1000000), (long long)(slow->wall_ns / 1000000), slow->where,
           slow->doing ? ", " : "", slow->doing ? slow->doing : "");
}

static bool open_log(struct app *app, struct qs_err *err)
{
    (void)err;
    app->log = qs_log_new(stderr, app->opt.log_level, app->loop);
    qs_log_bound(app->log, app->opt.embedded ? QS_LOG_FILE_BYTES : 0);
    qs_loop_watch(app->loop, SLOW_NS, on_slow, app);
    return true;
}

static bool open_store(struct app *app, struct qs_err *err)
{
    const struct qs_store_events events = {on_store_trouble, on_store_recovered, on_store_log, app,
                                           app->contact};
    if (app->opt.reading)
        return qs_store_open_reading(app->loop, app->db, &app->store, err);
    QS_FREED char *folder = qs_folder_of(app->db);
    return qs_folder_make(folder, err) && qs_store_open(app->loop, app->db, &events, &app->store, err);
}

static bool open_files(struct app *app, struct qs_err *err)
{
    app->files_dir = qs_asprintf("%s.files", qs_store_path(app->store));
    app->files =
        app->opt.reading ? qs_files_open_reading(app->files_dir) : qs_files_open(app->files_dir, err);
    return app->files != NULL;
}

static bool read_uses(struct qs_store_reader *reader, void *user, struct qs_err *err)
{
    return qs_read_file_uses(reader, user, err);
}

/* Before anybody is served: who is told that a file is here must find it. A day is time enough for a client
 * that has uploaded and not yet submitted. */
static bool sweep_files(struct app *app, struct qs_err *err)
{
    const int64_t day_ns = INT64_C(86400) * 1000000000;
    struct qs_file_uses uses;
    if (app->opt.reading)
        return true;
    if (!qs_store_read_now(app->store, read_uses, &uses, err))
        return false;
    struct qs_swept swept =
        qs_files_sweep(app->files, qs_file_is_used, &uses, qs_loop_wall_ns(app->loop) - day_ns);
    if (swept.files > 0)
        qs_log(app->log, QS_LOG_INFO, "main", "removed %zu files that no job or run refers to, %lld bytes",
               swept.files, (long long)swept.bytes);
    qs_file_uses_free(&uses);
    return true;
}

static bool open_farm(struct app *app, struct qs_err *err)
{
    const struct qs_farm_parts parts = {.loop = app->loop,
                                        .store = app->store,
                                        .files = app->files,
                                        .log = app->log,
                                        .config = app->config,
                                        .base_env = (const char *const *)environ};
    const struct qs_farm_events events = {.on_event = on_farm_event,
                                          .on_idle = look_idle,
                                          .on_silence = on_silence,
                                          .is_answering = is_answering,
                                          .user = app};
    (void)err;
    app->farm = qs_farm_new(&parts, &events);
    return true;
}

static bool open_api(struct app *app, struct qs_err *err)
{
    const struct qs_api_parts parts = {.loop = app->loop,
                                       .farm = app->farm,
                                       .store = app->store,
                                       .files = app->files,
                                       .log = app->log,
                                       .variables = &app->config->variables,
                                       .socket_path = app->socket,
                                       .version = QS_VERSION,
                                       .embedded = app->opt.embedded,
                                       .reading = app->opt.reading};
    const struct qs_api_events events = {.on_clients = on_clients, .on_yield = on_yield, .user = app};
    app->api = qs_api_new(&parts, &events, err);
    return app->api != NULL;
}

static bool start_api(struct app *app, struct qs_err *err)
{
    app->serving = qs_api_start(app->api, err);
    return app->serving;
}

static bool open_signals(struct app *app, struct qs_err *err)
{
    app->signals[0] = qs_signal_start(app->loop, SIGTERM, on_signal, app, err);
    app->signals[1] = qs_signal_start(app->loop, SIGINT, on_signal, app, err);
    return app->signals[0] && app->signals[1];
}

static void on_input_end(void *user)
{
    stop_all(user);
}

static bool open_input(struct app *app, struct qs_err *err)
{
    if (app->opt.reading)
        app->input = qs_input_watch(app->loop, STDIN_FILENO, on_input_end, app, err);
    return !app->opt.reading || app->input || qs_fail_prefix(err, "--reading ends with standard input");
}

/* A daemon that reads has no devices: its farm stays as it is configured, and as people have said. */
static bool start_farm(struct app *app, struct qs_err *err)
{
    if (app->opt.reading)
        return qs_farm_read_words(app->farm, err);
    if (!qs_farm_start(app->farm, err))
        return false;
    qs_log(app->log, QS_LOG_INFO, "main", "version=%s db=%s socket=%s devices=%zu ready", QS_VERSION, app->db,
           app->socket, app->config->device_count);
    look_idle(app);
    return true;
}

static void on_farm_stopped(void *user)
{
    struct app *app = user;
    qs_store_close(app->store); /* what is queued is committed, its callbacks come now */
    app->store = NULL;
    qs_loop_stop(app->loop);
}

static void on_api_stopped(void *user)
{
    struct app *app = user;
    qs_farm_stop(app->farm, on_farm_stopped, app);
}

static void stop_all(struct app *app)
{
    if (app->stopping)
        return;
    app->stopping = true;
    qs_loop_rouse(app->loop);
    qs_timer_stop(app->idle_timer);
    app->idle_timer = NULL;
    qs_api_stop(app->api, on_api_stopped, app);
}

static void close_all(struct app *app)
{
    for (size_t i = 0; i < sizeof app->signals / sizeof *app->signals; i++)
        qs_signal_stop(app->signals[i]);
    qs_input_stop(app->input);
    qs_api_free(app->api);
    if (app->store)
        qs_store_close(app->store);
    qs_farm_free(app->farm);
    if (app->files)
        qs_files_close(app->files);
    qs_farm_config_free(app->config);
    qs_log_free(app->log);
    if (app->loop)
        (void)qs_loop_free(app->loop);
    free(app->state_dir);
    free(app->db);
    free(app->socket);
    free(app->contact);
    free(app->files_dir);
    free(app->agent);
}

static int fail(const struct qs_err *err)
{
    fprintf(stderr, "quiesced: %s\n  %s\n", err->text, qs_errc_advice(err->code));
    return qs_errc_blame(err->code) == QS_BLAME_OPERATOR ? EXIT_USAGE : EXIT_INFRASTRUCTURE;
}

/* What stands in the way of a step may be an embedded daemon that makes room. */
static bool waits(struct app *app, const struct qs_err *why)
{
    return !app->opt.embedded && !app->opt.reading &&
           qs_heir_waits(&app->heir, app->db, app->socket, why, app->log);
}

static int serve(struct app *app)
{
    static bool (*const steps[])(struct app *, struct qs_err *) = {
        open_loop, open_log, open_config, open_store, open_files,   sweep_files,
        open_farm, open_api, open_input,  start_api,  open_signals, start_farm};
    struct qs_err err = QS_ERR_INIT;
    int code = EXIT_OK;
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        bool ok = steps[i](app, &err);
        while (!ok && waits(app, &err))
            ok = steps[i](app, &err);
        if (!ok) {
            code = fail(&err);
            break;
        }
    }
    if (code != EXIT_OK && app->serving)
        stop_all(app);
    if (app->serving)
        qs_loop_run(app->loop);
    close_all(app);
    return code;
}

static int check_config(const char *path)
{
    struct qs_farm_config *config;
    struct qs_err err = QS_ERR_INIT;
    if (!load_config(path, &config, &err))
        return fail(&err);
    QS_BUF(out);
    size_t missing = qs_farm_missing(config, &out);
    fputs(out.data, stderr);
    if (missing == 0)
        printf("%s: ok, %zu device%s\n", path, config->device_count, config->device_count == 1 ? "" : "s");
    else
        fprintf(stderr,
                "quiesced: %s has no mistakes, but %zu of the things that it names %s missing\n  install or "
                "create them, or correct the file\n",
                path, missing, missing == 1 ? "is" : "are");
    qs_farm_config_free(config);
    return missing == 0 ? EXIT_OK : EXIT_USAGE;
}

static int simulate(const struct qs_options *opt)
{
    struct qs_err err = QS_ERR_INIT;
    struct qs_farm_config *config;
    size_t bytes;
    char *job = NULL;
    if (!load_config(opt->simulate, &config, &err))
        return fail(&err);
    QS_BUF(out);
    job = qs_load_text(opt->job, &bytes, &err);
    const struct qs_simulation sim = {.config = config,
                                      .job_text = job,
                                      .job_bytes = bytes,
                                      .job_name = opt->job,
                                      .db = opt->db,
                                      .event_log = opt->event_log,
                                      .seed = opt->seed,
                                      .json = opt->json};
    bool ok = job && qs_simulate(&sim, &out, &err);
    fputs(out.data, stdout);
    free(job);
    qs_farm_config_free(config);
    return ok ? EXIT_OK : fail(&err);
}

static void dump_states(struct qs_buf *out)
{
    qs_buf_str(out, "# session\n");
    qs_session_dump(out);
    qs_buf_str(out, "\n# job run\n");
    qs_job_run_dump(out);
}

static int print(void (*write)(struct qs_buf *out))
{
    QS_BUF(out);
    write(&out);
    fputs(out.data, stdout);
    return EXIT_OK;
}

int main(int argc, char **argv)
{
    struct app app = {0};
    struct qs_err err = QS_ERR_INIT;
    (void)signal(SIGPIPE, SIG_IGN);
    if (!qs_std_fds_fill())
        return EXIT_INFRASTRUCTURE;
    if (!qs_options_parse(argc, argv, &app.opt, &err))
        return fail(&err);
    if (app.opt.help)
        return print(qs_options_help);
    if (app.opt.version) {
        puts("quiesced " QS_VERSION);
        return EXIT_OK;
    }
    if (app.opt.dump_states)
        return print(dump_states);
    if (app.opt.check_config)
        return check_config(app.opt.check_config);
    return app.opt.simulate ? simulate(&app.opt) : serve(&app);
}
