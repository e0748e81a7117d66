#include "link/adb/deploy.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/text.h"
#include "link/adb/call.h"
#include "link/adb/text.h"
#include "link/agents.h"
#include "proto/auth.h"

#define PLACE "/data/local/tmp/quiesce-agent"

/* Without an answer: adb's server itself waits for ever. The agent that runs may take its time to put all
 * back. */
enum { PATIENCE_S = 20, END_PATIENCE_S = 60 };

enum {
    SAID_MOST_BYTES = 8192,
    CHUNK_BYTES = 64 * 1024, /* of a DATA message: adb takes no more */
    HASH_BYTES = 8,
    STAT_BYTES = 16
};

enum taken { MORE, DONE, WRONG };

struct qs_adb_deploy {
    struct qs_loop *loop; /* borrowed */
    bool restart;
    qs_adb_deployed_fn *done;
    void *user;
    char *serial, *agents; /* owned */
    struct qs_adb_call *call;
    struct qs_timer *patience;
    int patience_s;
    const char *asked; /* what it was asked last, for people; static */
    bool has_shell_v2;
    struct qs_buf in;              /* what came and was not looked at yet */
    struct qs_buf said;            /* a script's output: lines of "key=value" */
    struct qs_buf agent;           /* the agent's bytes */
    char hash[2 * HASH_BYTES + 1]; /* of them, and part of its name on the device */
    enum taken (*take)(struct qs_adb_deploy *d, struct qs_err *err); /* what is at the front of `in` */
    void (*then)(struct qs_adb_deploy *d); /* when that is done; or, of a script, at its end */
    uint8_t key[QS_ADB_KEY_BYTES];
    size_t key_bytes;
};

/* ---- the scripts: for the oldest shells of Android, too ---- */

static const char look_script[] = "f=" PLACE "; p=$(cat $f.pid 2>/dev/null); "
                                  "echo abi=$(getprop ro.product.cpu.abi 2>/dev/null); "
                                  "echo machine=$(uname -m 2>/dev/null); "
                                  "echo running=$(cat /proc/${p:-none}/cmdline 2>/dev/null); echo end=";

/* %s: the hash */
static const char start_script[] =
    "f=" PLACE "; a=$f-%s; umask 077; p=$(cat $f.pid 2>/dev/null); "
    "case \"$(cat /proc/${p:-none}/cmdline 2>/dev/null)\" in *$f-*) kill $p; i=0; "
    "while [ -d /proc/$p ] && [ $i -lt 50 ]; do sleep 0.2 || sleep 1; i=$((i+1)); done; kill -9 $p;; esac "
    "2>/dev/null; "
    "[ -f $a.part ] && mv $a.part $a; chmod 700 $a; "
    "for o in $f-*; do [ $o = $a ] || rm -f $o; done; "
    "rm -f $f.key $f.log; dd if=/dev/urandom of=$f.key bs=32 count=1 2>/dev/null; "
    "s=; type setsid >/dev/null 2>&1 && s=setsid; "
    "$s $a --listen " QS_ADB_AGENT_SERVICE
    " --key-file $f.key --cache $f.files --state $f.files </dev/null >$f.log 2>&1 & "
    "p=$!; echo $p >$f.pid; i=0; "
    "while [ $i -lt 50 ] && [ -d /proc/$p ]; do case \"$(cat $f.log)\" in *listens*) break;; esac; "
    "sleep 0.1 2>/dev/null || sleep 1; i=$((i+1)); done; "
    "echo said=$(cat $f.log); echo end=";

/* ---- the end ---- */

static void release(struct qs_adb_deploy *d)
{
    qs_timer_stop(d->patience);
    qs_adb_close(d->call);
    qs_buf_done(&d->in);
    qs_buf_done(&d->said);
    qs_buf_done(&d->agent);
    explicit_bzero(d->key, sizeof d->key);
    free(d->serial);
    free(d->agents);
    free(d);
}

void qs_adb_deploy_stop(struct qs_adb_deploy *deploy)
{
    if (deploy)
        release(deploy);
}

