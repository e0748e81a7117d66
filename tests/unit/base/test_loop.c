/* What holds in real time and in virtual time alike. */
#include "both_loops.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"

static const int64_t ms_ns = 1000000;
static const int64_t hour_ns = 3600000000000;

/* Callbacks leave their letters in `seen`. */
struct trace {
    struct qs_loop *loop;
    struct qs_buf seen;
    struct qs_timer *timer;
    bool ended;
};

struct mark {
    struct trace *trace;
    char letter;
};

static void on_mark(void *user)
{
    struct mark *m = user;
    qs_buf_char(&m->trace->seen, m->letter);
}

static void trace_init(struct trace *t, void **state)
{
    memset(t, 0, sizeof *t);
    t->loop = *state;
    qs_buf_init(&t->seen);
}

static void assert_seen(struct trace *t, const char *want)
{
    assert_string_equal(t->seen.data, want);
    qs_buf_done(&t->seen);
}

static void empty_loop_returns(void **state)
{
    qs_loop_run(*state);
    qs_loop_run(*state);
}

static void on_stop_loop(void *user)
{
    struct trace *t = user;
    qs_buf_char(&t->seen, '.');
    qs_loop_stop(t->loop);
}

static void the_earliest_timer_comes_first_whenever_it_was_started(void **state)
{
    struct trace t;
    trace_init(&t, state);
    struct mark never = {&t, 'x'};
    struct qs_timer *third = qs_timer_start(t.loop, 3 * hour_ns, on_mark, &never);
    struct qs_timer *second = qs_timer_start(t.loop, 2 * hour_ns, on_mark, &never);
    qs_timer_start(t.loop, ms_ns, on_stop_loop, &t);
    qs_loop_run(t.loop);
    qs_timer_stop(second);
    qs_timer_stop(third);
    assert_seen(&t, ".");
}

static void a_timer_that_is_due_when_the_loop_stops_fires_in_the_next_run(void **state)
{
    struct trace t;
    trace_init(&t, state);
    struct mark late = {&t, 'a'};
    qs_timer_start(t.loop, 0, on_stop_loop, &t);
    qs_timer_start(t.loop, 0, on_mark, &late);
    qs_loop_run(t.loop);
    qs_buf_char(&t.seen, '|');
    qs_loop_run(t.loop);
    assert_seen(&t, ".|a");
}

static void equal_delays_fire_in_order_of_start(void **state)
{
    struct trace t;
    trace_init(&t, state);
    struct mark marks[20];
    for (int i = 0; i < 20; i++) {
        marks[i] = (struct mark){&t, (char)('a' + i)};
        qs_timer_start(t.loop, 2 * ms_ns, on_mark, &marks[i]);
    }
    qs_loop_run(t.loop);
    assert_seen(&t, "abcdefghijklmnopqrst");
}

static void many_timers_come_in_order_and_the_stopped_ones_never(void **state)
{
    enum { N = 500 };
    struct trace t;
    trace_init(&t, state);
    struct mark keep = {&t, 'k'}, drop = {&t, 'd'};
    struct qs_timer *timers[N];
    for (int i = 0; i < N; i++)
        timers[i] = qs_timer_start(t.loop, (int64_t)(i * 7919 % N) * 10000, on_mark,
                                   i % 3 ? (void *)&drop : (void *)&keep);
    for (int i = 0; i < N; i++)
        if (i % 3)
            qs_timer_stop(timers[i]);
    qs_loop_run(t.loop);
    assert_int_equal(t.seen.len, (N + 2) / 3);
    assert_null(strchr(t.seen.data, 'd'));
    qs_buf_done(&t.seen);
}

struct moment {
    struct qs_loop *loop;
    int64_t not_before_ns;
    int fired;
    int early;
};

static void on_moment(void *user)
{
    struct moment *m = user;
    m->fired++;
    m->early += qs_loop_now_ns(m->loop) < m->not_before_ns;
}

static void no_timer_fires_early(void **state)
{
    enum { N = 300 };
    struct moment moments[N];
    for (int i = 0; i < N; i++) {
        int64_t delay_ns = (int64_t)i * 50001; /* far finer than the milliseconds in which the loop waits */
        moments[i] = (struct moment){*state, qs_loop_now_ns(*state) + delay_ns, 0, 0};
        qs_timer_start(*state, delay_ns, on_moment, &moments[i]);
    }
    qs_loop_run(*state);
    for (int i = 0; i < N; i++) {
        assert_int_equal(moments[i].fired, 1);
        assert_int_equal(moments[i].early, 0);
    }
}

static void on_stop_self(void *user)
{
    struct trace *t = user;
    qs_timer_stop(t->timer);
    qs_buf_char(&t->seen, 's');
}

static void a_timer_may_be_stopped_in_its_own_callback(void **state)
{
    struct trace t;
    trace_init(&t, state);
    t.timer = qs_timer_start(t.loop, ms_ns, on_stop_self, &t);
    qs_loop_run(t.loop);
    assert_seen(&t, "s");
}

