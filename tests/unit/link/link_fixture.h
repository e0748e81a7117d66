/* A link under test on a real loop, and what it called back. */
#ifndef QS_TESTS_UNIT_LINK_LINK_FIXTURE_H
#define QS_TESTS_UNIT_LINK_LINK_FIXTURE_H

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/loop.h"
#include "link/link.h"

enum on_event { DO_NOTHING, DO_STOP_LOOP, DO_CLOSE, DO_FREE };

struct fixture {
    struct qs_loop *loop;
    struct qs_link *link;
    struct qs_buf got;
    size_t want; /* stop the loop once so many bytes came */
    int ups, downs;
    struct qs_err why;
    enum on_event at_up, at_bytes, at_down;
    const char *greeting; /* sent from on_up, or NULL */
    bool in_call;         /* a callback now would be one from inside a call */
    int files;            /* that were open before */
};

static inline int open_files(void)
{
    int count = 0;
    for (int fd = 0; fd < 256; fd++)
        count += fcntl(fd, F_GETFD) >= 0;
    return count;
}

static inline void act(struct fixture *f, enum on_event what)
{
    assert_false(f->in_call);
    if (what == DO_STOP_LOOP)
        qs_loop_stop(f->loop);
    if (what == DO_CLOSE)
        qs_link_close(f->link);
    if (what == DO_FREE) {
        qs_link_free(f->link);
        f->link = NULL;
    }
}

static inline void fixture_up(void *user)
{
    struct fixture *f = user;
    f->ups++;
    if (f->greeting)
        assert_true(qs_link_send(f->link, (const uint8_t *)f->greeting, strlen(f->greeting), NULL));
    act(f, f->at_up);
}

static inline void fixture_bytes(const uint8_t *bytes, size_t n, void *user)
{
    struct fixture *f = user;
    assert_true(n >= 1);
    qs_buf_add(&f->got, bytes, n);
    if (f->want > 0 && f->got.len >= f->want)
        qs_loop_stop(f->loop);
    act(f, f->at_bytes);
}

static inline void fixture_down(const struct qs_err *why, void *user)
{
    struct fixture *f = user;
    f->downs++;
    f->why = *why;
    act(f, f->at_down);
}

static inline void fixture_init(struct fixture *f, const struct qs_farm_device *device)
{
    memset(f, 0, sizeof *f);
    qs_buf_init(&f->got);
    f->loop = qs_loop_new_real(NULL);
    assert_non_null(f->loop);
    f->files = open_files();
    f->at_up = f->at_down = DO_STOP_LOOP;
    struct qs_link_events events = {
        .on_up = fixture_up, .on_bytes = fixture_bytes, .on_down = fixture_down, .user = f};
    f->link = qs_link_new(f->loop, device, &events);
}

static inline bool fixture_open(struct fixture *f)
{
    f->in_call = true;
    bool ok = qs_link_open(f->link, &f->why);
    f->in_call = false;
    return ok;
}

static inline void fixture_send(struct fixture *f, const void *bytes, size_t n)
{
    struct qs_err err = QS_ERR_INIT;
    f->in_call = true;
    bool ok = qs_link_send(f->link, bytes, n, &err);
    f->in_call = false;
    if (!ok)
        fail_msg("%s", err.text);
}

/* Every test leaves a clean loop, and no file of the link's. */
static inline void fixture_done(struct fixture *f)
{
    qs_link_free(f->link);
    qs_buf_done(&f->got);
    assert_true(open_files() <= f->files);
    assert_int_equal(qs_loop_free(f->loop), 0);
}

#endif