/* The last thing that its caller does. */
static void end(struct qs_adb_deploy *d, const struct qs_err *why)
{
    qs_adb_deployed_fn *done = d->done;
    void *user = d->user;
    uint8_t key[QS_ADB_KEY_BYTES];
    memcpy(key, d->key, sizeof key);
    release(d);
    done(why, why ? NULL : key, user);
    explicit_bzero(key, sizeof key);
}

/* ---- calls ---- */

static enum taken nonsense(const struct qs_adb_deploy *d, struct qs_err *err)
{
    qs_fail(err, QS_E_LINK, "%s: what adb's device answers is not what it was asked for", d->serial);
    return WRONG;
}

static enum taken take_output(struct qs_adb_deploy *d, struct qs_err *err)
{
    QS_BUF(bytes);
    enum qs_adb_stream stream;
    int got = 0;
    if (!d->has_shell_v2) {
        qs_buf_add(&d->said, d->in.data, d->in.len);
        qs_buf_clear(&d->in);
    }
    while (d->has_shell_v2 && (got = qs_adb_packet(&d->in, &stream, &bytes)) > 0) {
        if (stream == QS_ADB_STDOUT)
            qs_buf_add(&d->said, bytes.data, bytes.len);
    }
    return got >= 0 && d->said.len <= SAID_MOST_BYTES ? MORE : nonsense(d, err);
}

static void on_patience(void *user)
{
    struct qs_adb_deploy *d = user;
    struct qs_err why = QS_ERR_INIT;
    d->patience = NULL;
    qs_fail(&why, QS_E_LINK, "%s: it has not answered for %d s (%s): plug it in again, or restart it",
            d->serial, d->patience_s, d->asked);
    end(d, &why);
}

static void wait_for(struct qs_adb_deploy *d)
{
    qs_timer_stop(d->patience);
    d->patience = qs_timer_start(d->loop, d->patience_s * INT64_C(1000000000), on_patience, d);
}

static void on_bytes(const uint8_t *bytes, size_t n, void *user)
{
    struct qs_adb_deploy *d = user;
    struct qs_err why = QS_ERR_INIT;
    wait_for(d);
    qs_buf_add(&d->in, bytes, n);
    enum taken taken = d->take(d, &why);
    if (taken == DONE)
        d->then(d);
    else if (taken == WRONG)
        end(d, &why);
}

static void on_end(const struct qs_err *why, void *user)
{
    struct qs_adb_deploy *d = user;
    struct qs_err early = QS_ERR_INIT;
    d->call = NULL;
    if (!why && d->take == take_output) {
        d->then(d);
        return;
    }
    qs_fail(&early, QS_E_LINK, "%s: adb ended the connection too early", d->serial);
    end(d, why ? why : &early);
}

/* serial NULL: a request about a device to the server itself. The last thing that its caller does. */
static void ask(struct qs_adb_deploy *d, const char *serial, const char *service,
                enum taken (*take)(struct qs_adb_deploy *, struct qs_err *),
                void (*then)(struct qs_adb_deploy *), void (*on_open)(void *))
{
    const struct qs_adb_events events = {
        .on_open = on_open, .on_bytes = on_bytes, .on_end = on_end, .user = d};
    struct qs_err why = QS_ERR_INIT;
    qs_adb_close(d->call);
    qs_buf_clear(&d->in);
    d->take = take;
    d->then = then;
    wait_for(d);
    d->call = qs_adb_open(d->loop, serial, service, &events, &why);
    if (!d->call)
        end(d, &why);
}

/* ---- scripts ---- */

static void run(struct qs_adb_deploy *d, const char *script, void (*then)(struct qs_adb_deploy *))
{
    QS_BUF(service);
    qs_buf_fmt(&service, "%s:%s", d->has_shell_v2 ? "shell,v2,raw" : "exec", script);
    qs_buf_clear(&d->said);
    ask(d, d->serial, service.data, take_output, then, NULL);
}

