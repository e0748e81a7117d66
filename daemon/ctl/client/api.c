#include "ctl/client/api.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "ctl/client/boot.h"
#include "ctl/client/peer.h"

void qs_ctl_print(FILE *to, const struct qs_buf *text)
{
    fwrite(text->data, 1, text->len, to);
    fflush(to);
}

void qs_ctl_print_json(FILE *to, const json_t *doc)
{
    json_dumpf(doc, to, JSON_COMPACT);
    fputc('\n', to);
}

void qs_ctl_notice(struct qs_ctl *ctl, const json_t *doc)
{
    const char *notice = qs_json_get_text(doc, "notice", NULL);
    QS_BUF(out);
    if (notice != NULL && !ctl->json)
        qs_face_wrap(&ctl->err_face, &out, "quiesce: ", notice, QS_INK_PLAIN);
    qs_ctl_print(ctl->err, &out);
}

struct qs_http *qs_api_open(struct qs_ctl *ctl, int *ret_code)
{
    struct qs_err err = QS_ERR_INIT;
    struct qs_http *http = NULL;
    QS_BUF(path);
    if (qs_boot_socket(qs_args_text(ctl->args, "socket", NULL), &path, &err))
        http = qs_http_new(path.data, &err);
    if (http == NULL)
        *ret_code = qs_api_fail(ctl, &err);
    return http;
}

int qs_api_exit_of(const char *slug)
{
    enum qs_errc code = qs_errc_from_slug(slug);
    if (code == QS_E_PRECONDITION)
        return QS_EXIT_PRECONDITION;
    if (code == QS_E_COMMAND)
        return QS_EXIT_JOB_FAILED;
    return qs_errc_blame(code) == QS_BLAME_OPERATOR ? QS_EXIT_USAGE : QS_EXIT_INFRASTRUCTURE;
}

int qs_api_fail(struct qs_ctl *ctl, const struct qs_err *err)
{
    return qs_api_fail_advised(ctl, err, NULL);
}

int qs_api_fail_advised(struct qs_ctl *ctl, const struct qs_err *err, const char *advice)
{
    QS_BUF(out);
    if (advice == NULL)
        advice = qs_errc_advice(err->code);
    if (ctl->json) {
        struct qs_json j = qs_json_to(&out);
        qs_json_object(&j);
        qs_json_kobject(&j, "error");
        qs_json_kstring(&j, "code", qs_errc_slug(err->code));
        qs_json_kstring(&j, "blame", qs_blame_name(qs_errc_blame(err->code)));
        qs_json_kstring(&j, "message", err->text);
        qs_json_kstring(&j, "advice", advice);
        qs_json_object_end(&j);
        qs_json_object_end(&j);
        qs_buf_char(&out, '\n');
    } else {
        QS_BUF(lead);
        qs_buf_fmt(&lead, "quiesce %s: ", ctl->command->name);
        qs_face_wrap(&ctl->err_face, &out, lead.data, err->text, QS_INK_PLAIN);
        qs_face_wrap(&ctl->err_face, &out, "  ", advice, QS_INK_PLAIN);
    }
    qs_ctl_print(ctl->json ? ctl->out : ctl->err, &out);
    return qs_api_exit_of(qs_errc_slug(err->code));
}

/* Every line of a block, escaped. A hint is prose and wraps below itself; "job.yaml:3:5: ..." (editors look
 * for it) and the quoted source with its caret stay as they are. */
static void add_block(const struct qs_face *face, const char *text, struct qs_buf *out)
{
    while (*text != '\0') {
        size_t n = strcspn(text, "\n"), indent = strspn(text, " ");
        QS_FREED char *line = qs_strndup(text, n);
        bool quoted = line[strspn(line, " 0123456789")] == '|';
        bool hint = indent > 0 && indent < n && !quoted;
        if (hint) {
            QS_FREED char *lead = qs_strndup(text, indent);
            qs_face_wrap(face, out, lead, line + indent, QS_INK_PLAIN);
        } else {
            qs_face_text(face, out, line);
            qs_buf_char(out, '\n');
        }
        text += n + (text[n] == '\n');
    }
}

