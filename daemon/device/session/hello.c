/* The greeting: versions, mutual proof, what is held, the facts. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "device/session/impl.h"
#include "proto/names.h"

static struct qs_msg_hello_host our_hello(const struct qs_session *s)
{
    return (struct qs_msg_hello_host){
        .proto_min = QS_PROTO_MIN,
        .proto_max = QS_PROTO_MAX,
        .features = QS_FEATURE_ALL,
        .farm = s->farm,
        .session = s->nonce,
        .heartbeat_ms = (uint32_t)(s->heartbeat_ns / 1000000),
        .max_frame_bytes = QS_FRAME_MAX_BYTES,
        .software = qs_text_of("quiesced " QS_VERSION),
    };
}

bool qs_session_do_greet(struct qs_session *s, const union qs_msg *m)
{
    (void)m;
    qs_framer_init(&s->framer, s->rx, sizeof s->rx);
    if (s->traits->through_shell)
        s->framer.max_noise = QS_NOISE_SHELL_MAX_BYTES;
    s->tx_seq = 0;
    s->tx_seal = (struct qs_seal){.on = false};
    s->agreed = (struct qs_agreed){.max_frame_bytes = QS_FRAME_FLOOR_BYTES};
    qs_loop_random(s->loop, s->nonce.b, sizeof s->nonce.b);
    struct qs_msg_hello_host hello = our_hello(s);
    bool sent = qs_session_send(s, QS_MSG_HELLO_HOST, &hello, &s->why);
    qs_sha256_init(&s->hellos);
    qs_sha256_add(&s->hellos, s->tx + QS_FRAME_HEADER_BYTES, s->w.len - QS_FRAME_HEADER_BYTES);
    return sent;
}

static bool refuse_version(struct qs_session *s, const struct qs_msg_hello_agent *hello)
{
    const char *advice =
        hello->proto_min > QS_PROTO_MAX ? "this quiesced is too old for it" : "the agent is too old";
    return qs_session_broken(
        s, QS_E_PROTOCOL,
        "%s: no common protocol version: the agent (%s) speaks %u to %u, quiesced %s %u to %u; %s", s->name,
        s->software, (unsigned)hello->proto_min, (unsigned)hello->proto_max, QS_VERSION,
        (unsigned)QS_PROTO_MIN, (unsigned)QS_PROTO_MAX, advice);
}

static void keep_text(struct qs_text t, char *out, size_t cap)
{
    QS_BUF(escaped);
    qs_session_agent_text(t, &escaped);
    snprintf(out, cap, "%s", escaped.data);
}

/* A key on one side only is no agreement: an agent that asks for nothing may be anybody on that port. */
static bool judge_key(struct qs_session *s, bool *ret_keyed)
{
    size_t key_bytes = 0;
    bool have = qs_link_key(s->link, &key_bytes) != NULL;
    bool asked = s->agreed.auth != QS_AUTH_NONE;
    *ret_keyed = have;
    if (have && !asked)
        return qs_session_broken(
            s, QS_E_AUTH, "%s: the agent does not ask for proof of the link's key: it is refused", s->name);
    if (!have && asked)
        return qs_session_broken(
            s, QS_E_AUTH, "%s: the agent asks for proof of a key, and the link has no key_file", s->name);
    if (have && s->agreed.auth != QS_AUTH_SEALED)
        return qs_session_broken(s, QS_E_PROTOCOL,
                                 "%s: the agent (%s) proves the key but does not seal what follows, so "
                                 "others could speak in its place: it is refused",
                                 s->name, s->software);
    return true;
}

/* A login's banner, or what a profile prints: it was skipped, but may be anything the next time. */
static void tell_noise(struct qs_session *s)
{
    QS_BUF(text);
    if (s->noise_told || !s->traits->through_shell || s->framer.noise_bytes == 0 || !s->events.on_note)
        return;
    s->noise_told = true;
    qs_buf_fmt(&text, "its command printed %u byte%s before the agent spoke: \"",
               (unsigned)s->framer.noise_bytes, s->framer.noise_bytes == 1 ? "" : "s");
    qs_session_noise(s, &text);
    qs_buf_str(&text, "\"; see that no profile prints anything for non-interactive shells");
    s->events.on_note(true, text.data, s->events.user);
}

