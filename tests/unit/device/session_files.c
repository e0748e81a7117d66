#include "session_files.h"

#include "host.h"
#include "peer.h"

#include <stdlib.h>
#include <string.h>

/* The agent's half: it answers, or leaves the answer to the test. */
struct bed {
    struct qs_loop *loop;
    struct peer *peer;
    struct host host;
    bool mute, deaf;
    uint32_t id;
    uint64_t taken, bytes;
};

static void say_having(struct bed *b, uint32_t id)
{
    size_t at = peer_begin(b->peer);
    qs_msg_encode_having(&b->peer->w, &(struct qs_msg_having){
                                          .id = id, .cache_bytes = 70, .free_bytes = 80, .most_bytes = 90});
    peer_end(b->peer, at, QS_MSG_HAVING);
}

static void say_put_at(struct bed *b, uint32_t id, enum qs_put_status status, uint64_t offset)
{
    size_t at = peer_begin(b->peer);
    qs_msg_encode_put_at(&b->peer->w, &(struct qs_msg_put_at){.id = id, .status = status, .offset = offset});
    peer_end(b->peer, at, QS_MSG_PUT_AT);
}

static void say_staged(struct bed *b, uint32_t id)
{
    size_t at = peer_begin(b->peer);
    qs_msg_encode_staged(&b->peer->w, &(struct qs_msg_staged){.id = id, .path = qs_text_of("/cache/0001")});
    peer_end(b->peer, at, QS_MSG_STAGED);
}

static void say_cleaned(struct bed *b, uint32_t id)
{
    size_t at = peer_begin(b->peer);
    qs_msg_encode_cleaned(&b->peer->w,
                          &(struct qs_msg_cleaned){.id = id, .freed_bytes = 7, .cache_bytes = 63});
    peer_end(b->peer, at, QS_MSG_CLEANED);
}

static void take_data(struct bed *b, const struct qs_frame *f)
{
    struct qs_msg_put_data m;
    assert_int_equal(qs_msg_decode_put_data(f->payload, f->len, &m), 0);
    assert_int_equal(m.id, b->id);
    assert_int_equal(m.offset, b->taken);
    b->taken += m.data.n;
    if (!b->mute)
        say_put_at(b, b->id, b->taken == b->bytes ? QS_PUT_KEPT : QS_PUT_MORE, b->taken);
}

static void take_put(struct bed *b, const struct qs_frame *f)
{
    struct qs_msg_put m;
    assert_int_equal(qs_msg_decode_put(f->payload, f->len, &m), 0);
    b->id = m.id;
    b->bytes = m.file.bytes;
    b->taken = 0;
    if (!b->mute)
        say_put_at(b, b->id, QS_PUT_MORE, 0);
}

/* Requests begin with their id. */
static uint32_t id_of(const struct qs_frame *f)
{
    struct qs_wire_reader r;
    qs_reader_init(&r, f->payload, f->len);
    return qs_get_u32(&r);
}

static bool answer(struct peer *p, const struct qs_frame *f)
{
    struct bed *b = p->user;
    if (b->deaf)
        return true;
    if (f->type == QS_MSG_PUT) {
        take_put(b, f);
    } else if (f->type == QS_MSG_PUT_DATA) {
        take_data(b, f);
    } else if (f->type == QS_MSG_HAVE || f->type == QS_MSG_STAGE || f->type == QS_MSG_CLEAN) {
        b->id = id_of(f);
        if (b->mute)
            return true;
        f->type == QS_MSG_HAVE    ? say_having(b, b->id)
        : f->type == QS_MSG_STAGE ? say_staged(b, b->id)
                                  : say_cleaned(b, b->id);
    } else {
        return false;
    }
    return true;
}

static struct bed *new_bed(uint32_t features)
{
    struct bed *b = calloc(1, sizeof *b);
    b->loop = qs_loop_new_real(NULL);
    b->peer = peer_new(b->loop, PEER_UNIX);
    b->peer->user = b;
    b->peer->script = answer;
    b->peer->features |= features;
    struct qs_farm_device device = {
        .name = (char *)(uintptr_t) "board", .link = QS_LINK_UNIX, .address = b->peer->address};
    host_init(&b->host, b->loop, &device);
    qs_session_start(b->host.session);
    host_wait(&b->host, "ready");
    return b;
}

static void free_bed(struct bed *b)
{
    host_done(&b->host);
    peer_free(b->peer);
    assert_int_equal(qs_loop_free(b->loop), 0);
    free(b);
}

static bool have(struct bed *b)
{
    const struct qs_msg_have m = {.id = qs_session_next_file_id(b->host.session)};
    return host_call(&b->host, QS_MSG_HAVE, &m, 0);
}

static bool put(struct bed *b)
{
    const struct qs_msg_put m = {.id = qs_session_next_file_id(b->host.session), .file = {.bytes = 600000}};
    return host_call(&b->host, QS_MSG_PUT, &m, 0);
}

static bool stage(struct bed *b)
{
    const struct qs_msg_stage m = {.id = qs_session_next_file_id(b->host.session), .dir = 1};
    return host_call(&b->host, QS_MSG_STAGE, &m, 0);
}

static bool clean(struct bed *b)
{
    const struct qs_msg_clean m = {.id = qs_session_next_file_id(b->host.session), .what = QS_CLEAN_SESSION};
    return host_call(&b->host, QS_MSG_CLEAN, &m, 0);
}

