/* Files to the device, one step after the other: HAVE for all of them, PUT for each that is missing, STAGE
 * for each arm; at the session's end CLEAN. The farm's token for a transfer is held while anything moves, and
 * lent to whoever else wants it between two files and within a large one. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/loop.h"
#include "base/mem.h"
#include "base/text.h"
#include "device/control_impl.h"
#include "device/control_news.h"
#include "store/files.h"

enum { BLOCK_BYTES = 256 * 1024 };
#define BATCH_BYTES (INT64_C(256) << 20) /* of one HAVE: the agent may sum all of it up before it answers */
#define YIELD_BYTES (UINT64_C(64) << 20) /* of one file, before others get their turn */

struct qs_push_file { /* one content */
    struct qs_content content;
    char sha256[65];
    bool missing;
};

struct qs_push_read {     /* a file of the store, and a block of it */
    struct qs_control *c; /* NULL: nobody waits for it any more */
    int fd;               /* owned */
    bool working;         /* on the pool */
    uint64_t left_bytes;  /* not yet read */
    uint64_t taken;       /* by the agent */
    uint64_t unyielded_bytes;
    size_t at, n;
    bool failed;
    char block[BLOCK_BYTES];
};

static void go_on(struct qs_control *c);
static qs_session_reply on_having, on_put_at, on_staged, on_cleaned;

static void over(struct qs_control *c, enum qs_control_input input)
{
    struct qs_control_push *p = &c->push;
    qs_timer_stop(p->again);
    p->again = NULL;
    p->step = QS_PUSH_IDLE;
    p->asked = false;
    qs_control_give_token(c);
    qs_control_feed(c, input);
}

static void fail(struct qs_control *c, const struct qs_err *err)
{
    if (err->code == QS_E_LINK) /* the link tells of itself */
        return;
    qs_control_fail(c, err);
    over(c, c->state == QS_CS_TIDY ? QS_CE_TIDIED : QS_CE_FAIL);
}

/* ---- the token ---- */

static void on_again(void *user)
{
    struct qs_control *c = user;
    c->push.again = NULL;
    go_on(c);
}

/* ---- which files ---- */

static bool same(const struct qs_push_file *file, const struct qs_job_file *of)
{
    return strcmp(file->sha256, of->sha256) == 0 &&
           ((file->content.flags & QS_FILE_EXECUTABLE) != 0) == of->executable;
}

static bool add_file(struct qs_control *c, const struct qs_job_file *of, struct qs_err *err)
{
    struct qs_control_push *p = &c->push;
    int64_t bytes = 0;
    for (size_t i = 0; i < p->count; i++) {
        if (same(&p->files[i], of))
            return true;
    }
    int fd = qs_files_get(c->p.files, of->sha256, &bytes, err);
    if (fd < 0)
        return qs_fail_prefix(err, "%s", of->name);
    close(fd);
    p->files = qs_grow(p->files, p->count, sizeof *p->files);
    struct qs_push_file *file = &p->files[p->count++];
    *file = (struct qs_push_file){
        .content = {.bytes = (uint64_t)bytes, .flags = of->executable ? QS_FILE_EXECUTABLE : 0}};
    memcpy(file->sha256, of->sha256, sizeof file->sha256);
    return qs_unhex(of->sha256, file->content.sha256, sizeof file->content.sha256) ||
           qs_fail(err, QS_E_INTERNAL, "%s: `%s` is no hash", of->name, of->sha256);
}

/* Files of the arm: the inputs of all benchmarks, then its build's. NULL behind the last. */
static const struct qs_job_file *file_of(const struct qs_control *c, size_t arm, size_t i)
{
    const struct qs_job_spec *spec = c->p.spec;
    for (size_t b = 0; b < spec->benchmark_count; b++) {
        if (i < spec->benchmarks[b].input_count)
            return &spec->benchmarks[b].inputs[i];
        i -= spec->benchmarks[b].input_count;
    }
    return i < spec->arms[arm].file_count ? &spec->arms[arm].files[i] : NULL;
}

static bool collect(struct qs_control *c, struct qs_err *err)
{
    for (size_t a = 0; a < c->p.spec->arm_count; a++) {
        const struct qs_job_file *file;
        for (size_t i = 0; (file = file_of(c, a, i)); i++) {
            if (!add_file(c, file, err))
                return false;
        }
    }
    return true;
}