static void a_timer_due_at_once_may_be_stopped_by_the_one_before(void **state)
{
    struct trace t;
    trace_init(&t, state);
    struct mark never = {&t, 'x'};
    qs_timer_start(t.loop, 0, on_stop_self, &t);
    t.timer = qs_timer_start(t.loop, 0, on_mark, &never);
    qs_loop_run(t.loop);
    assert_seen(&t, "s");
}

static void stop_takes_null(void **state)
{
    (void)state;
    qs_timer_stop(NULL);
    qs_io_stop(NULL);
    qs_child_stop(NULL);
    qs_signal_stop(NULL);
    assert_int_equal(qs_loop_free(NULL), 0);
}

static void a_stopped_timer_does_not_hold_the_loop(void **state)
{
    struct trace t;
    trace_init(&t, state);
    struct mark near = {&t, 'n'}, never = {&t, 'x'};
    int64_t start_ns = qs_loop_now_ns(t.loop);
    qs_timer_stop(qs_timer_start(t.loop, hour_ns, on_mark, &never));
    qs_loop_run(t.loop);
    qs_timer_start(t.loop, ms_ns, on_mark, &near);
    qs_timer_stop(qs_timer_start(t.loop, hour_ns, on_mark, &never));
    qs_loop_run(t.loop);
    assert_true(qs_loop_now_ns(t.loop) - start_ns < hour_ns);
    assert_seen(&t, "n");
}

static void on_restart(void *user)
{
    struct trace *t = user;
    qs_buf_char(&t->seen, 'r');
    if (t->seen.len < 5)
        qs_timer_start(t->loop, 0, on_restart, t);
}

static void a_timer_may_start_another(void **state)
{
    struct trace t;
    trace_init(&t, state);
    qs_timer_start(t.loop, 0, on_restart, &t);
    qs_loop_run(t.loop);
    assert_seen(&t, "rrrrr");
}

static void a_far_timer_does_not_overflow(void **state)
{
    struct trace t;
    trace_init(&t, state);
    struct mark near = {&t, 'n'}, far = {&t, 'f'};
    t.timer = qs_timer_start(t.loop, INT64_MAX, on_mark, &far);
    qs_timer_start(t.loop, 0, on_mark, &near);
    qs_timer_start(t.loop, ms_ns, on_stop_self, &t);
    qs_loop_run(t.loop);
    assert_seen(&t, "ns");
}

static void on_post_two(void *user)
{
    struct mark *m = user;
    struct trace *t = m[0].trace;
    qs_buf_char(&t->seen, '(');
    qs_loop_post(t->loop, on_mark, &m[0]);
    qs_loop_post(t->loop, on_mark, &m[1]);
    qs_buf_char(&t->seen, ')');
}

static void posts_run_in_order_after_the_callback(void **state)
{
    struct trace t;
    trace_init(&t, state);
    struct mark pair[2] = {{&t, '1'}, {&t, '2'}};
    struct mark last = {&t, 'z'};
    qs_timer_start(t.loop, 0, on_post_two, pair);
    qs_timer_start(t.loop, 0, on_mark, &last);
    qs_loop_run(t.loop);
    assert_seen(&t, "()12z");
}

static void on_post_stop(void *user)
{
    qs_loop_post(((struct trace *)user)->loop, on_stop_loop, user);
}

static void posts_made_outside_run_before_any_wait(void **state)
{
    struct trace t;
    trace_init(&t, state);
    struct mark pair[2] = {{&t, '1'}, {&t, '2'}};
    struct mark never = {&t, 'x'}, first = {&t, '0'};
    struct qs_timer *late = qs_timer_start(t.loop, hour_ns, on_mark, &never);
    qs_loop_post(t.loop, on_mark, &first);
    qs_loop_post(t.loop, on_post_two, pair);
    qs_loop_post(t.loop, on_post_stop, &t);
    qs_loop_run(t.loop);
    qs_timer_stop(late);
    assert_seen(&t, "0()12.");
}

static void on_post_again(void *user)
{
    struct trace *t = user;
    qs_buf_char(&t->seen, 'p');
    if (!t->ended)
        qs_loop_post(t->loop, on_post_again, t);
}

static void on_end_posts(void *user)
{
    ((struct trace *)user)->ended = true;
}

static void a_chain_of_posts_does_not_starve_a_due_timer(void **state)
{
    struct trace t;
    trace_init(&t, state);
    qs_loop_post(t.loop, on_post_again, &t);
    qs_timer_start(t.loop, 0, on_end_posts, &t);
    qs_loop_run(t.loop); /* would not return */
    assert_true(t.ended);
    qs_buf_done(&t.seen);
}

static void many_posts_keep_their_order(void **state)
{
    struct trace t;
    trace_init(&t, state);
    struct mark marks[26];
    for (int i = 0; i < 26; i++)
        marks[i] = (struct mark){&t, (char)('a' + i)};
    for (int round = 0; round < 4; round++) {
        for (int i = 0; i < 26; i++)
            qs_loop_post(t.loop, on_mark, &marks[i]);
        if (round % 2)
            qs_loop_run(t.loop);
    }
    assert_int_equal(t.seen.len, 4 * 26);
    for (size_t i = 0; i < t.seen.len; i++)
        assert_int_equal(t.seen.data[i], 'a' + i % 26);
    qs_buf_done(&t.seen);
}

