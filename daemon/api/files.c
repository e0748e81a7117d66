#include "api/handlers.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "api/reply.h"
#include "base/json.h"
#include "store/files.h"

static void say_file(struct qs_exchange *ex, unsigned status)
{
    QS_BUF(out);
    qs_json_one(&out, "sha256", ex->match.sha256);
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

/* What is fetched at once: more than any artifact has. */
enum { GET_MOST_BYTES = 64 * 1024 * 1024 };

static void done_content(void *data)
{
    qs_buf_done(data);
}

static bool read_all(int fd, size_t n, struct qs_buf *out, struct qs_err *err)
{
    char block[65536];
    while (out->len < n) {
        ssize_t got = read(fd, block, sizeof block);
        if (got <= 0)
            return qs_fail(err, QS_E_IO, "a stored file cannot be read to its end: %s",
                           got < 0 ? strerror(errno) : "it was cut");
        qs_buf_add(out, block, (size_t)got);
    }
    return true;
}

/* On the pool. */
static bool read_content(struct qs_exchange *ex, struct qs_err *err)
{
    int64_t bytes = 0;
    int fd = qs_files_get(ex->api->p.files, ex->match.sha256, &bytes, err);
    if (fd < 0)
        return false;
    bool ok = bytes <= GET_MOST_BYTES ||
              qs_fail(err, QS_E_LIMIT, "the file has %lld bytes, and at most %d are sent", (long long)bytes,
                      GET_MOST_BYTES);
    ok = ok && read_all(fd, (size_t)bytes, ex->data, err);
    close(fd);
    return ok;
}

static void say_content(struct qs_exchange *ex)
{
    struct qs_buf content = *(struct qs_buf *)ex->data;
    qs_buf_init(ex->data); /* it is the reply's now */
    qs_reply_text(ex, 200, "application/octet-stream", &content);
}

void qs_handle_file_get(struct qs_exchange *ex)
{
    qs_buf_init(qs_exchange_data(ex, sizeof(struct qs_buf), done_content));
    qs_exchange_work(ex, read_content, say_content);
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