static void add_problem(const struct qs_face *face, const json_t *problem, struct qs_buf *out)
{
    QS_BUF(lead);
    const char *path = qs_json_get_text(problem, "path", "");
    const char *suggestion = qs_json_get_text(problem, "suggestion", "");
    qs_buf_fmt(&lead, "%s%s%s", path, path[0] != '\0' ? ": " : "", qs_json_get_text(problem, "what", ""));
    qs_face_wrap(face, out, "  ", lead.data, QS_INK_PLAIN);
    if (suggestion[0] != '\0')
        qs_face_wrap(face, out, "    ", suggestion, QS_INK_PLAIN);
}

void qs_api_error_text(const struct qs_face *face, const char *command, const json_t *error, bool generated,
                       struct qs_buf *out)
{
    QS_BUF(lead);
    qs_buf_fmt(&lead, "quiesce %s: ", command);
    const json_t *e = json_object_get(error, "error");
    const json_t *problems = json_object_get(e, "problems");
    const char *text = qs_json_get_text(e, "text", qs_json_get_text(error, "text", ""));
    const char *advice = qs_json_get_text(e, "advice", "");
    qs_face_wrap(face, out, lead.data, qs_json_get_text(e, "message", "the daemon gave no reason"),
                 QS_INK_PLAIN);
    if (text[0] != '\0' && !generated) {
        add_block(face, text, out);
    } else {
        size_t i;
        const json_t *problem;
        json_array_foreach(problems, i, problem) add_problem(face, problem, out);
    }
    if (advice[0] != '\0' && !generated && strstr(text, advice) == NULL)
        qs_face_wrap(face, out, "  ", advice, QS_INK_PLAIN);
}

static int other_version(struct qs_ctl *ctl, struct qs_http *http)
{
    struct qs_err err = QS_ERR_INIT;
    QS_BUF(advice);
    qs_peer_explain(http, &err, &advice);
    return qs_api_fail_advised(ctl, &err, advice.data);
}

int qs_api_refused(struct qs_ctl *ctl, struct qs_http *http, const struct qs_http_reply *reply)
{
    json_auto_t *error = json_loadb(reply->body.data, reply->body.len, 0, NULL);
    const json_t *e = json_object_get(error, "error");
    int code = QS_EXIT_INFRASTRUCTURE;
    if (qs_peer_lacks(error)) {
        code = other_version(ctl, http);
    } else if (e == NULL) {
        struct qs_err err = QS_ERR_INIT;
        qs_fail(&err, QS_E_INTERNAL, "the daemon answered %ld without a reason", reply->status);
        code = qs_api_fail(ctl, &err);
    } else if (ctl->json) {
        fwrite(reply->body.data, 1, reply->body.len, ctl->out);
        fputc('\n', ctl->out);
        code = qs_api_exit_of(qs_json_get_text(e, "code", ""));
    } else {
        QS_BUF(out);
        qs_api_error_text(&ctl->err_face, ctl->command->name, error, strcmp(ctl->command->name, "run") == 0,
                          &out);
        qs_ctl_print(ctl->err, &out);
        code = qs_api_exit_of(qs_json_get_text(e, "code", ""));
    }
    return code;
}

static bool call(struct qs_ctl *ctl, struct qs_http *http, const struct qs_http_request *request,
                 struct qs_http_reply *reply, int *ret_code)
{
    struct qs_err err = QS_ERR_INIT;
    if (!qs_http_call(http, request, reply, &err)) {
        *ret_code = qs_api_fail(ctl, &err);
        return false;
    }
    if (reply->status >= 200 && reply->status < 300)
        return true;
    *ret_code = qs_api_refused(ctl, http, reply);
    return false;
}

json_t *qs_api_parse(struct qs_ctl *ctl, const char *path, const struct qs_buf *body, int *ret_code)
{
    json_t *json = json_loadb(body->data, body->len, 0, NULL);
    struct qs_err err = QS_ERR_INIT;
    if (json == NULL) {
        qs_fail(&err, QS_E_INTERNAL, "the daemon's answer to %s is not JSON", path);
        *ret_code = qs_api_fail(ctl, &err);
    }
    return json;
}

json_t *qs_api_call(struct qs_ctl *ctl, struct qs_http *http, const struct qs_http_request *request,
                    int *ret_code)
{
    struct qs_http_reply reply = {0};
    json_t *json = NULL;
    qs_buf_init(&reply.body);
    if (call(ctl, http, request, &reply, ret_code))
        json = qs_api_parse(ctl, request->path, &reply.body, ret_code);
    qs_buf_done(&reply.body);
    return json;
}

json_t *qs_api_get(struct qs_ctl *ctl, struct qs_http *http, const char *path, int *ret_code)
{
    const struct qs_http_request request = {.method = "GET", .path = path};
    return qs_api_call(ctl, http, &request, ret_code);
}

