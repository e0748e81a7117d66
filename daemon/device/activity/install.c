/* Mode app: before a run its app, and its test, are on the device with the content that its arm has, compiled
 * as the job wants; at the end what the job has brought is taken away. Android's own commands do it. */
#include "device/activity/activity.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "device/board/package.h"
#include "device/job/events.h"
#include "device/job/impl.h"

enum stage { LOOK, SUM, REMOVE, PUT, DUMP, COMPILE, DUMP_AGAIN, TAKE_AWAY, PUT_BACK };

struct app {
    char *package;   /* owned */
    char sha256[65]; /* what is there, "": not known */
    bool ready;      /* in this session: looked at, and compiled as wanted */
    bool ours;       /* it was not there before the job, or the job has replaced what was */
    bool keep;
    char was[QS_PACKAGE_WORD_BYTES]; /* how it was compiled before the job compiled it; "": as it is */
};

struct install {
    struct app *apps; /* owned */
    size_t count;
    bool test; /* whose turn it is: the app's, or its test's */
    size_t at; /* in apps: that in hand */
    enum stage stage;
    bool on; /* its command runs */
    uint32_t id;
    char *path; /* owned: where the device has it */
};

static struct install *mine(const struct qs_job_run *job)
{
    return job->activities[QS_ACTIVITY_INSTALL];
}

static void go_on(struct qs_job_run *job);
static void next_app(struct qs_job_run *job);
static void begin(struct qs_job_run *job, const char *package);

/* ---- what the run needs ---- */

static const struct qs_job_android *android_of(const struct qs_job_run *job)
{
    return &qs_job_run_benchmark(job)->android;
}

static const struct qs_job_file *file_of(const struct qs_job_run *job)
{
    return qs_job_apk(job->p.spec, qs_schedule_arm(&job->schedule),
                      job->p.spec->points[job->schedule.point].benchmark, mine(job)->test);
}

static struct app *in_hand(const struct qs_job_run *job)
{
    return &mine(job)->apps[mine(job)->at];
}

static void take_in_hand(struct qs_job_run *job, const char *package)
{
    struct install *s = mine(job);
    for (s->at = 0; s->at < s->count; s->at++)
        if (strcmp(s->apps[s->at].package, package) == 0)
            break;
    if (s->at == s->count) {
        s->apps = qs_grow(s->apps, s->count, sizeof *s->apps);
        s->apps[s->count++] = (struct app){.package = qs_strdup(package)};
    }
    s->apps[s->at].keep = s->apps[s->at].keep || android_of(job)->keep;
}

/* ---- outcomes ---- */

static bool is_end(const struct qs_job_run *job)
{
    return mine(job)->stage >= TAKE_AWAY;
}

static void fail(struct qs_job_run *job, const struct qs_err *err)
{
    qs_job_run_fail(job, err);
    qs_job_run_tell(job, &qs_step_install, QS_JI_FAIL);
}

/* What Android says is told in its own words: they name what is wrong, and can be searched for. */
static void blame(struct qs_job_run *job, const struct qs_msg_hook_done *m, const char *what,
                  const char *advice)
{
    struct qs_err err = QS_ERR_INIT;
    char how[128];
    QS_BUF(said);
    qs_text_escape(&said, m->output.n ? m->output.p : "", (size_t)qs_job_run_quoted(m->output));
    qs_fail(&err, QS_E_PRECONDITION, "%s: `%s` %s%s%s%s%s%s", job->p.device, what,
            m->how == QS_HOOK_EXITED && m->code == 0 ? "did not say Success"
                                                     : qs_hook_how(m, how, sizeof how),
            said.len ? ": " : "", said.len ? said.data : "", advice ? " (" : "", advice ? advice : "",
            advice ? ")" : "");
    if (!is_end(job)) {
        fail(job, &err);
        return;
    }
    qs_job_event_warning(job, "%s, going on", err.text);
    next_app(job);
}

static bool says(const struct qs_msg_hook_done *m, const char *word)
{
    return m->output.n > 0 && memmem(m->output.p, m->output.n, word, strlen(word)) != NULL;
}

static bool went_well(const struct qs_msg_hook_done *m)
{
    return m->how == QS_HOOK_EXITED && m->code == 0;
}

/* ---- each step's answer ---- */

