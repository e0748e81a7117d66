#include "ctl/submit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "base/text.h"
#include "proto/auth.h"

enum { FILE_BYTES_MAX = 1 << 30, CHUNK_BYTES = 64 * 1024 };

json_t *qs_submit_check(struct qs_ctl *ctl, struct qs_http *http, const struct qs_submit *job, int *ret_code)
{
    QS_BUF(path);
    qs_buf_str(&path, "/api/v1/jobs:validate?name=");
    qs_http_escape(&path, job->name);
    const struct qs_http_request request = {.method = "POST",
                                            .path = path.data,
                                            .type = job->json ? "application/json" : "application/yaml",
                                            .body = job->text,
                                            .body_bytes = job->text_bytes};
    return qs_api_call(ctl, http, &request, ret_code);
}

static bool hash_file(FILE *f, char hex[65], int64_t *ret_bytes)
{
    struct qs_sha256 sum;
    uint8_t digest[QS_SHA256_BYTES];
    QS_FREED char *chunk = qs_malloc(CHUNK_BYTES);
    *ret_bytes = 0;
    qs_sha256_init(&sum);
    for (size_t n = 0; (n = fread(chunk, 1, CHUNK_BYTES, f)) > 0;) {
        qs_sha256_add(&sum, chunk, n);
        *ret_bytes += (int64_t)n;
    }
    qs_sha256_final(&sum, digest);
    qs_hex(digest, sizeof(digest), hex);
    return ferror(f) == 0;
}

static FILE *open_file(const char *path, struct qs_err *err)
{
    struct stat st;
    FILE *f = fopen(path, "rbe");
    if (f == NULL) {
        qs_fail(err, QS_E_NOT_FOUND, "the job needs %s: %s", path, strerror(errno));
        return NULL;
    }
    bool ok = fstat(fileno(f), &st) == 0 && S_ISREG(st.st_mode);
    if (!ok)
        qs_fail(err, QS_E_USAGE, "the job needs %s, which is not a regular file", path);
    else if (st.st_size > FILE_BYTES_MAX)
        ok = qs_fail(err, QS_E_LIMIT, "%s is larger than 1 GiB", path);
    if (ok)
        return f;
    fclose(f);
    return NULL;
}

bool qs_submit_hash(const char *path, char hex[65], struct qs_err *err)
{
    int64_t bytes = 0;
    FILE *f = open_file(path, err);
    if (f == NULL)
        return false;
    bool ok = hash_file(f, hex, &bytes) || qs_fail(err, QS_E_IO, "cannot read %s", path);
    fclose(f);
    return ok;
}

/* Asks for the content by its hash, and sends it where the daemon lacks it. */
static bool send_content(struct qs_ctl *ctl, struct qs_http *http, FILE *f, int64_t bytes, const char *hex,
                         int *ret_code)
{
    char path[96];
    struct qs_http_reply reply = {0};
    struct qs_err err = QS_ERR_INIT;
    snprintf(path, sizeof(path), "/api/v1/files/%s", hex);
    struct qs_http_request request = {.method = "HEAD", .path = path};
    qs_buf_init(&reply.body);
    bool ok = qs_http_call(http, &request, &reply, &err);
    bool there = ok && reply.status == 200;
    if (ok && !there) {
        rewind(f);
        request = (struct qs_http_request){.method = "PUT",
                                           .path = path,
                                           .type = "application/octet-stream",
                                           .file = f,
                                           .file_bytes = bytes};
        ok = qs_http_call(http, &request, &reply, &err);
    }
    if (!ok)
        *ret_code = qs_api_fail(ctl, &err);
    else if (!there && reply.status != 200 && reply.status != 201) {
        *ret_code = qs_api_refused(ctl, http, &reply);
        ok = false;
    }
    qs_buf_done(&reply.body);
    return ok;
}

static bool send_file(struct qs_ctl *ctl, struct qs_http *http, const struct qs_submit *job, const char *path,
                      json_t *bindings, int *ret_code)
{
    struct qs_err err = QS_ERR_INIT;
    char hex[65];
    int64_t bytes = 0;
    QS_BUF(local);
    if (path[0] != '/' && job->dir != NULL)
        qs_buf_fmt(&local, "%s/", job->dir);
    qs_buf_str(&local, path);
    FILE *f = open_file(local.data, &err);
    bool ok =
        f != NULL && (hash_file(f, hex, &bytes) || qs_fail(&err, QS_E_IO, "cannot read %s", local.data));
    if (!ok)
        *ret_code = qs_api_fail_advised(
            ctl, &err,
            err.code == QS_E_LIMIT ? NULL : "correct its path; it is relative to the folder of the job file");
    else
        ok = send_content(ctl, http, f, bytes, hex, ret_code);
    if (ok)
        json_object_set_new(bindings, path, json_string(hex));
    if (f != NULL)
        fclose(f);
    return ok;
}

static json_t *post_job(struct qs_ctl *ctl, struct qs_http *http, const struct qs_submit *job,
                        json_t *bindings, int *ret_code)
{
    uint8_t random[16] = {0};
    char drawn[33];
    struct qs_err err = QS_ERR_INIT;
    json_auto_t *body = json_pack("{s:s%, s:s, s:O, s:b}", "text", job->text, job->text_bytes, "name",
                                  job->name, "files", bindings, "wait", 0);
    if (body == NULL) {
        qs_fail(&err, QS_E_JOB, "%s is not UTF-8 text", job->name);
        *ret_code = qs_api_fail(ctl, &err);
        return NULL;
    }
    if (getrandom(random, sizeof(random), 0) != (ssize_t)sizeof(random))
        memset(random, 0, sizeof(random));
    qs_hex(random, sizeof(random), drawn);
    char *text = json_dumps(body, JSON_COMPACT);
    const struct qs_http_request request = {.method = "POST",
                                            .path = "/api/v1/jobs",
                                            .key = job->key != NULL ? job->key : drawn,
                                            .body = text,
                                            .body_bytes = strlen(text)};
    json_t *doc = qs_api_call(ctl, http, &request, ret_code);
    free(text);
    return doc;
}

json_t *qs_submit_send(struct qs_ctl *ctl, struct qs_http *http, const struct qs_submit *job,
                       const json_t *check, int *ret_code)
{
    json_auto_t *bindings = json_object();
    json_t *doc = NULL;
    size_t i;
    const json_t *file;
    const json_t *files = json_object_get(check, "files");
    bool ok = true;
    json_array_foreach(files, i, file)
    {
        const char *path = qs_json_get_text(file, "path", NULL);
        if (ok && path != NULL && json_object_get(bindings, path) == NULL)
            ok = send_file(ctl, http, job, path, bindings, ret_code);
    }
    if (ok)
        doc = post_job(ctl, http, job, bindings, ret_code);
    return doc;
}
