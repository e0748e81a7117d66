/* Files to the device, one step after the other: HAVE for all of them, PUT for each that is missing, STAGE
 * for each arm; at the session's end CLEAN. The farm's token for a transfer is held while anything moves, and
 * lent to whoever else wants it between two files and within a large one. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/loop.h"
#include "base/mem.h"
#include "base/text.h"
#include "device/activity/activity.h"
#include "device/activity/programs.h"
#include "device/job/impl.h"
#include "device/job/events.h"
#include "store/files.h"

enum { BLOCK_BYTES = 256 * 1024 };
#define BATCH_BYTES (INT64_C(256) << 20) /* of one HAVE: the agent may sum all of it up before it answers */
#define YIELD_BYTES (UINT64_C(64) << 20) /* of one file, before others get their turn */

struct file { /* one content */
    struct qs_content content;
    char sha256[65];
    bool missing;
};

struct reading {            /* a file of the store, and a block of it */
    struct qs_job_run *job; /* NULL: nobody waits for it any more */
    int fd;                 /* owned */
    bool working;           /* on the pool */
    uint64_t left_bytes;    /* not yet read */
    uint64_t taken;         /* by the agent */
    uint64_t unyielded_bytes;
    size_t at, n;
    bool failed;
    char block[BLOCK_BYTES];
};

enum step {
    QS_PUSH_IDLE,
    QS_PUSH_ASK,   /* what is there: HAVE */
    QS_PUSH_SEND,  /* what is not: PUT */
    QS_PUSH_STAGE, /* where it lies */
    QS_PUSH_CLEAN
};

struct files {
    enum step step;
    bool asked;            /* an answer is due */
    bool begun;            /* this session has something to clean up */
    struct file *contents; /* owned: each one once */
    size_t count;
    size_t next, batch;              /* of files: the next one; how many the last HAVE named */
    size_t arm, place, batch_places; /* where STAGE stands; how many the last one named */
    size_t dir_count;
    char **dirs; /* owned, per arm: the directory on the device, or NULL */
    size_t missing;
    int64_t missing_bytes, began_ns;
    struct reading *read; /* owned: the file in hand and its block; on the pool or not */
};

static struct files *mine(const struct qs_job_run *job)
{
    return job->activities[QS_ACTIVITY_FILES];
}

static void go_on(struct qs_job_run *job);
static qs_session_reply on_having, on_put_at, on_staged, on_cleaned;

static void over(struct qs_job_run *job, enum qs_job_run_input input)
{
    struct files *p = mine(job);
    p->step = QS_PUSH_IDLE;
    p->asked = false;
    qs_job_run_give_token(job);
    qs_job_run_feed(job, input);
}

static void fail(struct qs_job_run *job, const struct qs_err *err)
{
    if (err->code == QS_E_CONFLICT) /* no mistake of the operator's */
        qs_session_drop(job->p.session, err);
    if (err->code == QS_E_CONFLICT || err->code == QS_E_LINK) /* the link tells of itself */
        return;
    qs_job_run_fail(job, err);
    over(job, job->state == QS_JS_TIDY ? QS_JI_DONE : QS_JI_FAIL);
}

static void refused_by_agent(struct qs_job_run *job, enum qs_errc code, const char *what, struct qs_text said)
{
    struct qs_err err = QS_ERR_INIT;
    QS_BUF(why);
    qs_text_escape(&why, said.p ? said.p : "", said.n);
    qs_fail(&err, code, "%s: %s: %s", job->p.device, what, why.data);
    fail(job, &err);
}

static bool add_file(struct qs_job_run *job, const struct qs_job_file *of, struct qs_err *err)
{
    struct files *p = mine(job);
    int64_t bytes = 0;
    for (size_t i = 0; i < p->count; i++)
        if (strcmp(p->contents[i].sha256, of->sha256) == 0 &&
            ((p->contents[i].content.flags & QS_FILE_EXECUTABLE) != 0) == of->executable)
            return true;
    int fd = qs_files_get(job->p.files, of->sha256, &bytes, err);
    if (fd < 0)
        return qs_fail_prefix(err, "%s", of->name);
    close(fd);
    p->contents = qs_grow(p->contents, p->count, sizeof *p->contents);
    struct file *file = &p->contents[p->count++];
    *file = (struct file){
        .content = {.bytes = (uint64_t)bytes, .flags = of->executable ? QS_FILE_EXECUTABLE : 0}};
    memcpy(file->sha256, of->sha256, sizeof file->sha256);
    return qs_unhex(of->sha256, file->content.sha256, sizeof file->content.sha256) ||
           qs_fail(err, QS_E_INTERNAL, "%s: `%s` is not a hash", of->name, of->sha256);
}