bool qs_session_do_judge(struct qs_session *s, const union qs_msg *m)
{
    const struct qs_msg_hello_agent *hello = &m->hello_agent;
    struct qs_msg_hello_host ours = our_hello(s);
    bool keyed = false;
    tell_noise(s);
    keep_text(hello->software, s->software, sizeof s->software);
    keep_text(hello->boot_id, s->boot_id, sizeof s->boot_id);
    keep_text(hello->clock, s->clock_name, sizeof s->clock_name);
    int status = qs_msg_agree(&ours, hello, &s->agreed);
    if (status == QS_WIRE_E_VERSION)
        return refuse_version(s, hello);
    if (status != 0)
        return qs_session_broken(s, QS_E_PROTOCOL, "%s: the agent's greeting: %s", s->name,
                                 qs_wire_err_text(status));
    if ((s->agreed.features & QS_FEATURE_COMMAND) == 0)
        return qs_session_broken(s, QS_E_PROTOCOL, "%s: the agent (%s) cannot run commands", s->name,
                                 s->software);
    if (!judge_key(s, &keyed))
        return false;
    s->framer.max_payload = s->agreed.max_frame_bytes;
    s->max_iterations = hello->max_iterations;
    memcpy(s->agent_nonce, hello->nonce, sizeof s->agent_nonce);
    qs_session_fire(s, keyed ? QS_SESSION_EV_KEYED : QS_SESSION_EV_KEYLESS, NULL);
    return true;
}

bool qs_session_do_prove(struct qs_session *s, const union qs_msg *m)
{
    (void)m;
    size_t key_bytes = 0;
    const uint8_t *key = qs_link_key(s->link, &key_bytes);
    struct qs_msg_auth proof;
    uint8_t hellos[QS_SHA256_BYTES];
    qs_auth_mac_host(key, key_bytes, &s->nonce, s->agent_nonce, &s->farm, proof.mac);
    if (!qs_session_send(s, QS_MSG_AUTH, &proof, &s->why))
        return false;
    qs_sha256_final(&s->hellos, hellos);
    qs_seal_make(key, key_bytes, &s->nonce, s->agent_nonce, &s->farm, hellos, &s->tx_seal, &s->rx_seal);
    return true;
}

bool qs_session_do_verify(struct qs_session *s, const union qs_msg *m)
{
    size_t key_bytes = 0;
    const uint8_t *key = qs_link_key(s->link, &key_bytes);
    uint8_t want[QS_SHA256_BYTES];
    qs_auth_mac_agent(key, key_bytes, &s->nonce, s->agent_nonce, &s->farm, want);
    if (!qs_auth_equal(want, m->auth.mac, sizeof want))
        return qs_session_broken(s, QS_E_AUTH, "%s: the agent's proof is wrong: it does not have our key",
                                 s->name);
    s->framer.seal = s->rx_seal;
    return true;
}

bool qs_session_do_take_held(struct qs_session *s, const union qs_msg *m)
{
    struct qs_iter it = qs_list_iter(&m->held.held);
    struct qs_held held;
    uint32_t generation = s->generation;
    if (!qs_session_send(s, QS_MSG_FACTS_GET, NULL, &s->why))
        return false;
    while (s->generation == generation && qs_list_held(&it, &held)) {
        qs_session_remember(s, &held.run, held.first_seq, held.next_seq);
        if (s->events.on_held)
            s->events.on_held(&held.run, held.first_seq, held.next_seq, s->events.user);
    }
    return true;
}

static int by_key(const void *a, const void *b)
{
    const struct qs_fact *x = a;
    const struct qs_fact *y = b;
    uint16_t n = x->key.n < y->key.n ? x->key.n : y->key.n;
    int order = memcmp(x->key.p, y->key.p, n); /* a key has at least one byte */
    return order != 0 ? order : (x->key.n > y->key.n) - (x->key.n < y->key.n);
}

