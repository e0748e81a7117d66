/* Any bytes as what answers the daemon where it expects an agent with TLS. The first byte says who speaks:
 * the input itself, in pieces, or an agent that has the key, whose bytes are changed on their way as the
 * input says (tls_bytes.h). What the host hears is then the beginning of what the agent has said and nothing
 * else, and it says nothing of its own once a session stands. */
#include <string.h>

#include "../unit/link/tls_peer.h"
#include "fuzz.h"
#include "link/tls/tls.h"
#include "tls_bytes.h"

enum { SAYS_BYTES = 5000, TURNS = 12 };

struct host {
    struct qs_tls *tls;
    struct qs_buf said, wire;
    struct qs_err err;
    bool ok;
};

static void begin(struct host *h)
{
    h->err = QS_ERR_INIT;
    qs_buf_init(&h->said);
    qs_buf_init(&h->wire);
    h->tls = qs_tls_new("board", &tls_bytes_key, &h->err);
    h->ok = h->tls && qs_tls_take(h->tls, NULL, 0, &h->said, &h->wire, &h->err);
    fuzz_require(h->ok && h->wire.len > 0);
}

static void end(struct host *h)
{
    fuzz_require(h->ok || h->err.text[0] != '\0');
    qs_tls_free(h->tls);
    qs_buf_done(&h->said);
    qs_buf_done(&h->wire);
}

static void take(struct host *h, const uint8_t *bytes, size_t n)
{
    bool was_up = qs_tls_is_up(h->tls);
    size_t before = h->wire.len;
    h->ok = qs_tls_take(h->tls, bytes, n, &h->said, &h->wire, &h->err);
    fuzz_require(!was_up || h->wire.len == before);
    fuzz_require(qs_tls_is_up(h->tls) || h->said.len == 0);
}

static void listen(const uint8_t *data, size_t size, size_t piece)
{
    struct host h;
    begin(&h);
    for (size_t at = 0; h.ok && at < size; at += piece)
        take(&h, data + at, size - at < piece ? size - at : piece);
    end(&h);
}

/* What it says once a session stands, a little more each time. */
static void speak(struct tls_peer *agent, const uint8_t *text, size_t *said)
{
    size_t n = *said / 2 + 1;
    if (!agent->up || *said + n > SAYS_BYTES)
        return;
    tls_peer_say(agent, text + *said, n);
    *said += n;
}

static void converse(const uint8_t *data, size_t size)
{
    struct tls_bytes_steps steps = {.at = data, .n = size};
    struct tls_peer agent;
    struct host h;
    uint8_t text[SAYS_BYTES];
    size_t said = 0;
    QS_BUF(changed);
    for (size_t i = 0; i < sizeof text; i++)
        text[i] = (uint8_t)(i * 7 + i / 256);
    begin(&h);
    tls_peer_init(&agent, &tls_bytes_key, NULL);
    for (int i = 0; h.ok && i < TURNS; i++) {
        tls_bytes_draw(true);
        tls_peer_take(&agent, h.wire.data, h.wire.len);
        speak(&agent, text, &said);
        tls_bytes_draw(false);
        qs_buf_clear(&h.wire);
        qs_buf_clear(&changed);
        tls_bytes_pass(&steps, agent.out.data, agent.out.len, &changed);
        qs_buf_clear(&agent.out);
        take(&h, (const uint8_t *)changed.data, changed.len);
        fuzz_require(!qs_tls_is_up(h.tls) || agent.up);
        fuzz_require(h.said.len <= said && (said == 0 || memcmp(h.said.data, text, h.said.len) == 0));
    }
    fuzz_require(size >= 4 || h.said.len == said); /* nobody has changed anything */
    tls_peer_done(&agent);
    end(&h);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    tls_bytes_begin();
    if (data[0] == 0)
        converse(data + 1, size - 1);
    else
        listen(data + 1, size - 1, data[0]);
    return 0;
}