/* "package:/data/app/.../base.apk", a line for each part. Parts are never what a job has: it installs one. */
static char *path_in(struct qs_text text)
{
    static const char key[] = "package:";
    const char *at = text.n ? memmem(text.p, text.n, key, sizeof key - 1) : NULL;
    if (at == NULL)
        return NULL;
    at += sizeof key - 1;
    size_t left = text.n - (size_t)(at - text.p), n = 0;
    while (n < left && at[n] != '\n' && at[n] != '\r')
        n++;
    bool parts = memmem(at + n, left - n, key, sizeof key - 1) != NULL;
    return parts ? qs_strdup("") : qs_strndup(at, n);
}

static void enter(struct qs_job_run *job, enum stage stage)
{
    mine(job)->stage = stage;
    go_on(job);
}

static void looked(struct qs_job_run *job, const struct qs_msg_hook_done *m)
{
    struct install *s = mine(job);
    free(s->path);
    s->path = path_in(m->output);
    if (m->how != QS_HOOK_EXITED || (!s->path && m->output.n > 0 && m->code != 0)) {
        blame(job, m, "pm path", "mode `app` needs an Android device");
        return;
    }
    if (!s->path && file_of(job) == NULL) {
        struct qs_err err = QS_ERR_INIT;
        qs_fail(&err, QS_E_PRECONDITION,
                "%s has no app %s: install it, or write `apk` or `test_apk` so that the job brings it",
                job->p.device, in_hand(job)->package);
        fail(job, &err);
        return;
    }
    in_hand(job)->ours = in_hand(job)->ours || !s->path;
    enter(job, !s->path ? PUT : file_of(job) ? SUM : DUMP);
}

/* One of the contents that this job installs: an earlier life of the daemon has left it. */
static bool is_of_job(const struct qs_job_spec *spec, const char *sha256)
{
    for (size_t i = 0; i < spec->path_count; i++)
        if (strcmp(qs_job_file_at(spec, i)->sha256, sha256) == 0)
            return true;
    return false;
}

static void summed(struct qs_job_run *job, const struct qs_msg_hook_done *m)
{
    struct app *app = in_hand(job);
    uint8_t bytes[QS_SHA256_BYTES];
    struct qs_err err = QS_ERR_INIT;
    char sha256[65] = "";
    if (went_well(m) && m->output.n >= sizeof sha256 - 1)
        memcpy(sha256, m->output.p, sizeof sha256 - 1);
    if (!qs_unhex(sha256, bytes, sizeof bytes))
        sha256[0] = '\0';
    if (strcmp(sha256, file_of(job)->sha256) == 0) {
        memcpy(app->sha256, sha256, sizeof sha256);
        enter(job, DUMP);
        return;
    }
    bool left = job->p.earlier && job->p.earlier->count > 0 && is_of_job(job->p.spec, sha256);
    if (!app->ours && !left && !android_of(job)->replace) {
        qs_fail(
            &err, QS_E_PRECONDITION,
            "%s has %s already, with another content than the job's: uninstall it there, or write `replace: "
            "true`, which takes it away with its data",
            job->p.device, app->package);
        fail(job, &err);
        return;
    }
    app->ours = true;
    app->ready = false;
    enter(job, REMOVE);
}