bool qs_api_bytes(struct qs_ctl *ctl, struct qs_http *http, const char *path, struct qs_buf *out,
                  int *ret_code)
{
    const struct qs_http_request request = {.method = "GET", .path = path};
    struct qs_http_reply reply = {0};
    qs_buf_init(&reply.body);
    bool ok = call(ctl, http, &request, &reply, ret_code);
    if (ok)
        qs_buf_add(out, reply.body.data, reply.body.len);
    qs_buf_done(&reply.body);
    return ok;
}

bool qs_api_text(struct qs_ctl *ctl, struct qs_http *http, const char *path, struct qs_buf *out,
                 int *ret_code)
{
    bool ok = qs_api_bytes(ctl, http, path, out, ret_code);
    if (ok && (out->len == 0 || out->data[out->len - 1] != '\n'))
        qs_buf_char(out, '\n');
    return ok;
}

const char *qs_json_get_text(const json_t *object, const char *key, const char *fallback)
{
    const json_t *v = json_object_get(object, key);
    return json_is_string(v) ? json_string_value(v) : fallback;
}

int64_t qs_json_get_int(const json_t *object, const char *key, int64_t fallback)
{
    const json_t *v = json_object_get(object, key);
    return json_is_integer(v) ? json_integer_value(v) : fallback;
}

double qs_json_get_number(const json_t *object, const char *key, double fallback)
{
    const json_t *v = json_object_get(object, key);
    return json_is_number(v) ? json_number_value(v) : fallback;
}

bool qs_json_get_true(const json_t *object, const char *key)
{
    return json_is_true(json_object_get(object, key));
}

bool qs_api_job_id(struct qs_ctl *ctl, size_t word, int64_t *ret_id)
{
    size_t arg = ctl->args->word[word];
    char why[160];
    if (qs_opt_read_whole(ctl->args->argv[arg], 1, INT64_MAX, ret_id, why))
        return true;
    QS_BUF(problem);
    qs_args_fail(ctl->args, &problem, arg, 0, "a job is named by its number; `quiesce jobs` lists them",
                 "JOB: %s", why);
    qs_ctl_print(ctl->err, &problem);
    return false;
}

static void print_tail(struct qs_ctl *ctl, const char *tail)
{
    if (ctl->json || tail[0] == '\0')
        return;
    QS_BUF(out);
    qs_buf_str(&out, "  the end of its log:\n");
    while (*tail != '\0') {
        size_t n = strcspn(tail, "\n");
        QS_FREED char *line = strndup(tail, n);
        qs_face_wrap(&ctl->err_face, &out, "  | ", line != NULL ? line : "", QS_INK_PLAIN);
        tail += n + (tail[n] == '\n');
    }
    qs_ctl_print(ctl->err, &out);
}

static bool names_socket(const struct qs_ctl *ctl)
{
    const char *named = getenv("QUIESCE_SOCKET");
    return qs_args_text(ctl->args, "socket", NULL) != NULL || (named != NULL && named[0] != '\0');
}

static struct qs_http *reach(struct qs_ctl *ctl, bool reads, int *ret_code)
{
    struct qs_err err = QS_ERR_INIT;
    struct qs_http *http = qs_api_open(ctl, ret_code), *other = NULL;
    if (http == NULL || qs_boot_answers(http))
        return http;
    QS_BUF(tail);
    if (reads)
        other = qs_boot_read(ctl->self, &tail, &err);
    bool ok = reads ? other != NULL : qs_boot_start(http, ctl->self, &tail, &err);
    if (!ok) {
        *ret_code = qs_api_fail(ctl, &err);
        print_tail(ctl, tail.data);
    }
    if (!ok || reads) {
        qs_http_free(http);
        http = other;
    }
    return http;
}

struct qs_http *qs_api_reach(struct qs_ctl *ctl, int *ret_code)
{
    return reach(ctl, false, ret_code);
}

struct qs_http *qs_api_reach_own(struct qs_ctl *ctl, int *ret_code)
{
    return names_socket(ctl) ? qs_api_open(ctl, ret_code) : reach(ctl, false, ret_code);
}

struct qs_http *qs_api_reach_reading(struct qs_ctl *ctl, int *ret_code)
{
    return names_socket(ctl) ? qs_api_open(ctl, ret_code) : reach(ctl, true, ret_code);
}
