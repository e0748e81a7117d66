#include "api/files.h"

#include "api/reply.h"
#include "base/json.h"
#include "store/files.h"

static void say_file(struct qs_exchange *ex, unsigned status)
{
    struct qs_buf out;
    struct qs_json j;
    qs_buf_init(&out);
    qs_json_init(&j, &out);
    qs_json_object(&j);
    qs_json_kstring(&j, "sha256", ex->match.sha256);
    qs_json_object_end(&j);
    qs_reply_json(ex, status, &out);
}

void qs_handle_file_begin(struct qs_exchange *ex)
{
    struct qs_err err;
    if (ex->replied || ex->upload || ex->handled || !(ex->match.route->flags & QS_ROUTE_UPLOAD))
        return;
    if (qs_files_has(ex->api->p.files, ex->match.sha256)) {
        say_file(ex, 200);
        return;
    }
    ex->upload = qs_upload_begin(ex->api->p.files, ex->match.sha256, ex->match.route->body_max_bytes, &err);
    if (!ex->upload)
        qs_reply_error(ex, &err);
}

static void on_stored(const struct qs_err *err, int64_t id, void *user)
{
    struct qs_exchange *ex = user;
    (void)id;
    if (!qs_exchange_leave(ex))
        return;
    if (err)
        qs_reply_error(ex, err);
    else
        say_file(ex, 201);
}

static void after_finish(struct qs_exchange *ex)
{
    qs_exchange_enter(ex);
    qs_store_file(ex->api->p.store, ex->match.sha256, ex->body_bytes, on_stored, ex);
}

/* On the pool: the file is synced to disk. */
static bool finish(struct qs_exchange *ex, struct qs_err *err)
{
    int64_t bytes;
    struct qs_upload *upload = ex->upload;
    ex->upload = NULL;
    return qs_upload_finish(upload, &bytes, err);
}

void qs_handle_file_put(struct qs_exchange *ex)
{
    qs_exchange_work(ex, finish, after_finish);
}

void qs_handle_file_head(struct qs_exchange *ex)
{
    struct qs_err err;
    if (qs_files_has(ex->api->p.files, ex->match.sha256)) {
        say_file(ex, 200);
        return;
    }
    qs_fail(&err, QS_E_NOT_FOUND, "no file with this content is here");
    qs_reply_error(ex, &err);
}
