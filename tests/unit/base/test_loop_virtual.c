/* What holds in virtual time only. */
#include "cm.h"

#include <unistd.h>

#include "base/buf.h"
#include "base/loop.h"
#include "base/prng.h"

static const int64_t start_ns = 1769860800000000000;
static const int64_t hour_ns = 3600000000000;

struct visit {
    struct qs_loop *loop;
    int64_t at_ns;
    int count;
};

static void on_visit(void *user)
{
    struct visit *v = user;
    v->at_ns = qs_loop_now_ns(v->loop);
    v->count++;
}

static void ten_hours_pass_at_once_and_exactly(void **state)
{
    (void)state;
    struct visit v = {.loop = qs_loop_new_virtual(start_ns, 1)};
    qs_timer_start(v.loop, 10 * hour_ns + 1, on_visit, &v);
    assert_int_equal(qs_loop_now_ns(v.loop), start_ns);
    qs_loop_run(v.loop);
    assert_int_equal(v.count, 1);
    assert_int_equal(v.at_ns, start_ns + 10 * hour_ns + 1);
    assert_int_equal(qs_loop_wall_ns(v.loop), v.at_ns);
    assert_true(qs_loop_is_virtual(v.loop));
    assert_int_equal(qs_loop_free(v.loop), 0);
}

struct chain {
    struct qs_loop *loop;
    int left;
    int64_t last_ns;
};

static void on_link(void *user)
{
    struct chain *c = user;
    c->last_ns = qs_loop_now_ns(c->loop);
    if (c->left-- > 0)
        qs_loop_post(c->loop, on_link, c);
}

static void the_clock_stands_while_posts_are_left(void **state)
{
    (void)state;
    struct chain c = {.loop = qs_loop_new_virtual(77, 1), .left = 50};
    struct visit later = {.loop = c.loop};
    qs_timer_start(c.loop, 5, on_visit, &later);
    qs_loop_post(c.loop, on_link, &c);
    qs_loop_run(c.loop);
    assert_int_equal(c.left, -1);
    assert_int_equal(c.last_ns, 77);
    assert_int_equal(later.at_ns, 82);
    assert_int_equal(qs_loop_free(c.loop), 0);
}

struct worker {
    struct qs_loop *loop;
    bool worked;
    bool after;
};

static void on_work(void *user)
{
    ((struct worker *)user)->worked = true;
}

static void on_after(void *user)
{
    ((struct worker *)user)->after = true;
}

static void work_is_done_inline_and_after_is_posted(void **state)
{
    (void)state;
    struct worker w = {.loop = qs_loop_new_virtual(0, 1)};
    qs_loop_work(w.loop, QS_LANE_QUICK, on_work, on_after, &w);
    assert_true(w.worked);
    assert_false(w.after);
    qs_loop_run(w.loop);
    assert_true(w.after);
    assert_int_equal(qs_loop_now_ns(w.loop), 0);
    assert_int_equal(qs_loop_free(w.loop), 0);
}

static void equal_seeds_give_equal_bytes(void **state)
{
    (void)state;
    unsigned char a[99], b[99], c[99];
    struct qs_loop *one = qs_loop_new_virtual(0, 7);
    struct qs_loop *two = qs_loop_new_virtual(hour_ns, 7);
    struct qs_loop *other = qs_loop_new_virtual(0, 8);
    for (int i = 0; i < 3; i++) {
        qs_loop_random(one, a, sizeof a);
        qs_loop_random(two, b, sizeof b);
        qs_loop_random(other, c, sizeof c);
        assert_memory_equal(a, b, sizeof a);
        assert_memory_not_equal(a, c, sizeof a);
    }
    assert_int_equal(qs_loop_free(one) + qs_loop_free(two) + qs_loop_free(other), 0);
}

/* Little-endian on every machine. */
static void bytes_come_from_the_stream_in_order(void **state)
{
    (void)state;
    struct qs_loop *loop = qs_loop_new_virtual(0, 7);
    struct qs_prng p;
    qs_prng_seed(&p, 7);
    unsigned char bytes[16];
    qs_loop_random(loop, bytes, sizeof bytes);
    for (int i = 0; i < 2; i++) {
        uint64_t word = qs_prng_next(&p);
        for (int k = 0; k < 8; k++)
            assert_int_equal(bytes[8 * i + k], (word >> (8 * k)) & 0xff);
    }
    assert_int_equal(qs_loop_free(loop), 0);
}

