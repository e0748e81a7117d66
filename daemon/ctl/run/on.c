#include "ctl/run/on.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "base/process.h"
#include "ctl/follow.h"
#include "ctl/line.h"
#include "ctl/run/pick.h"

#define S INT64_C(1000000000)
enum { POLL_MS = 250, APPEARS_S = 15, READY_S = 60, QUIET_S = 2 };

struct search {
    struct qs_ctl *ctl;
    struct qs_http *http;
    const char *word; /* NULL: the only one that there is */
    int interrupt_fd;
    int64_t began_ns, seen_ns; /* seen: one that is not ready; 0: none */
    bool looking;              /* for devices by adb and USB, too */
    bool line;                 /* one stands on the terminal */
    struct qs_buf told;        /* why the device is not ready, as it was said */
};

static void clear_line(struct search *s)
{
    qs_line_clear(s->ctl->err, &s->line);
}

static void show_line(struct search *s, int64_t elapsed_ns, int64_t most_s)
{
    if (!s->ctl->live || s->ctl->json || elapsed_ns < S)
        return;
    QS_BUF(text);
    QS_BUF(line);
    qs_buf_fmt(&text, "waiting for %s: %d of %d s (Ctrl-C ends it)", s->word != NULL ? s->word : "a device",
               (int)(elapsed_ns / S), (int)most_s);
    qs_line_make(&s->ctl->err_face, text.data, &line);
    clear_line(s);
    qs_ctl_print(s->ctl->err, &line);
    fflush(s->ctl->err);
    s->line = true;
}

static void say(struct search *s, const char *text)
{
    QS_BUF(out);
    clear_line(s);
    if (!s->ctl->json)
        qs_face_wrap(&s->ctl->err_face, &out, "  ", text, QS_INK_PLAIN);
    qs_ctl_print(s->ctl->err, &out);
}

/* What is declared comes first: only who finds nothing there looks for more. A daemon that knows no way to
 * look is one that has none. */
static void look_for_more(struct search *s)
{
    static const char *const bodies[] = {"{\"link\":\"adb\"}", "{\"link\":\"usb\"}"};
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies && !s->looking; i++) {
        const struct qs_http_request request = {
            .method = "POST", .path = "/api/v1/devices", .body = bodies[i], .body_bytes = strlen(bodies[i])};
        struct qs_http_reply reply = {0};
        struct qs_err err = QS_ERR_INIT;
        qs_buf_init(&reply.body);
        (void)qs_http_call(s->http, &request, &reply, &err);
        qs_buf_done(&reply.body);
    }
    s->looking = true;
}

/* `ssh:HOST`: the name of the device that the daemon has from now on, owned; NULL: said. */
static char *declare(struct qs_ctl *ctl, struct qs_http *http, const char *host, int *ret_code)
{
    json_auto_t *body = json_pack("{s:s, s:s}", "link", "ssh", "host", host);
    QS_FREED char *text = body != NULL ? json_dumps(body, JSON_COMPACT) : NULL;
    const struct qs_http_request request = {.method = "POST",
                                            .path = "/api/v1/devices",
                                            .body = text != NULL ? text : "",
                                            .body_bytes = text != NULL ? strlen(text) : 0};
    json_auto_t *answer = qs_api_call(ctl, http, &request, ret_code);
    return answer != NULL ? qs_strdup(qs_json_get_text(answer, "name", "")) : NULL;
}

/* ---- what went wrong ---- */

static int none_fits(struct search *s, const json_t *all)
{
    struct qs_err err = QS_ERR_INIT;
    json_auto_t *others = qs_pick_devices(all, NULL);
    QS_BUF(list);
    qs_pick_list(others, &list);
    if (s->word == NULL)
        qs_fail(&err, QS_E_NOT_FOUND, "--on: there is no device but this machine");
    else if (list.len == 0)
        qs_fail(&err, QS_E_NOT_FOUND, "--on: no device fits `%s`, and there is none but this machine",
                s->word);
    else
        qs_fail(&err, QS_E_NOT_FOUND, "--on: no device fits `%s`; there are: %s", s->word, list.data);
    return qs_api_fail_advised(
        s->ctl, &err,
        "a phone: connect it, allow USB debugging on it (Settings, Developer options), and "
        "look whether `adb devices` shows it, which also starts adb's server; a board on a USB cable: start "
        "`quiesce-agent --usb` on it; another board: --on "
        "ssh:HOST, or an entry in the farm.yaml of quiesced");
}

static int several_fit(struct search *s, const json_t *fit)
{
    struct qs_err err = QS_ERR_INIT;
    QS_BUF(list);
    qs_pick_list(fit, &list);
    if (s->word == NULL)
        qs_fail(&err, QS_E_USAGE, "--on: there are several devices: %s", list.data);
    else
        qs_fail(&err, QS_E_USAGE, "--on: several devices fit `%s`: %s", s->word, list.data);
    return qs_api_fail_advised(s->ctl, &err, "write --on NAME, with the name of one of them");
}

static int not_ready(struct search *s, const json_t *device)
{
    struct qs_err err = QS_ERR_INIT;
    qs_fail(&err, QS_E_LINK, "--on: %s is not ready (%s) after %d s: %s",
            qs_json_get_text(device, "name", ""), qs_json_get_text(device, "state", ""), READY_S,
            qs_json_get_text(device, "why", "it has not answered"));
    return qs_api_fail(s->ctl, &err);
}

