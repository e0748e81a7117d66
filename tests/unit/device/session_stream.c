#include "session_stream.h"

#include <stdlib.h>
#include <string.h>

#include "host.h"
#include "peer.h"

struct bed {
    struct qs_loop *loop;
    struct peer *peer;
    struct host host;
};

static const char bytes[] = "0123456789";
static struct qs_msg_document pieces[4]; /* that the agent sends between CLOSED and the row; n = 0: no more */
static bool without_row;

static void send_piece(struct peer *p, struct qs_msg_document m)
{
    if (qs_uid_is_zero(&m.run))
        m.run = p->run;
    size_t at = peer_begin(p);
    qs_msg_encode_document(&p->w, &m);
    peer_end(p, at, QS_MSG_DOCUMENT);
}

static bool with_document(struct peer *p, const struct qs_frame *f)
{
    if (f->type != QS_MSG_QUIET)
        return false;
    peer_closed(p, QS_CLOSED_DONE, 1);
    for (size_t i = 0; i < 4 && (pieces[i].kept_bytes > 0 || pieces[i].status != QS_PULL_OK); i++)
        send_piece(p, pieces[i]);
    if (!without_row)
        peer_rows(p, &p->run, p->open.first_seq, 0, 1);
    p->next_seq = p->open.first_seq + 1;
    return true;
}

static struct qs_msg_document piece(uint32_t offset, uint16_t n, uint32_t kept)
{
    return (struct qs_msg_document){
        .total_bytes = kept, .kept_bytes = kept, .offset = offset, .bytes = {.p = bytes + offset, .n = n}};
}

static void bed_init(struct bed *b)
{
    b->loop = qs_loop_new_real(NULL);
    b->peer = peer_new(b->loop, PEER_UNIX);
    b->peer->user = b;
    b->peer->features |= QS_FEATURE_STREAM;
    const struct qs_farm_device device = {
        .name = (char *)"board", .link = QS_LINK_UNIX, .address = b->peer->address};
    host_init(&b->host, b->loop, &device);
    memset(pieces, 0, sizeof pieces);
    without_row = false;
}

static void bed_done(struct bed *b)
{
    host_done(&b->host);
    peer_free(b->peer);
    assert_int_equal(qs_loop_free(b->loop), 0);
}

static bool begin(struct bed *b)
{
    uint8_t mem[64];
    struct qs_build argv;
    qs_build_init(&argv, mem, sizeof mem);
    qs_build_text(&argv, qs_text_of("./suite"));
    const struct qs_msg_run_begin m = {.run = host_run,
                                       .argv = qs_build_list(&argv),
                                       .iteration_limit_ns = 1000000000,
                                       .mode = QS_RUN_STREAM,
                                       .stream = {.document_max_bytes = 100}};
    return host_call(&b->host, QS_MSG_RUN_BEGIN, &m, 0);
}

static void open_window(struct bed *b)
{
    qs_session_start(b->host.session);
    host_wait(&b->host, "ready");
    b->peer->script = with_document;
    assert_true(begin(b));
    host_wait(&b->host, "run_ready");
    assert_true(host_open(&b->host, 0, 0, 0));
}

void a_document_comes_before_its_row(void **state)
{
    (void)state;
    struct bed b;
    bed_init(&b);
    pieces[0] = piece(0, 4, 10);
    pieces[1] = piece(4, 6, 10);
    open_window(&b);
    host_wait(&b.host, "rows 0+1");
    assert_non_null(strstr(b.host.log.data, "closed 1\ndocument 0+4 of 10\ndocument 4+6 of 10\nrows 0+1\n"));
    pieces[0] =
        (struct qs_msg_document){.window = 1, .status = QS_PULL_MISSING, .why = qs_text_of("no file")};
    pieces[1] = (struct qs_msg_document){0};
    assert_true(host_open(&b.host, 1, 1, 0));
    host_wait(&b.host, "rows 1+1");
    assert_non_null(strstr(b.host.log.data, "document 0+0 of 0\nrows 1+1\n"));
    bed_done(&b);
    bed_init(&b);
    b.peer->features &= ~(uint32_t)QS_FEATURE_STREAM;
    qs_session_start(b.host.session);
    host_wait(&b.host, "ready");
    assert_false(begin(&b));
    host_assert_why(&b.host, QS_E_AGENT, "has no stream mode");
    const struct qs_msg_run_begin to_file = {
        .run = host_run, .output_kind = QS_OUTPUT_KIND_FILE, .output_path = qs_text_of("log")};
    assert_false(host_call(&b.host, QS_MSG_RUN_BEGIN, &to_file, 0));
    host_assert_why(&b.host, QS_E_AGENT, "writes no output to a file");
    bed_done(&b);
}

static bool again(struct peer *p, const struct qs_frame *f)
{
    const struct qs_uid held = {{0xA0}};
    if (f->type != QS_MSG_RESEND)
        return false;
    const struct qs_uid open = p->run;
    struct qs_msg_document m = piece(0, 10, 10);
    m.run = held;
    p->run = held;
    peer_closed(p, QS_CLOSED_DONE, 4);
    m.window = p->open.window;
    send_piece(p, m);
    peer_rows(p, &held, 5, 0, 4);
    p->run = open;
    return true;
}

void a_document_comes_again_with_its_window(void **state)
{
    (void)state;
    const struct qs_uid held = {{0xA0}};
    struct bed b;
    bed_init(&b);
    b.peer->held_runs = 1;
    b.peer->script = again;
    qs_session_start(b.host.session);
    host_wait(&b.host, "ready");
    assert_true(host_resend(&b.host, &held, 5));
    host_wait(&b.host, "rows 5+4");
    assert_non_null(strstr(b.host.log.data, "closed 4\ndocument 0+10 of 10\nrows 5+4\n"));
    bed_done(&b);
}

static void broken_by(const struct qs_msg_document *a, const struct qs_msg_document *c, const char *why)
{
    struct bed b;
    bed_init(&b);
    if (a)
        pieces[0] = *a;
    if (c)
        pieces[1] = *c;
    open_window(&b);
    host_wait(&b.host, "down");
    host_assert_why(&b.host, QS_E_PROTOCOL, why);
    bed_done(&b);
}

void a_document_that_does_not_fit_ends_the_link(void **state)
{
    (void)state;
    struct qs_msg_document a = piece(0, 4, 10), c = piece(4, 6, 10);
    broken_by(NULL, NULL, "iterations came before their document");
    broken_by(&a, NULL, "iterations came before their document");
    broken_by(&c, NULL, "byte 4 of a document came, 0 of 0 is next");
    broken_by(&a, &a, "byte 0 of a document came, 4 of 10 is next");
    c.total_bytes = 11;
    broken_by(&a, &c, "byte 4 of a document came");
    a.window = 7;
    broken_by(&a, NULL, "another run, window or mode");
    a.window = 0;
    a.run.b[0] = 0x77;
    broken_by(&a, NULL, "another run, window or mode");
    a = piece(0, 10, 10);
    c = piece(9, 1, 10);
    broken_by(&a, &c, "byte 9 of a document came, 10 of 10 is next");
}