/* ---- HAVE ---- */

static void ask(struct qs_control *c)
{
    struct qs_control_push *p = &c->push;
    uint8_t memory[QS_FILES_MAX * 48];
    struct qs_build list;
    struct qs_err err = QS_ERR_INIT;
    int64_t bytes = 0;
    qs_build_init(&list, memory, sizeof memory);
    for (p->batch = 0; p->next + p->batch < p->count && p->batch < QS_FILES_MAX; p->batch++) {
        const struct qs_content *content = &p->files[p->next + p->batch].content;
        bytes += (int64_t)content->bytes;
        if (p->batch > 0 && bytes > BATCH_BYTES)
            break;
        qs_build_content(&list, content);
    }
    const struct qs_msg_have m = {.id = qs_session_next_file_id(c->p.session), .files = qs_build_list(&list)};
    p->begun = p->asked = true;
    if (!qs_control_call(c, QS_MSG_HAVE, &m, 0, on_having, &err))
        fail(c, &err);
}

static void on_having(const union qs_msg *reply, const struct qs_err *refused, void *user)
{
    struct qs_control *c = user;
    const struct qs_msg_having *m = &reply->having;
    (void)refused; /* files are about no run: it cannot be */
    struct qs_control_push *p = &c->push;
    struct qs_iter it = qs_list_iter(&m->missing);
    uint16_t i;
    if (p->step != QS_PUSH_ASK || !p->asked)
        return;
    p->asked = false;
    while (qs_list_u16(&it, &i)) {
        if (i >= p->batch || p->files[p->next + i].missing)
            continue;
        p->files[p->next + i].missing = true;
        p->missing++;
        p->missing_bytes += (int64_t)p->files[p->next + i].content.bytes;
    }
    p->next += p->batch;
    if (p->next == p->count) {
        p->next = 0;
        p->step = QS_PUSH_SEND;
        qs_control_news_push(c);
    }
    go_on(c);
}

/* ---- PUT ---- */

static void close_read(struct qs_control *c)
{
    struct qs_push_read *r = c->push.read;
    c->push.read = NULL;
    if (!r)
        return;
    r->c = NULL;
    if (r->working) /* freed when it comes back */
        return;
    close(r->fd);
    free(r);
}

static void read_block(void *user)
{
    struct qs_push_read *r = user;
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
    struct qs_push_read *r = user;
    struct qs_err err = QS_ERR_INIT;
    r->working = false;
    if (!r->c) {
        close(r->fd);
        free(r);
    } else if (r->failed) {
        qs_fail(&err, QS_E_IO, "an uploaded file cannot be read to its end");
        fail(r->c, &err);
    } else {
        go_on(r->c);
    }
}

/* Sends what there is room for; reads on when the block is out. */
static void pump(struct qs_control *c)
{
    struct qs_push_read *r = c->push.read;
    struct qs_err err = QS_ERR_INIT;
    size_t room = qs_session_push_room(c->p.session);
    while (!r->working && r->at < r->n && room > 0) {
        size_t piece = r->n - r->at < room ? r->n - r->at : room;
        if (!qs_session_push_data(c->p.session, r->block + r->at, piece, &err)) {
            fail(c, &err);
            return;
        }
        r->at += piece;
        r->unyielded_bytes += piece;
        room = qs_session_push_room(c->p.session);
    }
    if (r->working || r->at < r->n || r->left_bytes == 0)
        return;
    bool arrived = c->push.files[c->push.next].content.bytes - r->left_bytes - r->taken < QS_PUT_TOLD_BYTES;
    if (r->unyielded_bytes >= YIELD_BYTES && arrived) { /* whoever waits for the hub may have it */
        r->unyielded_bytes = 0;
        qs_control_give_token(c);
    }
    if (r->unyielded_bytes < YIELD_BYTES && qs_control_has_token(c, &c->push.again, on_again)) {
        r->working = true;
        qs_loop_work(c->p.loop, QS_LANE_QUICK, read_block, on_block, r);
    }
}