/* Files of the arm: the inputs of all benchmarks, then its build's. NULL behind the last. */
static const struct qs_job_file *file_of(const struct qs_job_run *job, size_t arm, size_t i)
{
    const struct qs_job_spec *spec = job->p.spec;
    for (size_t b = 0; b < spec->benchmark_count; b++) {
        if (i < spec->benchmarks[b].input_count)
            return &spec->benchmarks[b].inputs[i];
        i -= spec->benchmarks[b].input_count;
    }
    return i < spec->arms[arm].file_count ? &spec->arms[arm].files[i] : NULL;
}

static bool collect(struct qs_job_run *job, struct qs_err *err)
{
    for (size_t a = 0; a < job->p.spec->arm_count; a++) {
        const struct qs_job_file *file;
        for (size_t i = 0; (file = file_of(job, a, i)); i++)
            if (!add_file(job, file, err))
                return false;
    }
    return true;
}

static void ask(struct qs_job_run *job)
{
    struct files *p = mine(job);
    uint8_t memory[QS_FILES_MAX * 48];
    struct qs_build list;
    struct qs_err err = QS_ERR_INIT;
    int64_t bytes = 0;
    qs_build_init(&list, memory, sizeof memory);
    for (p->batch = 0; p->next + p->batch < p->count && p->batch < QS_FILES_MAX; p->batch++) {
        const struct qs_content *content = &p->contents[p->next + p->batch].content;
        bytes += (int64_t)content->bytes;
        if (p->batch > 0 && bytes > BATCH_BYTES)
            break;
        qs_build_content(&list, content);
    }
    const struct qs_msg_have m = {.id = qs_session_next_file_id(job->p.session),
                                  .files = qs_build_list(&list)};
    p->begun = p->asked = true;
    if (!qs_job_run_call(job, QS_MSG_HAVE, &m, 0, on_having, &err))
        fail(job, &err);
}

static void on_having(const union qs_msg *reply, const struct qs_err *refused, void *user)
{
    struct qs_job_run *job = user;
    struct files *p = mine(job);
    (void)refused; /* files are about no run: it cannot be */
    struct qs_iter it = qs_list_iter(&reply->having.missing);
    uint16_t i;
    if (p->step != QS_PUSH_ASK || !p->asked)
        return;
    p->asked = false;
    while (qs_list_u16(&it, &i)) {
        if (i >= p->batch || p->contents[p->next + i].missing)
            continue;
        p->contents[p->next + i].missing = true;
        p->missing++;
        p->missing_bytes += (int64_t)p->contents[p->next + i].content.bytes;
    }
    p->next += p->batch;
    if (p->next == p->count) {
        p->next = 0;
        p->step = QS_PUSH_SEND;
        qs_job_event_push(job, p->missing, p->missing_bytes, p->count - p->missing);
    }
    go_on(job);
}

/* ---- PUT ---- */

static void close_read(struct qs_job_run *job)
{
    struct reading *r = mine(job)->read;
    mine(job)->read = NULL;
    if (r && r->working) { /* freed when it comes back */
        r->job = NULL;
    } else if (r) {
        close(r->fd);
        free(r);
    }
}

static void read_block(void *user)
{
    struct reading *r = user;
    size_t want = r->left_bytes < sizeof r->block ? (size_t)r->left_bytes : sizeof r->block;
    r->at = r->n = 0;
    while (r->n < want) {
        ssize_t got = read(r->fd, r->block + r->n, want - r->n);
        if (got <= 0)
            break;
        r->n += (size_t)got;
    }
    r->failed = r->n < want;
    r->left_bytes -= r->n;
}

static void on_block(void *user)
{
    struct reading *r = user;
    struct qs_err err = QS_ERR_INIT;
    r->working = false;
    if (!r->job) {
        close(r->fd);
        free(r);
    } else if (r->failed) {
        qs_fail(&err, QS_E_IO, "an uploaded file cannot be read to its end");
        fail(r->job, &err);
    } else {
        go_on(r->job);
    }
}

