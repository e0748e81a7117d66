#include "cm.h"

#include <stdio.h>
#include <string.h>

#include "ctl/client/sse.h"

struct seen {
    struct qs_buf text;
    size_t stop_after, count;
};

static bool on_event(int64_t id, const char *kind, const char *data, void *user)
{
    struct seen *s = user;
    qs_buf_fmt(&s->text, "%lld %s [%s]\n", (long long)id, kind, data);
    return ++s->count != s->stop_after;
}

static const char stream[] = ": hello\n\n"
                             "id: 4\nevent: job.state\ndata: {\"a\":1}\n\n"
                             "data: one\ndata:two\nid: 5\n\n"
                             "event: nothing\n\n"
                             "retry: 10\nunknown\nid: x\ndata\r\ndata: last\r\n\r\n"
                             "id: 9\ndata: half";

static void events_come_whole_however_they_are_cut(void **state)
{
    (void)state;
    for (size_t chunk = 1; chunk < sizeof(stream); chunk++) {
        struct qs_sse sse;
        struct seen seen = {0};
        qs_sse_init(&sse);
        qs_buf_init(&seen.text);
        for (size_t at = 0; at < sizeof(stream) - 1; at += chunk) {
            size_t n = sizeof(stream) - 1 - at < chunk ? sizeof(stream) - 1 - at : chunk;
            assert_true(qs_sse_feed(&sse, stream + at, n, on_event, &seen));
        }
        assert_string_equal(seen.text.data,
                            "4 job.state [{\"a\":1}]\n5 message [one\ntwo]\n5 message [last]\n");
        assert_int_equal(sse.id, 5);
        qs_sse_restart(&sse);
        assert_true(qs_sse_feed(&sse, "data: x\n\n", 9, on_event, &seen));
        assert_int_equal(seen.count, 4);
        assert_int_equal(sse.id, 5);
        qs_sse_done(&sse);
        qs_buf_done(&seen.text);
    }
}

/* Whatever a broken stream had begun is gone: the next one begins with a whole event. */
static void a_broken_stream_leaves_nothing(void **state)
{
    static const char next[] = "event: last\ndata: whole\n\n";
    (void)state;
    for (size_t cut = 0; cut < sizeof(stream); cut++) {
        struct qs_sse sse;
        struct seen seen = {0};
        char want[40];
        qs_sse_init(&sse);
        qs_buf_init(&seen.text);
        qs_sse_feed(&sse, stream, cut, on_event, &seen);
        int64_t id = sse.id;
        qs_sse_restart(&sse);
        qs_buf_clear(&seen.text);
        assert_true(qs_sse_feed(&sse, next, sizeof(next) - 1, on_event, &seen));
        assert_int_equal(sse.id, id);
        snprintf(want, sizeof(want), "%lld last [whole]\n", (long long)id);
        assert_string_equal(seen.text.data, want);
        qs_sse_done(&sse);
        qs_buf_done(&seen.text);
    }
}

static void feeding_ends_where_it_is_told_to(void **state)
{
    (void)state;
    struct qs_sse sse;
    struct seen seen = {.stop_after = 1};
    qs_sse_init(&sse);
    qs_buf_init(&seen.text);
    assert_false(qs_sse_feed(&sse, stream, sizeof(stream) - 1, on_event, &seen));
    assert_int_equal(seen.count, 1);
    qs_sse_done(&sse);
    qs_buf_done(&seen.text);
}

static void a_line_has_a_bound(void **state)
{
    (void)state;
    struct qs_sse sse;
    struct seen seen = {0};
    char block[4096];
    bool ok = true;
    memset(block, 'x', sizeof(block));
    qs_sse_init(&sse);
    qs_buf_init(&seen.text);
    for (size_t i = 0; ok && i < 2 * QS_SSE_LINE_BYTES / sizeof(block); i++)
        ok = qs_sse_feed(&sse, block, sizeof(block), on_event, &seen);
    assert_false(ok);
    assert_true(sse.line.len <= QS_SSE_LINE_BYTES + 1);
    qs_sse_done(&sse);
    qs_buf_done(&seen.text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(events_come_whole_however_they_are_cut),
                                       cmocka_unit_test(a_broken_stream_leaves_nothing),
                                       cmocka_unit_test(feeding_ends_where_it_is_told_to),
                                       cmocka_unit_test(a_line_has_a_bound)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