/* ---- the search ---- */

static bool is_ready(const json_t *device)
{
    return strcmp(qs_json_get_text(device, "state", ""), "ready") == 0;
}

/* Its reason, once for each that it has; a connection that is just being made has none. */
static void tell_why(struct search *s, const json_t *device)
{
    const char *why = qs_json_get_text(device, "why", "");
    QS_BUF(text);
    qs_buf_fmt(&text, "%s is %s: %s", qs_json_get_text(device, "name", ""),
               qs_json_get_text(device, "state", ""), why);
    if (why[0] == '\0' || strcmp(why, s->told.data) == 0 ||
        qs_clock_ns(CLOCK_MONOTONIC) - s->seen_ns < QUIET_S * S)
        return;
    qs_buf_clear(&s->told);
    qs_buf_str(&s->told, why);
    say(s, text.data);
}

/* True: it is over, with the device or a code. */
static bool look(struct search *s, const json_t *doc, json_t **ret, int *ret_code)
{
    const json_t *all = json_object_get(doc, "devices");
    json_auto_t *fit = qs_pick_devices(all, s->word);
    json_t *one = json_array_get(fit, 0);
    int64_t now = qs_clock_ns(CLOCK_MONOTONIC);
    if (json_array_size(fit) > 1) {
        clear_line(s);
        *ret_code = several_fit(s, fit);
        return true;
    }
    if (one == NULL) {
        look_for_more(s);
        s->seen_ns = 0;
        if (now - s->began_ns < APPEARS_S * S) {
            show_line(s, now - s->began_ns, APPEARS_S);
            return false;
        }
        clear_line(s);
        *ret_code = none_fits(s, all);
        return true;
    }
    s->seen_ns = s->seen_ns > 0 ? s->seen_ns : now;
    if (is_ready(one)) {
        clear_line(s);
        *ret = json_incref(one);
        return true;
    }
    tell_why(s, one);
    show_line(s, now - s->seen_ns, READY_S);
    if (now - s->seen_ns < READY_S * S)
        return false;
    clear_line(s);
    *ret_code = not_ready(s, one);
    return true;
}

static json_t *search(struct search *s, int *ret_code)
{
    json_t *found = NULL;
    for (bool over = false; !over;) {
        struct pollfd ctrl_c = {.fd = s->interrupt_fd, .events = POLLIN};
        json_auto_t *doc = qs_api_get(s->ctl, s->http, "/api/v1/devices", ret_code);
        over = doc == NULL || look(s, doc, &found, ret_code);
        if (!over && poll(&ctrl_c, 1, POLL_MS) > 0) {
            (void)qs_interrupt_take(s->interrupt_fd);
            clear_line(s);
            *ret_code = QS_EXIT_INTERRUPTED;
            over = true;
        }
    }
    return found;
}

static json_t *get_one(struct qs_ctl *ctl, struct qs_http *http, const char *name, int *ret_code)
{
    QS_BUF(path);
    qs_buf_str(&path, "/api/v1/devices/");
    qs_http_escape(&path, name);
    return qs_api_get(ctl, http, path.data, ret_code);
}

json_t *qs_on_find(struct qs_ctl *ctl, struct qs_http *http, bool only_seen, int *ret_code)
{
    struct search s = {.ctl = ctl,
                       .http = http,
                       .word = qs_args_text(ctl->args, "on", NULL),
                       .began_ns = qs_clock_ns(CLOCK_MONOTONIC),
                       .interrupt_fd = qs_interrupt_open()};
    static const char ssh[] = "ssh:";
    bool declares = s.word != NULL && strncmp(s.word, ssh, sizeof ssh - 1) == 0;
    QS_FREED char *declared = declares ? declare(ctl, http, s.word + sizeof ssh - 1, ret_code) : NULL;
    s.word = declares ? declared : s.word;
    qs_buf_init(&s.told);
    json_auto_t *found = !declares || declared != NULL ? search(&s, ret_code) : NULL;
    qs_interrupt_close(s.interrupt_fd);
    qs_buf_done(&s.told);
    if (found == NULL)
        return NULL;
    const char *name = qs_json_get_text(found, "name", "");
    json_t *device = get_one(ctl, http, name, ret_code);
    if (device == NULL || only_seen || json_is_object(json_object_get(device, "board")))
        return device;
    int code = qs_look_with(ctl, http, name);
    json_decref(device);
    if (code == QS_EXIT_OK || code == QS_EXIT_JOB_FAILED) /* what it lacks then is said with what is held */
        return get_one(ctl, http, name, ret_code);
    *ret_code = code;
    return NULL;
}

json_t *qs_on_readings(struct qs_http *http, const json_t *device)
{
    struct qs_http_reply reply = {0};
    struct qs_err err = QS_ERR_INIT;
    json_t *readings = NULL;
    QS_BUF(path);
    qs_buf_str(&path, "/api/v1/devices/");
    qs_http_escape(&path, qs_json_get_text(device, "name", ""));
    qs_buf_str(&path, ":read");
    const struct qs_http_request request = {.method = "GET", .path = path.data};
    qs_buf_init(&reply.body);
    if (qs_http_call(http, &request, &reply, &err) && reply.status == 200)
        readings = json_loadb(reply.body.data, reply.body.len, 0, NULL);
    qs_buf_done(&reply.body);
    return readings;
}