static void stop_leaves_the_rest_for_the_next_run(void **state)
{
    struct trace t;
    trace_init(&t, state);
    struct mark post = {&t, 'p'};
    qs_loop_post(t.loop, on_stop_loop, &t);
    qs_loop_post(t.loop, on_mark, &post);
    qs_loop_run(t.loop);
    assert_string_equal(t.seen.data, ".");
    qs_loop_run(t.loop);
    assert_seen(&t, ".p");
}

static void stop_before_run_returns_at_once(void **state)
{
    struct trace t;
    trace_init(&t, state);
    struct mark timer = {&t, 't'};
    qs_timer_start(t.loop, 0, on_mark, &timer);
    qs_loop_stop(t.loop);
    qs_loop_run(t.loop);
    assert_string_equal(t.seen.data, "");
    qs_loop_run(t.loop);
    assert_seen(&t, "t");
}

/* Only one of the two functions runs at a time, so the buffer needs no lock. */
static void on_work(void *user)
{
    qs_buf_char(&((struct trace *)user)->seen, 'w');
}

static void on_after(void *user)
{
    struct trace *t = user;
    qs_buf_char(&t->seen, 'a');
    if (t->seen.len < 6)
        qs_loop_work(t->loop, QS_LANE_QUICK, on_work, on_after, t);
}

static void after_follows_its_work(void **state)
{
    struct trace t;
    trace_init(&t, state);
    qs_loop_work(t.loop, QS_LANE_QUICK, on_work, on_after, &t);
    qs_loop_run(t.loop);
    assert_seen(&t, "wawawa");
}

static void what_was_not_stopped_is_counted(void **state)
{
    struct trace t;
    trace_init(&t, state);
    struct qs_loop *loop = qs_loop_is_virtual(t.loop) ? qs_loop_new_virtual(0, 0) : qs_loop_new_real(NULL);
    struct mark never = {&t, 'x'};
    qs_timer_start(loop, ms_ns, on_mark, &never);
    qs_timer_start(loop, 2 * ms_ns, on_mark, &never);
    qs_loop_post(loop, on_mark, &never);
    qs_timer_stop(qs_timer_start(loop, 0, on_mark, &never));
    assert_int_equal(qs_loop_free(loop), 3);
    assert_seen(&t, "");
}

static void clocks_go_forward(void **state)
{
    int64_t a = qs_loop_now_ns(*state);
    int64_t b = qs_loop_now_ns(*state);
    assert_true(b >= a);
    assert_true(qs_loop_wall_ns(*state) > 0);
}

static void random_bytes_fill_exactly_what_was_asked(void **state)
{
    unsigned char bytes[67];
    bool changed[65] = {false};
    for (int round = 0; round < 20; round++) {
        memset(bytes, 0, sizeof bytes);
        qs_loop_random(*state, bytes + 1, 65);
        assert_int_equal(bytes[0], 0);
        assert_int_equal(bytes[66], 0);
        for (int i = 0; i < 65; i++)
            changed[i] |= bytes[i + 1] != 0;
    }
    for (int i = 0; i < 65; i++)
        assert_true(changed[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_BOTH(empty_loop_returns),
        ON_BOTH(the_earliest_timer_comes_first_whenever_it_was_started),
        ON_BOTH(a_timer_that_is_due_when_the_loop_stops_fires_in_the_next_run),
        ON_BOTH(equal_delays_fire_in_order_of_start),
        ON_BOTH(many_timers_come_in_order_and_the_stopped_ones_never),
        ON_BOTH(no_timer_fires_early),
        ON_BOTH(a_timer_may_be_stopped_in_its_own_callback),
        ON_BOTH(a_timer_due_at_once_may_be_stopped_by_the_one_before),
        ON_BOTH(stop_takes_null),
        ON_BOTH(a_stopped_timer_does_not_hold_the_loop),
        ON_BOTH(a_timer_may_start_another),
        ON_BOTH(a_far_timer_does_not_overflow),
        ON_BOTH(posts_run_in_order_after_the_callback),
        ON_BOTH(posts_made_outside_run_before_any_wait),
        ON_BOTH(a_chain_of_posts_does_not_starve_a_due_timer),
        ON_BOTH(many_posts_keep_their_order),
        ON_BOTH(stop_leaves_the_rest_for_the_next_run),
        ON_BOTH(stop_before_run_returns_at_once),
        ON_BOTH(after_follows_its_work),
        ON_BOTH(what_was_not_stopped_is_counted),
        ON_BOTH(clocks_go_forward),
        ON_BOTH(random_bytes_fill_exactly_what_was_asked),
    };
    return cmocka_run_group_tests_name("loop", tests, NULL, NULL);
}