static bool send_some(struct bed *b, size_t n)
{
    static const char zeros[QS_PUT_MAX_BYTES];
    return qs_session_push_data(b->host.session, zeros, n, &b->host.why);
}

void files_are_pushed_between_runs(void **state)
{
    (void)state;
    struct bed *b = new_bed(0);
    struct qs_session *s = b->host.session;
    struct qs_session_cache cache;
    assert_false(qs_session_has(s, QS_FEATURE_FILES));
    assert_false(have(b));
    host_assert_why(&b->host, QS_E_AGENT,
                    "takes no files, or has no place for them (its --cache DIR): it is too old");
    free_bed(b);
    b = new_bed(QS_FEATURE_FILES);
    s = b->host.session;
    assert_true(have(b));
    assert_false(put(b));
    host_assert_why(&b->host, QS_E_CONFLICT, "no PUT before the answer to HAVE");
    assert_false(host_begin(&b->host));
    assert_false(qs_session_cache(s, &cache));
    host_wait(&b->host, "having 0");
    assert_true(qs_session_cache(s, &cache));
    assert_int_equal(cache.bytes, 70);
    assert_int_equal(cache.free_bytes, 80);
    assert_int_equal(cache.most_bytes, 90);
    assert_int_equal(qs_session_push_room(s), 0);
    assert_true(put(b));
    assert_int_equal(qs_session_push_room(s), QS_PUT_MAX_BYTES);
    assert_false(send_some(b, QS_PUT_MAX_BYTES + 1));
    b->mute = true;
    size_t sent = 0;
    for (size_t room = qs_session_push_room(s); room > 0; room = qs_session_push_room(s)) {
        assert_true(send_some(b, room));
        sent += room;
    }
    assert_int_equal(sent, QS_PUT_AHEAD_BYTES); /* no further before something has arrived */
    b->mute = false;
    say_put_at(b, 2, QS_PUT_MORE, 0);
    host_wait(&b->host, "put_at 0 524288");
    assert_true(send_some(b, qs_session_push_room(s)));
    assert_true(send_some(b, qs_session_push_room(s)));
    assert_true(send_some(b, qs_session_push_room(s)));
    assert_int_equal(qs_session_push_room(s), 0);
    host_wait(&b->host, "put_at 1 600000");
    assert_true(stage(b));
    host_wait(&b->host, "staged /cache/0001");
    assert_true(put(b)); /* given up: its answers cross what comes after */
    assert_true(send_some(b, 1000));
    assert_true(clean(b));
    host_wait(&b->host, "cleaned 7");
    assert_true(qs_session_cache(s, &cache));
    assert_int_equal(cache.bytes, 63);
    assert_int_equal(cache.most_bytes, 90);
    assert_string_equal(qs_session_state_name(s), "ready");
    b->mute = true;
    assert_true(put(b));
    assert_true(clean(b));
    say_put_at(b, 6, QS_PUT_FAILED, 0);
    say_cleaned(b, 7);
    host_wait(&b->host, "cleaned 7");
    free_bed(b);
}

/* An agent that sums up files answers no heartbeat, and none is missed; what its cache said goes with its
 * link. */
void a_deaf_agent_is_not_lost(void **state)
{
    (void)state;
    struct qs_session_cache cache;
    struct bed *b = new_bed(QS_FEATURE_FILES);
    struct qs_session *s = b->host.session;
    assert_true(have(b));
    host_wait(&b->host, "having 0");
    b->deaf = true;
    assert_true(have(b));
    host_idle(&b->host, 8 * HOST_HEARTBEAT_MS * INT64_C(1000000));
    assert_int_equal(b->host.downs, 0);
    b->deaf = false;
    say_having(b, 2);
    host_wait(&b->host, "having 0");
    peer_hang_up(b->peer);
    host_wait(&b->host, "ready");
    assert_false(qs_session_cache(s, &cache)); /* another agent may be there */
    free_bed(b);
}

/* Answers that nobody asked for, or that cannot be, end the connection. */
void answers_about_files_are_judged(void **state)
{
    (void)state;
    for (int i = 0; i < 7; i++) {
        struct bed *b = new_bed(QS_FEATURE_FILES);
        b->mute = true;
        if (i < 2)
            assert_true(have(b));
        else if (i < 6)
            assert_true(put(b));
        switch (i) {
        case 0:
            say_having(b, 9);
            break;
        case 1:
            say_staged(b, 1);
            break;
        case 2:
            say_put_at(b, 1, QS_PUT_MORE, 1); /* nothing was sent */
            break;
        case 3:
            say_put_at(b, 1, QS_PUT_KEPT, 5); /* it is longer */
            break;
        case 4:
            say_put_at(b, 0, QS_PUT_MORE, 0);
            break;
        case 5: /* it has had more before */
            assert_true(send_some(b, 100));
            say_put_at(b, 1, QS_PUT_MORE, 60);
            host_wait(&b->host, "put_at 0 60");
            say_put_at(b, 1, QS_PUT_MORE, 59);
            break;
        default:
            say_having(b, 0); /* not asked */
        }
        host_wait(&b->host, "down");
        assert_int_equal(b->host.why.code, QS_E_PROTOCOL);
        free_bed(b);
    }
}
