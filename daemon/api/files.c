#include "api/files.h"

#include "api/reply.h"
#include "base/json.h"
#include "store/files.h"

static void say_file(struct qs_request *rq, unsigned status)
{
    struct qs_buf out;
    struct qs_json j;
    qs_buf_init(&out);
    qs_json_init(&j, &out);
    qs_json_object(&j);
    qs_json_kstring(&j, "sha256", rq->match.sha256);
    qs_json_object_end(&j);
    qs_reply_json(rq, status, &out);
}

void qs_files_begin(struct qs_request *rq)
{
    struct qs_err err;
    if (rq->replied || rq->upload || rq->handled || !(rq->match.route->flags & QS_ROUTE_UPLOAD))
        return;
    if (qs_files_has(rq->api->p.files, rq->match.sha256)) {
        say_file(rq, 200);
        return;
    }
    rq->upload = qs_upload_begin(rq->api->p.files, rq->match.sha256, rq->match.route->body_max_bytes, &err);
    if (!rq->upload)
        qs_reply_error(rq, &err);
}

static void on_stored(const struct qs_err *err, int64_t id, void *user)
{
    struct qs_request *rq = user;
    (void)id;
    if (!qs_request_leave(rq))
        return;
    if (err)
        qs_reply_error(rq, err);
    else
        say_file(rq, 201);
}

static void after_finish(struct qs_request *rq)
{
    qs_request_enter(rq);
    qs_store_file(rq->api->p.store, rq->match.sha256, rq->body_bytes, on_stored, rq);
}

/* On the pool: the file is synced to disk. */
static bool finish(struct qs_request *rq, struct qs_err *err)
{
    int64_t bytes;
    struct qs_upload *upload = rq->upload;
    rq->upload = NULL;
    return qs_upload_finish(upload, &bytes, err);
}

void qs_handle_file_put(struct qs_request *rq)
{
    qs_request_work(rq, finish, after_finish);
}

void qs_handle_file_head(struct qs_request *rq)
{
    struct qs_err err;
    if (qs_files_has(rq->api->p.files, rq->match.sha256)) {
        say_file(rq, 200);
        return;
    }
    qs_fail(&err, QS_E_NOT_FOUND, "no file with this content is here");
    qs_reply_error(rq, &err);
}