/* Sends what there is room for; reads on when the block is out. */
static void pump(struct qs_job_run *job)
{
    struct reading *r = mine(job)->read;
    struct qs_err err = QS_ERR_INIT;
    size_t room = qs_session_push_room(job->p.session);
    while (!r->working && r->at < r->n && room > 0) {
        size_t piece = r->n - r->at < room ? r->n - r->at : room;
        if (!qs_session_push_data(job->p.session, r->block + r->at, piece, &err)) {
            fail(job, &err);
            return;
        }
        r->at += piece;
        r->unyielded_bytes += piece;
        room = qs_session_push_room(job->p.session);
    }
    if (r->working || r->at < r->n || r->left_bytes == 0)
        return;
    bool arrived =
        mine(job)->contents[mine(job)->next].content.bytes - r->left_bytes - r->taken < QS_PUT_TOLD_BYTES;
    if (r->unyielded_bytes >= YIELD_BYTES && arrived) { /* whoever waits for the hub may have it */
        r->unyielded_bytes = 0;
        qs_job_run_give_token(job);
    }
    if (r->unyielded_bytes < YIELD_BYTES && qs_job_run_has_token(job, go_on)) {
        r->working = true;
        qs_loop_work(job->p.loop, QS_LANE_QUICK, read_block, on_block, r);
    }
}

static void begin_file(struct qs_job_run *job, const struct file *file)
{
    struct qs_err err = QS_ERR_INIT;
    int64_t bytes = 0;
    struct reading *r = qs_calloc(1, sizeof *r);
    r->job = job;
    r->fd = qs_files_get(job->p.files, file->sha256, &bytes, &err);
    r->left_bytes = file->content.bytes;
    if (r->fd < 0) {
        free(r);
        fail(job, &err);
        return;
    }
    mine(job)->read = r;
    mine(job)->asked = true;
    const struct qs_msg_put m = {.id = qs_session_next_file_id(job->p.session), .file = file->content};
    if (!qs_job_run_call(job, QS_MSG_PUT, &m, 0, on_put_at, &err))
        fail(job, &err);
}

static void send_next(struct qs_job_run *job)
{
    struct files *p = mine(job);
    while (p->next < p->count && !p->contents[p->next].missing)
        p->next++;
    if (p->next < p->count) {
        begin_file(job, &p->contents[p->next]);
        return;
    }
    int64_t elapsed_ns = qs_loop_now_ns(job->p.loop) - p->began_ns;
    if (p->missing > 0)
        qs_job_event_pushed(job, p->missing, p->missing_bytes, elapsed_ns);
    p->step = QS_PUSH_STAGE;
    go_on(job);
}

static void on_put_at(const union qs_msg *reply, const struct qs_err *refused, void *user)
{
    struct qs_job_run *job = user;
    const struct qs_msg_put_at *m = &reply->put_at;
    struct files *p = mine(job);
    (void)refused; /* files are about no run: it cannot be */
    if (p->step != QS_PUSH_SEND || !p->read)
        return;
    if (m->status == QS_PUT_MORE) {
        p->read->taken = m->offset;
        go_on(job);
        return;
    }
    close_read(job);
    p->asked = false;
    if (m->status == QS_PUT_KEPT) {
        p->next++;
        qs_job_run_give_token(job);
        go_on(job);
    } else {
        bool full = m->status == QS_PUT_NO_SPACE;
        refused_by_agent(job, full ? QS_E_SPACE : QS_E_AGENT,
                         full ? "no space for the job's files" : "the job's files cannot be kept", m->why);
    }
}

static void stage(struct qs_job_run *job)
{
    struct files *p = mine(job);
    uint8_t memory[QS_STAGE_MAX_BYTES];
    struct qs_build list;
    struct qs_err err = QS_ERR_INIT;
    const struct qs_job_file *file = NULL;
    while (p->arm < job->p.spec->arm_count && !file_of(job, p->arm, p->place)) {
        p->arm++;
        p->place = 0;
    }
    if (p->arm == job->p.spec->arm_count) {
        over(job, QS_JI_DONE);
        return;
    }
    qs_build_init(&list, memory, sizeof memory);
    for (p->batch_places = 0; p->batch_places < QS_FILES_MAX; p->batch_places++) {
        file = file_of(job, p->arm, p->place + p->batch_places);
        if (!file || list.w.len + strlen(file->name) + QS_SHA256_BYTES + 3 > sizeof memory)
            break;
        struct qs_place place = {.name = qs_text_of(file->name),
                                 .flags = file->executable ? QS_FILE_EXECUTABLE : 0};
        qs_unhex(file->sha256, place.sha256, sizeof place.sha256);
        qs_build_place(&list, &place);
    }
    const struct qs_msg_stage m = {.id = qs_session_next_file_id(job->p.session),
                                   .dir = (uint16_t)p->arm,
                                   .places = qs_build_list(&list)};
    p->asked = true;
    if (!qs_job_run_call(job, QS_MSG_STAGE, &m, 0, on_staged, &err))
        fail(job, &err);
}