static void begin_file(struct qs_control *c, const struct qs_push_file *file)
{
    struct qs_err err = QS_ERR_INIT;
    int64_t bytes = 0;
    struct qs_push_read *r = qs_calloc(1, sizeof *r);
    r->c = c;
    r->fd = qs_files_get(c->p.files, file->sha256, &bytes, &err);
    r->left_bytes = file->content.bytes;
    if (r->fd < 0) {
        free(r);
        fail(c, &err);
        return;
    }
    c->push.read = r;
    c->push.asked = true;
    const struct qs_msg_put m = {.id = qs_session_next_file_id(c->p.session), .file = file->content};
    if (!qs_control_call(c, QS_MSG_PUT, &m, 0, on_put_at, &err))
        fail(c, &err);
}

static void send_next(struct qs_control *c)
{
    struct qs_control_push *p = &c->push;
    while (p->next < p->count && !p->files[p->next].missing)
        p->next++;
    if (p->next < p->count) {
        begin_file(c, &p->files[p->next]);
        return;
    }
    if (p->missing > 0)
        qs_control_news_pushed(c);
    p->step = QS_PUSH_STAGE;
    go_on(c);
}

static void on_put_at(const union qs_msg *reply, const struct qs_err *refused, void *user)
{
    struct qs_control *c = user;
    const struct qs_msg_put_at *m = &reply->put_at;
    (void)refused; /* files are about no run: it cannot be */
    struct qs_control_push *p = &c->push;
    struct qs_err err = QS_ERR_INIT;
    struct qs_buf why;
    if (p->step != QS_PUSH_SEND || !p->read)
        return;
    if (m->status == QS_PUT_MORE) {
        p->read->taken = m->offset;
        go_on(c);
        return;
    }
    close_read(c);
    p->asked = false;
    if (m->status == QS_PUT_KEPT) {
        p->next++;
        qs_control_give_token(c);
        go_on(c);
        return;
    }
    qs_buf_init(&why);
    qs_text_escape(&why, m->why.p ? m->why.p : "", m->why.n);
    qs_fail(&err, m->status == QS_PUT_NO_SPACE ? QS_E_SPACE : QS_E_AGENT, "%s: %s %s", c->p.device,
            m->status == QS_PUT_NO_SPACE ? "no space for the job's files:"
                                         : "the job's files cannot be kept:",
            why.data);
    qs_buf_done(&why);
    fail(c, &err);
}

/* ---- STAGE ---- */

static void stage(struct qs_control *c)
{
    struct qs_control_push *p = &c->push;
    uint8_t memory[QS_STAGE_MAX_BYTES];
    struct qs_build list;
    struct qs_err err = QS_ERR_INIT;
    const struct qs_job_file *file = NULL;
    while (p->arm < c->p.spec->arm_count && !file_of(c, p->arm, p->place)) {
        p->arm++;
        p->place = 0;
    }
    if (p->arm == c->p.spec->arm_count) {
        over(c, QS_CE_FILES_READY);
        return;
    }
    qs_build_init(&list, memory, sizeof memory);
    for (p->batch_places = 0; p->batch_places < QS_FILES_MAX; p->batch_places++) {
        file = file_of(c, p->arm, p->place + p->batch_places);
        if (!file || list.w.len + strlen(file->name) + QS_SHA256_BYTES + 3 > sizeof memory)
            break;
        struct qs_place place = {.name = qs_text_of(file->name),
                                 .flags = file->executable ? QS_FILE_EXECUTABLE : 0};
        qs_unhex(file->sha256, place.sha256, sizeof place.sha256);
        qs_build_place(&list, &place);
    }
    const struct qs_msg_stage m = {
        .id = qs_session_next_file_id(c->p.session), .dir = (uint16_t)p->arm, .places = qs_build_list(&list)};
    p->asked = true;
    if (!qs_control_call(c, QS_MSG_STAGE, &m, 0, on_staged, &err))
        fail(c, &err);
}

static void on_staged(const union qs_msg *reply, const struct qs_err *refused, void *user)
{
    struct qs_control *c = user;
    const struct qs_msg_staged *m = &reply->staged;
    (void)refused; /* files are about no run: it cannot be */
    struct qs_control_push *p = &c->push;
    struct qs_err err = QS_ERR_INIT;
    if (p->step != QS_PUSH_STAGE || !p->asked)
        return;
    p->asked = false;
    if (m->status != QS_STAGED_OK) {
        struct qs_buf why;
        qs_buf_init(&why);
        qs_text_escape(&why, m->why.p ? m->why.p : "", m->why.n);
        qs_fail(&err, m->status == QS_STAGED_NO_SPACE ? QS_E_SPACE : QS_E_AGENT,
                "%s: the job's files cannot be laid out: %s", c->p.device, why.data);
        qs_buf_done(&why);
        fail(c, &err);
        return;
    }
    free(p->dirs[p->arm]);
    p->dirs[p->arm] = qs_malloc(m->path.n + 1U);
    qs_text_copy(m->path, p->dirs[p->arm], m->path.n + 1U);
    p->place += p->batch_places;
    go_on(c);
}

