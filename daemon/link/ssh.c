/* A board by ssh: the agent's standard input and output through a login, and the agent itself, brought there
 * over the same connection where it is missing. A script of the board's shell comes first (remote_script): it
 * says what machine it is, hears which agent is for that, asks for it where it is not there, and becomes it.
 * Authentication and encryption are ssh's. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "config/document/scalar.h"
#include "link/agents.h"
#include "link/command.h"
#include "proto/limits.h"

#define MARK        "quiesce-deploy "
#define PATIENCE_NS INT64_C(60000000000) /* until the agent is started there */

enum {
    LINE_BYTES = 1024,
    MACHINE_BYTES = 32,
    HOST_BYTES = 255,
    AGENT_BYTES = 1000000 /* the queue has room for it */
};

/* What the other side is to say next. */
enum step { MACHINE, WANT_OR_READY, READY, NOTHING_MORE };

struct ssh_own {
    struct qs_link_command command; /* first: link/command.h */
    char *agents;                   /* owned: the folder */
    enum step step;
    struct qs_buf in;    /* what came and is no whole line yet */
    struct qs_buf noise; /* what came before its first line; told with the agent's first bytes */
    struct qs_buf agent; /* the bytes that it may want */
    struct qs_timer *patience;
};

/* One word of a shell, whichever the login has, so that it holds no quote, no end of line and no `!`. `head`
 * may read ahead, therefore nothing is sent behind the agent until `ready`. The agent is tried before it is
 * ready: what keeps it from running is then said in words. */
static const char remote_script[] =
    "exec sh -c '"
    "no() { echo \"" MARK "no $(echo \"$1\" | tr \"\\n\" \" \")\"; exit 1; }; "
    "is() { [ -f \"$1\" ] && [ \"$(wc -c <\"$1\")\" -eq \"$n\" ] || return 1; "
    "type sha256sum >/dev/null 2>&1 || return 0; s=$(sha256sum <\"$1\"); [ \"${s%% *}\" = \"$h\" ]; }; "
    "u=$(umask); umask 077; d=$HOME/.cache/quiesce; echo \"" MARK
    "machine $(uname -m)\"; read -r h n || exit 1; "
    "f=$d/quiesce-agent-$h; "
    "if is \"$f\"; then :; else "
    "e=$(mkdir -p \"$d\" 2>&1) && e=$({ : >\"$f.part\"; } 2>&1) || no \"cannot write $f: $e\"; "
    "echo \"" MARK "want\"; "
    "e=$({ head -c \"$n\" >\"$f.part\"; } 2>&1) && is \"$f.part\" && e=$(chmod 700 \"$f.part\" 2>&1) && "
    "e=$(mv -f \"$f.part\" \"$f\" 2>&1) || { rm -f \"$f.part\"; no \"cannot write all of $f: $e\"; }; fi; "
    "for o in \"$d\"/quiesce-agent-*; do [ \"$o\" = \"$f\" ] || rm -f \"$o\"; done; "
    "v=$(\"$f\" --version </dev/null 2>&1); case $v in \"quiesce-agent \"*) ;; *) no \"cannot run $f: $v\";; "
    "esac; "
    "echo \"" MARK "ready\"; umask \"$u\"; exec \"$f\" --stdio --state "
    "\"${XDG_STATE_HOME:-$HOME/.local/state}/quiesce-agent/control\"'";

/* Nothing may ask, and nothing may send where nobody does: a window is silent. */
static const char *const options[] = {"-T",
                                      "-a",
                                      "-x",
                                      "-oBatchMode=yes",
                                      "-oConnectTimeout=15",
                                      "-oServerAliveInterval=0",
                                      "-oTCPKeepAlive=no",
                                      "-oControlMaster=no",
                                      "-oControlPath=none",
                                      "-oClearAllForwardings=yes"};

/* ---- what it is made of ---- */

static bool ssh_check(const struct qs_farm_device *device, const char **ret_key, struct qs_err *err)
{
    const char *host = device->host ? device->host : "x"; /* that it is missing is said elsewhere */
    bool word = host[0] != '-' && host[0] != '\0' && strlen(host) <= HOST_BYTES;
    for (const char *c = host; word && *c; c++)
        word = (unsigned char)*c > ' ' && *c != 0x7f;
    *ret_key = "host";
    return word || qs_fail(err, QS_E_CONFIG,
                           "`%s` is no host as ssh takes it" QS_FARM_INSTEAD
                           "NAME or USER@NAME, and what else ssh needs to know of it into ~/.ssh/config or "
                           "`argv`",
                           qs_show(host).text);
}

static void explain(const struct qs_link *link, struct qs_buf *out);

static void *ssh_new_own(const struct qs_farm_device *device)
{
    struct ssh_own *own = qs_calloc(1, sizeof *own);
    struct qs_link_command *c = &own->command;
    qs_link_command_init(c);
    c->explain = explain;
    if (device->argv.count == 0)
        qs_link_command_add(c, "ssh");
    qs_link_command_add_all(c, &device->argv);
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        qs_link_command_add(c, options[i]);
    qs_link_command_add(c, device->host ? device->host : "");
    qs_link_command_add(c, remote_script);
    own->agents = qs_strdup(device->agents ? device->agents : ".");
    qs_buf_init(&own->in);
    qs_buf_init(&own->noise);
    qs_buf_init(&own->agent);
    return own;
}