/* Known from the line that the device writes itself. */
static const char *advice_for(const struct qs_msg_hook_done *m)
{
    static const struct {
        const char *said, *advice;
    } rows[] = {{"INSTALL_FAILED_INSUFFICIENT_STORAGE", "make room on the device"},
                {"INSTALL_FAILED_NO_MATCHING_ABIS", "build the app for the device's processor"},
                {"INSTALL_FAILED_OLDER_SDK", "its minSdk is above the device's Android"},
                {"INSTALL_PARSE_FAILED_NO_CERTIFICATES", "sign the APK"},
                {"INSTALL_FAILED_USER_RESTRICTED", "allow `Install via USB` in the developer options"},
                {"INSTALL_FAILED_VERIFICATION_FAILURE",
                 "switch off `Verify apps over USB` in the developer options"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (says(m, rows[i].said))
            return rows[i].advice;
    return NULL;
}

static void keep_fact(struct qs_job_run *job, const struct qs_package *is)
{
    const struct qs_job_spec *spec = job->p.spec;
    const struct app *app = in_hand(job);
    QS_BUF(key);
    QS_BUF(value);
    qs_buf_fmt(&key, "app %s", app->package);
    if (spec->arm_count > 1)
        qs_buf_fmt(&key, " (%s)", spec->arms[qs_schedule_arm(&job->schedule)].name);
    qs_package_put(is, &value);
    if (app->sha256[0])
        qs_buf_fmt(&value, ", sha256 %.12s", app->sha256);
    (void)qs_activity_session_fact(job, key.data, value.data);
}

/* Debug builds are slower in ways of their own; a test package may be one, as the app that it drives is not.
 */
static bool judge(struct qs_job_run *job, const struct qs_package *is, struct qs_err *err)
{
    const struct qs_job_android *a = android_of(job);
    const char *name = in_hand(job)->package, *device = job->p.device;
    if (!is->installed)
        return qs_fail(err, QS_E_PRECONDITION, "`dumpsys package %s` on %s does not know it", name, device);
    if (strcmp(name, a->package) != 0)
        return true;
    if (!is->has_flags && !a->allow_debuggable)
        return qs_fail(
            err, QS_E_PRECONDITION,
            "%s does not say whether %s may be debugged (`dumpsys package %s` has no `flags=`): write "
            "`allow_debuggable: true` to measure it all the same",
            device, name, name);
    if (is->debuggable && !a->allow_debuggable)
        return qs_fail(err, QS_E_PRECONDITION,
                       "%s is a build that may be debugged, which is slower in its own ways: build it with "
                       "`debuggable false` and `profileable`, or write `allow_debuggable: true`",
                       name);
    return true;
}

static bool is_compiled(struct qs_job_run *job, const struct qs_package *is)
{
    const struct qs_job_android *a = android_of(job);
    return !a->compile || strcmp(in_hand(job)->package, a->package) != 0 ||
           strcmp(is->compiled, a->compile) == 0;
}

static void dumped(struct qs_job_run *job, const struct qs_msg_hook_done *m)
{
    struct install *s = mine(job);
    struct app *app = in_hand(job);
    struct qs_package is;
    struct qs_err err = QS_ERR_INIT;
    if (!went_well(m)) {
        blame(job, m, "dumpsys package", NULL);
        return;
    }
    qs_package_read(m->output.p, m->output.n, app->package, &is);
    bool compiled = is_compiled(job, &is);
    if (compiled || s->stage == DUMP_AGAIN)
        keep_fact(job, &is);
    if (!judge(job, &is, &err)) {
        fail(job, &err);
    } else if (compiled) {
        app->ready = true;
        next_app(job);
    } else if (s->stage == DUMP) {
        if (app->was[0] == '\0' && !app->ours)
            memcpy(app->was, is.compiled, sizeof app->was);
        enter(job, COMPILE);
    } else {
        qs_fail(&err, QS_E_PRECONDITION,
                "%s on %s is compiled as `%s` after `cmd package compile -m %s -f`%s", app->package,
                job->p.device, is.compiled[0] ? is.compiled : "unknown", android_of(job)->compile,
                strstr(android_of(job)->compile, "profile")
                    ? ": without a profile of its use there is nothing to compile: let the APK have a "
                      "baseline profile"
                    : ": the device does not know it, or does not compile this app");
        fail(job, &err);
    }
}

static void on_said(const union qs_msg *reply, const struct qs_err *refused, void *user)
{
    struct qs_job_run *job = user;
    struct install *s = mine(job);
    const struct qs_msg_hook_done *m = &reply->hook_done;
    (void)refused; /* it is about no run: it cannot be */
    if (!s->on)
        return;
    s->on = false;
    bool success = went_well(m) && says(m, "Success");
    switch (s->stage) {
    case LOOK:
        looked(job, m);
        break;
    case SUM:
        summed(job, m);
        break;
    case REMOVE:
        success ? enter(job, PUT) : blame(job, m, "pm uninstall", "is it an app of the system?");
        break;
    case PUT:
        if (!success) {
            blame(job, m, "pm install", advice_for(m));
            break;
        }
        memcpy(in_hand(job)->sha256, file_of(job)->sha256, sizeof in_hand(job)->sha256);
        enter(job, DUMP);
        break;
    case COMPILE:
        success ? enter(job, DUMP_AGAIN) : blame(job, m, "cmd package compile", NULL);
        break;
    case DUMP:
    case DUMP_AGAIN:
        dumped(job, m);
        break;
    case TAKE_AWAY:
    case PUT_BACK:
        success ? next_app(job)
                : blame(job, m, s->stage == TAKE_AWAY ? "pm uninstall" : "cmd package compile", NULL);
        break;
    }
}

/* ---- the steps ---- */

enum { WORDS = 7 };
#define END_LIMIT_NS INT64_C(300000000000)

/* The command of the step in hand. */
static size_t words_of(const struct qs_job_run *job, const char *argv[WORDS], struct qs_buf *apk)
{
    const struct install *s = mine(job);
    const struct app *app = in_hand(job);
    const char *const rows[][WORDS] = {
        [LOOK] = {"pm", "path", app->package},
        [SUM] = {"sha256sum", s->path},
        [REMOVE] = {"pm", "uninstall", app->package},
        [PUT] = {"pm", "install", "-t", apk->data},
        [DUMP] = {"dumpsys", "package", app->package},
        [COMPILE] = {"cmd", "package", "compile", "-m", is_end(job) ? "" : android_of(job)->compile, "-f",
                     app->package},
        [DUMP_AGAIN] = {"dumpsys", "package", app->package},
        [TAKE_AWAY] = {"pm", "uninstall", app->package},
        [PUT_BACK] = {"cmd", "package", "compile", "-m", app->was, "-f", app->package}};
    size_t n = 0;
    for (; n < WORDS && rows[s->stage][n] != NULL; n++)
        argv[n] = rows[s->stage][n];
    return n;
}

static void go_on(struct qs_job_run *job)
{
    struct install *s = mine(job);
    const char *argv[WORDS];
    struct qs_err err = QS_ERR_INIT;
    QS_BUF(apk);
    if (!is_end(job) && qs_job_run_over(job)) {
        qs_job_run_tell(job, &qs_step_install, QS_JI_RUN_OVER);
        return;
    }
    if (s->stage == PUT)
        qs_buf_fmt(&apk, "%s/%s", qs_activity_files_dir(job, qs_schedule_arm(&job->schedule)),
                   file_of(job)->name);
    size_t n = words_of(job, argv, &apk);
    s->on = true;
    int64_t limit_ns = is_end(job) ? END_LIMIT_NS : qs_job_run_benchmark(job)->hook_limit_ns;
    if (!qs_job_run_send_look(job, ++s->id, limit_ns, (char *const *)argv, n, on_said, &err))
        qs_job_run_unsent(job, &err);
}

/* The test follows its app; then what is left to be put back, one after the other. */
static void next_app(struct qs_job_run *job)
{
    struct install *s = mine(job);
    if (is_end(job)) {
        for (s->at++; s->at < s->count; s->at++) {
            const struct app *app = in_hand(job);
            if ((app->ours && !app->keep) || app->was[0]) {
                enter(job, app->ours && !app->keep ? TAKE_AWAY : PUT_BACK);
                return;
            }
        }
        qs_job_run_tell(job, &qs_step_uninstall, QS_JI_DONE);
        return;
    }
    const char *test = android_of(job)->test_package;
    if (s->test || !test) {
        qs_job_run_tell(job, &qs_step_install, QS_JI_DONE);
        return;
    }
    s->test = true;
    begin(job, test);
}

static void begin(struct qs_job_run *job, const char *package)
{
    take_in_hand(job, package);
    const struct qs_job_file *file = file_of(job);
    if (in_hand(job)->ready && (!file || strcmp(in_hand(job)->sha256, file->sha256) == 0))
        next_app(job);
    else
        enter(job, LOOK);
}

static void install(struct qs_job_run *job)
{
    struct install *s = mine(job);
    if (qs_job_run_benchmark(job)->mode != QS_MODE_APP) {
        qs_job_run_tell(job, &qs_step_install, QS_JI_DONE);
        return;
    }
    s->stage = LOOK;
    s->test = false;
    begin(job, android_of(job)->package);
}

static void uninstall(struct qs_job_run *job)
{
    struct install *s = mine(job);
    s->stage = TAKE_AWAY;
    s->at = SIZE_MAX;
    if (qs_session_is_ready(job->p.session))
        next_app(job);
    else
        qs_job_run_tell(job, &qs_step_uninstall, QS_JI_DONE);
}

/* Whatever happens to the device while it is away: it is looked at again. */
static void stop(struct qs_job_run *job, const char *why)
{
    struct install *s = mine(job);
    (void)why;
    s->on = false;
    for (size_t i = 0; i < s->count; i++) {
        s->apps[i].ready = false;
        s->apps[i].sha256[0] = '\0';
    }
}

static void done(struct qs_job_run *job)
{
    struct install *s = mine(job);
    for (size_t i = 0; i < s->count; i++)
        free(s->apps[i].package);
    free(s->apps);
    free(s->path);
}

const struct qs_step qs_step_install = {.start = install};
const struct qs_step qs_step_uninstall = {.start = uninstall};
const struct qs_activity qs_activity_install = {
    .state_bytes = sizeof(struct install), .stop = stop, .done = done};