/* The value of a line "key=value" that a script has said, escaped; false where there is none. */
static bool said(const struct qs_adb_deploy *d, const char *key, struct qs_buf *value)
{
    size_t n = strlen(key);
    qs_buf_clear(value);
    for (const char *line = d->said.data; line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
        if (strncmp(line, key, n) == 0 && line[n] == '=') {
            qs_text_escape(value, line + n + 1, strcspn(line + n + 1, "\r\n"));
            return true;
        }
    }
    return false;
}

/* ---- the key, last ---- */

static enum taken take_key(struct qs_adb_deploy *d, struct qs_err *err)
{
    while (d->in.len >= 8) {
        uint32_t n = qs_adb_u32(d->in.data + 4);
        bool data = memcmp(d->in.data, "DATA", 4) == 0, over = memcmp(d->in.data, "DONE", 4) == 0;
        if (over && d->key_bytes == sizeof d->key)
            return DONE;
        if (!data || n > sizeof d->key - d->key_bytes) {
            qs_fail(err, QS_E_LINK, "%s: the agent's key cannot be read from " PLACE ".key", d->serial);
            return WRONG;
        }
        if (d->in.len - 8 < n)
            return MORE;
        memcpy(d->key + d->key_bytes, d->in.data + 8, n);
        d->key_bytes += n;
        qs_buf_drop_front(&d->in, 8 + (size_t)n);
    }
    return MORE;
}

static void ready(struct qs_adb_deploy *d)
{
    end(d, NULL);
}

static void ask_for_key(void *user)
{
    struct qs_adb_deploy *d = user;
    QS_BUF(out);
    qs_adb_sync(&out, "RECV", PLACE ".key", sizeof PLACE ".key" - 1);
    qs_adb_send(d->call, out.data, out.len);
}

static void fetch_key(struct qs_adb_deploy *d)
{
    d->key_bytes = 0;
    d->asked = "the agent's key";
    d->patience_s = PATIENCE_S;
    ask(d, d->serial, "sync:", take_key, ready, ask_for_key);
}

/* ---- started ---- */

static void started(struct qs_adb_deploy *d)
{
    QS_BUF(log);
    struct qs_err why = QS_ERR_INIT;
    if (said(d, "said", &log) && strstr(log.data, "listens")) {
        fetch_key(d);
        return;
    }
    qs_fail(&why, QS_E_AGENT, "%s: the agent does not start there: %.300s", d->serial,
            log.len > 0 ? log.data : "it said nothing");
    end(d, &why);
}

static void start(struct qs_adb_deploy *d)
{
    QS_BUF(script);
    qs_buf_fmt(&script, start_script, d->hash);
    d->asked = "to start the agent";
    d->patience_s = END_PATIENCE_S;
    run(d, script.data, started);
}

/* ---- pushed ---- */

static enum taken take_pushed(struct qs_adb_deploy *d, struct qs_err *err)
{
    if (d->in.len < 8)
        return MORE;
    if (memcmp(d->in.data, "OKAY", 4) == 0)
        return DONE;
    uint32_t n = qs_adb_u32(d->in.data + 4);
    if (memcmp(d->in.data, "FAIL", 4) != 0 || n > SAID_MOST_BYTES)
        return nonsense(d, err);
    if (d->in.len - 8 < n)
        return MORE;
    QS_BUF(text);
    qs_text_escape(&text, d->in.data + 8, n);
    qs_fail(err, QS_E_SPACE, "%s: the agent cannot be pushed to " PLACE "-%s: %.200s", d->serial, d->hash,
            text.data);
    return WRONG;
}

static void push(struct qs_adb_deploy *d)
{
    QS_BUF(out);
    QS_BUF(path);
    qs_buf_fmt(&path, PLACE "-%s.part,33216", d->hash); /* a regular file of mode 0700 */
    qs_adb_sync(&out, "SEND", path.data, (uint32_t)path.len);
    for (size_t at = 0; at < d->agent.len; at += CHUNK_BYTES) {
        size_t left = d->agent.len - at;
        qs_adb_sync(&out, "DATA", d->agent.data + at, (uint32_t)(left < CHUNK_BYTES ? left : CHUNK_BYTES));
    }
    qs_adb_sync(&out, "DONE", NULL, 0);
    d->take = take_pushed;
    d->asked = "to take the agent";
    wait_for(d);
    qs_adb_send(d->call, out.data, out.len);
}