static void ssh_free_own(void *user)
{
    struct ssh_own *own = user;
    qs_link_command_done(&own->command);
    qs_buf_done(&own->in);
    qs_buf_done(&own->noise);
    qs_buf_done(&own->agent);
    free(own->agents);
    free(own);
}

/* ---- words for people ---- */

static bool has(const char *text, size_t n, const char *part)
{
    return memmem(text, n, part, strlen(part)) != NULL;
}

/* What helps, by what ssh or the board's shell said last. */
static const char *advice(const char *text, size_t n)
{
    static const struct {
        const char *said, *advice;
    } known[] = {
        {"Host key verification failed",
         "its host key is not known here, or is another one than before: log in "
         "once by hand, and compare the key that it shows"},
        {"Permission denied (", "it does not let us in without asking: give it a key (ssh-copy-id), or start "
                                "quiesced where an ssh-agent has one"},
        {"Could not resolve hostname", "correct `host`, or say in ~/.ssh/config which address that is"},
        {"Connection refused", "it is there, but no sshd listens at that port"},
        {"Connection timed out", "is it on, and in this network?"},
        {"No route to host", "is it on, and in this network?"},
        {"No space left", "free space in the home of its user"},
        {"Read-only file system", "its user needs a home that can be written"},
        {"Permission denied",
         "its user needs a home that can be written, on a file system that is not mounted "
         "noexec; or install the agent elsewhere, with `link: exec`"},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (has(text, n, known[i].said))
            return known[i].advice;
    }
    return NULL;
}

/* What came in place of a line of the script, and what helps. */
static void explain(const struct qs_link *link, struct qs_buf *out)
{
    const struct ssh_own *own = link->own;
    const struct qs_link_command *c = &own->command;
    const char *helps = advice(c->last, c->last_len);
    size_t n = own->in.len < QS_NOISE_HEAD_BYTES ? own->in.len : QS_NOISE_HEAD_BYTES;
    if (n > 0) {
        qs_buf_str(out, "; it said instead: ");
        qs_text_first_line(out, own->in.data, n);
    }
    if (helps)
        qs_buf_fmt(out, "; %s", helps);
}

/* The last thing that its caller does. */
static void refuse(struct qs_link *link, const char *line, size_t n)
{
    struct qs_err why = QS_ERR_INIT;
    QS_BUF(text);
    qs_text_first_line(&text, line, n < QS_NOISE_HEAD_BYTES ? n : QS_NOISE_HEAD_BYTES);
    qs_fail(&why, QS_E_PROTOCOL, "%s: its shell does not answer as it was asked to: %s", link->name,
            text.data);
    qs_link_down(link, &why);
}

static void on_patience(void *user)
{
    struct qs_link *link = user;
    struct ssh_own *own = link->own;
    struct qs_err why = QS_ERR_INIT;
    QS_BUF(text);
    own->patience = NULL;
    explain(link, &text);
    qs_fail(&why, QS_E_LINK, "%s: no agent runs there after %d s%s", link->name,
            (int)(PATIENCE_NS / 1000000000), text.data);
    qs_link_down(link, &why);
}

/* ---- what the script says, line by line; false: the link is down, and may be gone ---- */

static bool answer(struct qs_link *link, const char *machine)
{
    struct ssh_own *own = link->own;
    uint8_t sum[QS_SHA256_BYTES];
    char hash[2 * QS_SHA256_BYTES + 1];
    struct qs_err why = QS_ERR_INIT;
    QS_BUF(line);
    bool ok = qs_agents_read(own->agents, machine, &own->agent, sum, &why);
    if (ok && own->agent.len > AGENT_BYTES)
        ok = qs_fail(&why, QS_E_CONFIG,
                     "the agent for %s has %zu bytes, more than the %d that are brought anywhere by ssh: see "
                     "that `agents` holds static ones",
                     machine, own->agent.len, AGENT_BYTES);
    if (!ok) {
        qs_fail_prefix(&why, "%s", link->name);
        qs_link_down(link, &why);
        return false;
    }
    qs_hex(sum, sizeof sum, hash);
    qs_buf_fmt(&line, "%s %zu\n", hash, own->agent.len);
    own->step = WANT_OR_READY;
    qs_link_stream_send(link, (const uint8_t *)line.data, line.len, NULL); /* else its end follows */
    return true;
}

static bool give_up(struct qs_link *link, const char *reason, size_t n)
{
    while (n > 0 && reason[n - 1] == ' ')
        n--;
    const char *helps = advice(reason, n);
    struct qs_err why = QS_ERR_INIT;
    QS_BUF(text);
    qs_text_escape(&text, reason, n);
    qs_fail(&why, helps ? QS_E_SPACE : QS_E_AGENT, "%s: %.300s%s%s", link->name, text.data, helps ? "; " : "",
            helps ? helps : "");
    qs_link_down(link, &why);
    return false;
}