/* The key that the host adds is not the agent's. */
static bool is_any(const struct qs_fact *fact)
{
    return !qs_text_is(fact->key, "variables");
}

/* What a short duration depends on, whatever is measured. */
static bool is_operating(const struct qs_fact *fact)
{
    static const char *const keys[] = {"agent_sha256", "clock",  "clock_source", "cpu_model", "cpus_online",
                                       "governors",    "kernel", "machine",      "smt",       "turbo"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (qs_text_is(fact->key, keys[i]))
            return true;
    return false;
}

static char *facts_to_json(const struct qs_fact *facts, size_t count,
                           bool (*takes)(const struct qs_fact *fact))
{
    struct qs_buf out;
    qs_buf_init(&out);
    struct qs_json json = qs_json_to(&out);
    qs_json_object(&json);
    for (size_t i = 0; i < count; i++) {
        char key[QS_NAME_MAX_BYTES + 1];
        if (!takes(&facts[i]))
            continue;
        qs_text_copy(facts[i].key, key, sizeof key);
        qs_json_key(&json, key);
        qs_json_string_n(&json, facts[i].value.n > 0 ? facts[i].value.p : "", facts[i].value.n);
    }
    qs_json_object_end(&json);
    return qs_buf_take(&out);
}

bool qs_session_do_take_facts(struct qs_session *s, const union qs_msg *m)
{
    struct qs_fact *facts = qs_calloc(QS_FACTS_MAX, sizeof *facts);
    struct qs_iter it = qs_list_iter(&m->facts.facts);
    size_t count = 0;
    bool unique = true;
    while (count < QS_FACTS_MAX && qs_list_fact(&it, &facts[count]))
        count++;
    qsort(facts, count, sizeof *facts, by_key);
    for (size_t i = 1; i < count; i++)
        unique = unique && by_key(&facts[i - 1], &facts[i]) != 0;
    if (unique) {
        s->facts_json = facts_to_json(facts, count, is_any);
        free(s->operating_json);
        s->operating_json = facts_to_json(facts, count, is_operating);
    }
    free(facts);
    if (!unique)
        return qs_session_broken(s, QS_E_PROTOCOL, "%s: the agent names a fact twice", s->name);
    qs_session_burst(s, QS_SESSION_BURST_FIRST);
    return true;
}

bool qs_session_do_announce(struct qs_session *s, const union qs_msg *m)
{
    (void)m;
    struct qs_session_agent agent = {
        .software = s->software,
        .boot_id = s->boot_id,
        .clock = s->clock_name,
        .features = s->agreed.features,
        .max_iterations = s->max_iterations,
        .simulated = qs_link_is_simulated(s->link),
    };
    char *facts = s->facts_json;
    s->facts_json = NULL;
    s->failures = 0;
    s->cache_known = false;
    qs_session_arm_beat(s);
    s->events.on_ready(&agent, facts, s->events.user);
    free(facts);
    return true;
}

/* The agent's reason for not talking to us, or for leaving. */
bool qs_session_do_refuse(struct qs_session *s, const union qs_msg *m)
{
    QS_BUF(text);
    qs_session_agent_text(m->error.text, &text);
    enum qs_errc code = m->error.code == QS_CODE_AUTH ? QS_E_AUTH : QS_E_AGENT;
    if (m->error.code == QS_CODE_VERSION || m->error.code == QS_CODE_PROTOCOL)
        code = QS_E_PROTOCOL;
    qs_session_broken(s, code, "%s: the agent refuses the session (%s): %s", s->name,
                      qs_wire_code_name(m->error.code), text.data);
    return false;
}

bool qs_session_do_bye(struct qs_session *s, const union qs_msg *m)
{
    QS_BUF(text);
    qs_session_agent_text(m->bye.why, &text);
    qs_session_broken(s, QS_E_LINK, "%s: the agent left: %s", s->name, text.data);
    return false;
}