static enum taken take_stat(struct qs_adb_deploy *d, struct qs_err *err)
{
    if (d->in.len < STAT_BYTES)
        return MORE;
    if (memcmp(d->in.data, "STAT", 4) != 0)
        return nonsense(d, err);
    uint32_t mode = qs_adb_u32(d->in.data + 4), bytes = qs_adb_u32(d->in.data + 8);
    qs_buf_drop_front(&d->in, STAT_BYTES);
    if ((mode & 0170000) == 0100000 && bytes == d->agent.len)
        return DONE;
    push(d);
    return MORE;
}

static void ask_for_stat(void *user)
{
    struct qs_adb_deploy *d = user;
    QS_BUF(out);
    QS_BUF(path);
    qs_buf_fmt(&path, PLACE "-%s", d->hash);
    qs_adb_sync(&out, "STAT", path.data, (uint32_t)path.len);
    qs_adb_send(d->call, out.data, out.len);
}

/* ---- looked ---- */

static bool read_agent(struct qs_adb_deploy *d, const char *abi, struct qs_err *err)
{
    uint8_t sum[QS_SHA256_BYTES];
    qs_buf_clear(&d->agent);
    if (!qs_agents_read(d->agents, abi, &d->agent, sum, err))
        return qs_fail_prefix(err, "%s", d->serial);
    qs_hex(sum, HASH_BYTES, d->hash);
    return true;
}

static void looked(struct qs_adb_deploy *d)
{
    QS_BUF(abi);
    QS_BUF(running);
    struct qs_err why = QS_ERR_INIT;
    if (!said(d, "end", &abi)) {
        nonsense(d, &why);
        end(d, &why);
        return;
    }
    if (!said(d, "abi", &abi) || abi.len == 0)
        said(d, "machine", &abi);
    said(d, "running", &running);
    if (!read_agent(d, abi.data, &why))
        end(d, &why);
    else if (strstr(running.data, d->hash) && !d->restart)
        fetch_key(d);
    else {
        d->asked = "whether the agent lies there";
        ask(d, d->serial, "sync:", take_stat, start, ask_for_stat);
    }
}

/* ---- what the device can do, first ---- */

static enum taken take_features(struct qs_adb_deploy *d, struct qs_err *err)
{
    QS_BUF(block);
    int got = qs_adb_block(&d->in, &block);
    d->has_shell_v2 = strstr(block.data, "shell_v2") != NULL;
    return got < 0 ? nonsense(d, err) : got > 0 ? DONE : MORE;
}

static void look(struct qs_adb_deploy *d)
{
    d->asked = "what runs there";
    run(d, look_script, looked);
}

struct qs_adb_deploy *qs_adb_deploy_start(const struct qs_adb_deploy_parts *parts, qs_adb_deployed_fn *done,
                                          void *user, struct qs_err *err)
{
    struct qs_adb_deploy *d = qs_calloc(1, sizeof *d);
    const struct qs_adb_events events = {.on_bytes = on_bytes, .on_end = on_end, .user = d};
    QS_BUF(service);
    d->loop = parts->loop;
    d->restart = parts->restart;
    d->serial = qs_strdup(parts->serial);
    d->agents = qs_strdup(parts->agents);
    d->done = done;
    d->user = user;
    d->take = take_features;
    d->then = look;
    qs_buf_fmt(&service, "host-serial:%s:features", d->serial);
    d->asked = "what it can do";
    d->patience_s = PATIENCE_S;
    wait_for(d);
    d->call = qs_adb_open(d->loop, NULL, service.data, &events, err);
    if (d->call)
        return d;
    release(d);
    return NULL;
}