/* ---- the steps ---- */

static void clean(struct qs_control *c)
{
    struct qs_err err = QS_ERR_INIT;
    const struct qs_msg_clean m = {.id = qs_session_next_file_id(c->p.session), .what = QS_CLEAN_SESSION};
    c->push.asked = true;
    if (!qs_control_call(c, QS_MSG_CLEAN, &m, 0, on_cleaned, &err) && err.code != QS_E_LINK)
        over(c, QS_CE_TIDIED);
}

static void go_on(struct qs_control *c)
{
    struct qs_control_push *p = &c->push;
    if (p->step != QS_PUSH_CLEAN && qs_control_over(c)) {
        over(c, QS_CE_POINT_OVER);
        return;
    }
    if (p->step == QS_PUSH_IDLE || !qs_control_has_token(c, &c->push.again, on_again))
        return;
    switch (p->step) {
    case QS_PUSH_IDLE:
        break;
    case QS_PUSH_ASK:
        ask(c);
        break;
    case QS_PUSH_SEND:
        p->read ? pump(c) : send_next(c);
        break;
    case QS_PUSH_STAGE:
        stage(c);
        break;
    case QS_PUSH_CLEAN:
        clean(c);
        break;
    }
}

void qs_control_do_push(struct qs_control *c)
{
    struct qs_control_push *p = &c->push;
    struct qs_err err = QS_ERR_INIT;
    qs_control_push_done(c);
    p->dir_count = c->p.spec->arm_count;
    p->dirs = qs_calloc(p->dir_count, sizeof(char *));
    p->began_ns = qs_loop_now_ns(c->p.loop);
    if (!collect(c, &err)) {
        fail(c, &err);
    } else if (p->count == 0) {
        over(c, QS_CE_FILES_READY);
    } else {
        p->step = QS_PUSH_ASK;
        go_on(c);
    }
}

/* What is asked is answered soon; a file on its way is given up. */
void qs_control_do_cancel_push(struct qs_control *c)
{
    struct qs_control_push *p = &c->push;
    if (p->asked && p->step != QS_PUSH_SEND)
        return;
    close_read(c);
    over(c, QS_CE_POINT_OVER);
}

void qs_control_do_tidy(struct qs_control *c)
{
    close_read(c);
    if (!c->push.begun || !qs_session_is_ready(c->p.session)) {
        over(c, QS_CE_TIDIED);
        return;
    }
    c->push.step = QS_PUSH_CLEAN;
    go_on(c);
}

static void on_cleaned(const union qs_msg *reply, const struct qs_err *refused, void *user)
{
    struct qs_control *c = user;
    const struct qs_msg_cleaned *m = &reply->cleaned;
    (void)refused; /* files are about no run: it cannot be */
    struct qs_control_push *p = &c->push;
    if (p->step != QS_PUSH_CLEAN || !p->asked)
        return;
    p->begun = false;
    if (m->changed > 0)
        qs_control_news_warning(
            c, "a program has written into %u of the files that it was given: other arms may have seen it",
            (unsigned)m->changed);
    over(c, QS_CE_TIDIED);
}

void qs_control_push_stop(struct qs_control *c)
{
    struct qs_control_push *p = &c->push;
    qs_timer_stop(p->again);
    p->again = NULL;
    close_read(c);
    p->step = QS_PUSH_IDLE;
    p->asked = p->begun = false;
}

void qs_control_push_done(struct qs_control *c)
{
    struct qs_control_push *p = &c->push;
    qs_control_push_stop(c);
    for (size_t a = 0; a < p->dir_count; a++) /* the job's spec may be gone already */
        free(p->dirs[a]);
    free(p->dirs);
    free(p->files);
    *p = (struct qs_control_push){.step = QS_PUSH_IDLE};
}

const char *qs_control_push_dir(const struct qs_control *c, size_t arm)
{
    return c->push.dirs ? c->push.dirs[arm] : NULL;
}