static void on_staged(const union qs_msg *reply, const struct qs_err *refused, void *user)
{
    struct qs_job_run *job = user;
    const struct qs_msg_staged *m = &reply->staged;
    struct files *p = mine(job);
    (void)refused; /* files are about no run: it cannot be */
    if (p->step != QS_PUSH_STAGE || !p->asked)
        return;
    p->asked = false;
    if (m->status != QS_STAGED_OK) {
        refused_by_agent(job, m->status == QS_STAGED_NO_SPACE ? QS_E_SPACE : QS_E_AGENT,
                         "the job's files cannot be laid out", m->why);
        return;
    }
    free(p->dirs[p->arm]);
    p->dirs[p->arm] = qs_malloc(m->path.n + 1U);
    qs_text_copy(m->path, p->dirs[p->arm], m->path.n + 1U);
    p->place += p->batch_places;
    go_on(job);
}

/* ---- the steps ---- */

static void clean(struct qs_job_run *job)
{
    struct qs_err err = QS_ERR_INIT;
    const struct qs_msg_clean m = {.id = qs_session_next_file_id(job->p.session), .what = QS_CLEAN_SESSION};
    mine(job)->asked = true;
    if (!qs_job_run_call(job, QS_MSG_CLEAN, &m, 0, on_cleaned, &err) && err.code != QS_E_LINK)
        over(job, QS_JI_DONE);
}

static void go_on(struct qs_job_run *job)
{
    struct files *p = mine(job);
    if (p->step != QS_PUSH_CLEAN && qs_job_run_over(job)) {
        over(job, QS_JI_POINT_OVER);
        return;
    }
    if (p->step == QS_PUSH_IDLE || !qs_job_run_has_token(job, go_on))
        return;
    switch (p->step) {
    case QS_PUSH_IDLE:
        break;
    case QS_PUSH_ASK:
        ask(job);
        break;
    case QS_PUSH_SEND:
        p->read ? pump(job) : send_next(job);
        break;
    case QS_PUSH_STAGE:
        stage(job);
        break;
    case QS_PUSH_CLEAN:
        clean(job);
        break;
    }
}

static void forget(struct qs_job_run *job)
{
    struct files *p = mine(job);
    for (size_t a = 0; a < p->dir_count; a++) /* the job's spec may be gone already */
        free(p->dirs[a]);
    free(p->dirs);
    free(p->contents);
    *p = (struct files){.step = QS_PUSH_IDLE};
}

const char *qs_activity_files_dir(const struct qs_job_run *job, size_t arm)
{
    const struct files *p = mine(job);
    return p->dirs ? p->dirs[arm] : NULL;
}

static void push(struct qs_job_run *job)
{
    struct files *p = mine(job);
    struct qs_err err = QS_ERR_INIT;
    forget(job);
    p->dir_count = job->p.spec->arm_count;
    p->dirs = qs_calloc(p->dir_count, sizeof(char *));
    p->began_ns = qs_loop_now_ns(job->p.loop);
    if (!qs_programs_fit(job, &err) || !collect(job, &err)) {
        fail(job, &err);
    } else if (p->count == 0) {
        over(job, QS_JI_DONE);
    } else {
        p->step = QS_PUSH_ASK;
        go_on(job);
    }
}

/* What is asked is answered soon; a file on its way is given up. */
static void cancel(struct qs_job_run *job)
{
    struct files *p = mine(job);
    if (!p->asked || p->step == QS_PUSH_SEND) {
        close_read(job);
        over(job, QS_JI_POINT_OVER);
    }
}

static void tidy(struct qs_job_run *job)
{
    close_read(job);
    mine(job)->step = QS_PUSH_CLEAN;
    if (mine(job)->begun && qs_session_is_ready(job->p.session))
        go_on(job);
    else
        over(job, QS_JI_DONE);
}

static void on_cleaned(const union qs_msg *reply, const struct qs_err *refused, void *user)
{
    struct qs_job_run *job = user;
    struct files *p = mine(job);
    (void)refused; /* files are about no run: it cannot be */
    if (p->step != QS_PUSH_CLEAN || !p->asked)
        return;
    p->begun = false;
    if (reply->cleaned.changed > 0)
        qs_job_event_warning(
            job, "a program has written into %u of the files that it was given: other arms may have seen it",
            (unsigned)reply->cleaned.changed);
    over(job, QS_JI_DONE);
}

static void stop(struct qs_job_run *job, const char *why)
{
    struct files *p = mine(job);
    (void)why;
    close_read(job);
    p->step = QS_PUSH_IDLE;
}

const struct qs_step qs_step_push = {.start = push, .cancel = cancel};
const struct qs_step qs_step_tidy = {.start = tidy};
const struct qs_activity qs_activity_files = {
    .state_bytes = sizeof(struct files), .stop = stop, .done = forget};