/* A small machine that draws, waits and posts; its diary is a function of the seed. */
struct machine {
    struct qs_loop *loop;
    struct qs_buf diary;
    int left;
};

static void on_echo(void *user)
{
    struct machine *m = user;
    qs_buf_fmt(&m->diary, "e%lld ", (long long)qs_loop_now_ns(m->loop));
}

static void on_step(void *user)
{
    struct machine *m = user;
    uint16_t draw[2];
    qs_loop_random(m->loop, draw, sizeof draw);
    qs_buf_fmt(&m->diary, "s%lld/%u ", (long long)qs_loop_now_ns(m->loop), draw[0]);
    if (m->left-- <= 0)
        return;
    qs_timer_start(m->loop, draw[0] % 4, on_echo, m);
    qs_timer_start(m->loop, draw[1] % 4, on_step, m);
    qs_loop_post(m->loop, on_echo, m);
}

static void live(struct machine *m, uint64_t seed)
{
    *m = (struct machine){.loop = qs_loop_new_virtual(0, seed), .left = 200};
    qs_buf_init(&m->diary);
    qs_timer_start(m->loop, 0, on_step, m);
    qs_loop_run(m->loop);
    assert_int_equal(qs_loop_free(m->loop), 0);
}

static void equal_seeds_give_equal_diaries(void **state)
{
    (void)state;
    struct machine a, b, c;
    live(&a, 11);
    live(&b, 11);
    live(&c, 12);
    assert_true(a.diary.len > 1000);
    assert_string_equal(a.diary.data, b.diary.data);
    assert_string_not_equal(a.diary.data, c.diary.data);
    qs_buf_done(&a.diary);
    qs_buf_done(&b.diary);
    qs_buf_done(&c.diary);
}

static void on_never_io(unsigned events, void *user)
{
    (void)user;
    fail_msg("descriptor event %u in virtual time", events);
}

static void on_never_child(int code, int term_signal, void *user)
{
    (void)user;
    fail_msg("exit %d/%d in virtual time", code, term_signal);
}

static void on_never_signal(int signum, void *user)
{
    (void)user;
    fail_msg("signal %d in virtual time", signum);
}

static void nothing_real_has_a_place(void **state)
{
    (void)state;
    struct qs_loop *loop = qs_loop_new_virtual(0, 1);
    struct qs_err err = QS_ERR_INIT;
    assert_null(qs_io_start(loop, STDIN_FILENO, QS_IO_READ, on_never_io, NULL, &err));
    assert_int_equal(err.code, QS_E_INTERNAL);
    assert_string_equal(err.text, "a descriptor has no place in virtual time");
    err = QS_ERR_INIT;
    const char *const argv[] = {"true", NULL};
    struct qs_spawn spec = {.argv = argv, .fd = {-1, -1, -1}};
    assert_null(qs_child_start(loop, &spec, on_never_child, NULL, &err));
    assert_int_equal(err.code, QS_E_INTERNAL);
    err = QS_ERR_INIT;
    assert_null(qs_signal_start(loop, 10, on_never_signal, NULL, &err));
    assert_int_equal(err.code, QS_E_INTERNAL);
    qs_loop_run(loop);
    assert_int_equal(qs_loop_free(loop), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ten_hours_pass_at_once_and_exactly),
        cmocka_unit_test(the_clock_stands_while_posts_are_left),
        cmocka_unit_test(work_is_done_inline_and_after_is_posted),
        cmocka_unit_test(equal_seeds_give_equal_bytes),
        cmocka_unit_test(bytes_come_from_the_stream_in_order),
        cmocka_unit_test(equal_seeds_give_equal_diaries),
        cmocka_unit_test(nothing_real_has_a_place),
    };
    return cmocka_run_group_tests_name("loop_virtual", tests, NULL, NULL);
}