static bool starts(const char *line, size_t n, const char *word)
{
    return n >= strlen(word) && memcmp(line, word, strlen(word)) == 0;
}

static bool is(const char *line, size_t n, const char *word)
{
    return n == strlen(word) && starts(line, n, word);
}

/* line[n]: behind the mark. */
static bool take_line(struct qs_link *link, const char *line, size_t n)
{
    struct ssh_own *own = link->own;
    char machine[MACHINE_BYTES + 1] = "";
    size_t skip = strlen("machine ");
    if (own->step == MACHINE && starts(line, n, "machine ") && n - skip < sizeof machine) {
        memcpy(machine, line + skip, n - skip);
        if (qs_text_is_word(machine, "_-") && strlen(machine) == n - skip)
            return answer(link, machine);
    } else if (own->step != MACHINE && starts(line, n, "no ")) {
        return give_up(link, line + 3, n - 3);
    } else if (own->step == WANT_OR_READY && is(line, n, "want")) {
        own->step = READY;
        qs_link_stream_send(link, (const uint8_t *)own->agent.data, own->agent.len, NULL);
        return true;
    } else if (own->step != MACHINE && is(line, n, "ready")) {
        own->step = NOTHING_MORE;
        return true;
    }
    refuse(link, line, n);
    return false;
}

/* Can `in` be what is expected? Before the script's first line a banner may stand, whose last line need not
 * have an end; after it nothing. */
static bool may_be_ours(const struct ssh_own *own, size_t before)
{
    size_t n = own->in.len < strlen(MARK) ? own->in.len : strlen(MARK);
    if (own->step == MACHINE)
        return before <= QS_NOISE_SHELL_MAX_BYTES;
    return n == 0 || memcmp(own->in.data, MARK, n) == 0;
}

/* One line of `in`. 1: taken; 0: more has to come; -1: the link is down, and may be gone. */
static int take_some(struct qs_link *link)
{
    struct ssh_own *own = link->own;
    struct qs_buf *in = &own->in;
    const char *mark = in->len > 0 ? memmem(in->data, in->len, MARK, strlen(MARK)) : NULL;
    size_t before = mark ? (size_t)(mark - in->data) : in->len;
    const char *end = mark ? memchr(mark, '\n', in->len - before) : NULL;
    if (!may_be_ours(own, before) || (mark && !end && in->len - before > LINE_BYTES)) {
        refuse(link, in->data, in->len);
        return -1;
    }
    if (!end)
        return 0;
    QS_BUF(line);
    mark += strlen(MARK);
    qs_buf_add(&line, mark, (size_t)(end - mark));
    qs_buf_add(&own->noise, in->data, before);
    qs_buf_drop_front(in, (size_t)(end + 1 - in->data));
    return take_line(link, line.data, line.len) ? 1 : -1;
}

/* What preceded the agent is told as if it had come now: the session knows what to say of it. */
static void pass_on(struct qs_link *link, const uint8_t *bytes, size_t n)
{
    struct ssh_own *own = link->own;
    QS_BUF(all);
    qs_buf_add(&all, own->noise.data, own->noise.len);
    qs_buf_add(&all, own->in.data, own->in.len);
    qs_buf_add(&all, bytes, n);
    qs_buf_clear(&own->noise);
    qs_buf_clear(&own->in);
    qs_link_bytes(link, (const uint8_t *)all.data, all.len);
}

static void ssh_take(struct qs_link *link, const uint8_t *bytes, size_t n)
{
    struct ssh_own *own = link->own;
    int took = 1;
    if (link->state == QS_LINK_IS_UP) {
        pass_on(link, bytes, n);
        return;
    }
    qs_buf_add(&own->in, bytes, n);
    while (took > 0 && own->step != NOTHING_MORE)
        took = take_some(link);
    if (took <= 0)
        return;
    qs_timer_stop(own->patience);
    own->patience = NULL;
    qs_buf_clear(&own->agent);
    qs_link_up(link);
}

/* ---- the link ---- */

static void ssh_close(struct qs_link *link)
{
    struct ssh_own *own = link->own;
    qs_timer_stop(own->patience);
    own->patience = NULL;
    qs_link_command_close(link);
}

static bool ssh_open(struct qs_link *link, struct qs_err *err)
{
    struct ssh_own *own = link->own;
    own->step = MACHINE;
    qs_buf_clear(&own->in);
    qs_buf_clear(&own->noise);
    qs_buf_clear(&own->agent);
    if (!qs_link_command_open(link, err))
        return false;
    own->patience = qs_timer_start(link->loop, PATIENCE_NS, on_patience, link);
    return true;
}

const struct qs_link_ops qs_link_ssh_ops = {
    .traits = {.through_shell = true, .opening_ns = PATIENCE_NS + PATIENCE_NS / 4},
    .check = ssh_check,
    .new_own = ssh_new_own,
    .free_own = ssh_free_own,
    .deploy = ssh_open,
    .close = ssh_close,
    .send = qs_link_stream_send,
    .take = ssh_take,
    .stream_ended = qs_link_command_ended,
};
