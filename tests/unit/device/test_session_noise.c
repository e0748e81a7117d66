/* What a shell of the other side prints before the agent speaks: skipped up to a bound, told once, and quoted
 * where no agent comes. The agent's core in virtual time, behind a link to which the test adds bytes. */
#include "host.h"

#include <string.h>

#include "link/link_impl.h"
#include "proto/limits.h"

enum { SEED = 7 };

static const char greeting[] = "\r\nLast login: \033[1mMonday\033[0m\r\nYou have mail.\n";

static struct {
    bool shell;                   /* the kind of link says that there may be one */
    size_t before, after;         /* so many foreign bytes before the agent's first, and after it */
    bool mute;                    /* the agent's own are lost, its hanging up is not seen */
    bool ends;                    /* and then the link is */
    const struct qs_err *refused; /* it does not go up */
    struct qs_link *link;
} script;

void __real_qs_link_bytes(struct qs_link *link, const uint8_t *bytes, size_t n);
void __wrap_qs_link_bytes(struct qs_link *link, const uint8_t *bytes, size_t n);
void __real_qs_link_down(struct qs_link *link, const struct qs_err *why);
void __wrap_qs_link_down(struct qs_link *link, const struct qs_err *why);
bool __real_qs_link_open(struct qs_link *link, struct qs_err *err);
bool __wrap_qs_link_open(struct qs_link *link, struct qs_err *err);
const struct qs_link_traits *__real_qs_link_traits(enum qs_link_kind kind);
const struct qs_link_traits *__wrap_qs_link_traits(enum qs_link_kind kind);

const struct qs_link_traits *__wrap_qs_link_traits(enum qs_link_kind kind)
{
    static struct qs_link_traits traits;
    traits = *__real_qs_link_traits(kind);
    traits.through_shell = script.shell;
    return &traits;
}

void __wrap_qs_link_down(struct qs_link *link, const struct qs_err *why)
{
    if (!script.mute)
        __real_qs_link_down(link, why);
}

bool __wrap_qs_link_open(struct qs_link *link, struct qs_err *err)
{
    bool opens = __real_qs_link_open(link, err);
    if (script.refused)
        qs_link_down_later(link, script.refused);
    return opens;
}

static void print(struct qs_link *link, size_t n)
{
    static uint8_t bytes[QS_NOISE_SHELL_MAX_BYTES + 1];
    memset(bytes, '.', sizeof bytes);
    memcpy(bytes, greeting, sizeof greeting - 1);
    if (n > 0)
        __real_qs_link_bytes(link, bytes, n);
}

void __wrap_qs_link_bytes(struct qs_link *link, const uint8_t *bytes, size_t n)
{
    const struct qs_err why = {.code = QS_E_LINK, .text = "ssh ended with exit code 1"};
    bool first = script.link == NULL;
    script.link = link;
    if (first)
        print(link, script.before);
    if (script.ends)
        qs_link_down(link, &why);
    else if (!script.mute && link->state == QS_LINK_IS_UP)
        __real_qs_link_bytes(link, bytes, n);
    if (first && link->state == QS_LINK_IS_UP)
        print(link, script.after);
}

struct bed {
    struct qs_loop *loop;
    struct host host;
};

static void bed_start(struct bed *b, bool shell, size_t before)
{
    struct qs_farm_device device = {.name = (char *)"board", .link = QS_LINK_SIM, .sim_seed = SEED};
    memset(&script, 0, sizeof script);
    script.shell = shell;
    script.before = before;
    b->loop = qs_loop_new_virtual(INT64_C(5000000000), SEED);
    host_init(&b->host, b->loop, &device);
    qs_session_start(b->host.session);
}

static void bed_done(struct bed *b)
{
    host_done(&b->host);
    assert_int_equal(qs_loop_free(b->loop), 0);
}

static void what_a_shell_prints_is_skipped_and_told(void **state)
{
    (void)state;
    struct bed b;
    bed_start(&b, true, QS_NOISE_SHELL_MAX_BYTES);
    host_wait(&b.host, "ready");
    assert_string_equal(b.host.log.data + strlen(b.host.log.data) - strlen("ready\n"), "ready\n");
    assert_ptr_equal(strstr(b.host.log.data, "note\n"), b.host.log.data); /* before anything else */
    assert_string_equal(b.host.note,
                        "its command printed 65536 bytes before the agent spoke: \"Last login: "
                        "\\x1b[1mMonday\\x1b[0m\"; see that no profile prints anything for non-interactive "
                        "shells");
    assert_int_equal(b.host.downs, 0);
    bed_done(&b);
    bed_start(&b, true, 1);
    host_wait(&b.host, "note");
    assert_non_null(strstr(b.host.note, " printed 1 byte before "));
    bed_done(&b);
}

static void it_is_told_once(void **state)
{
    (void)state;
    const struct qs_err why = {.code = QS_E_AGENT, .text = "again"};
    struct bed b;
    bed_start(&b, true, 100);
    host_wait(&b.host, "ready");
    qs_session_drop(b.host.session, &why);
    script.link = NULL; /* the next connection prints it, too */
    host_wait(&b.host, "ready");
    assert_int_equal(b.host.downs, 1);
    assert_non_null(script.link);
    assert_null(strstr(b.host.log.data + 1, "note"));
    bed_done(&b);
}

static void an_agent_alone_is_no_news(void **state)
{
    (void)state;
    struct bed b;
    bed_start(&b, true, 0);
    host_wait(&b.host, "ready");
    assert_string_equal(b.host.note, "");
    bed_done(&b);
}

/* Where nobody logs in: what is tolerated there is less, and nothing to be changed in a profile. */
static void without_a_shell_it_is_as_ever(void **state)
{
    (void)state;
    struct bed b;
    bed_start(&b, false, QS_NOISE_MAX_BYTES);
    host_wait(&b.host, "ready");
    assert_string_equal(b.host.note, "");
    bed_done(&b);
    bed_start(&b, false, QS_NOISE_MAX_BYTES + 1);
    host_wait(&b.host, "down");
    host_assert_why(&b.host, QS_E_PROTOCOL, "the stream is broken");
    bed_done(&b);
}

static void more_of_it_ends_the_link_and_is_quoted(void **state)
{
    (void)state;
    struct bed b;
    bed_start(&b, true, QS_NOISE_SHELL_MAX_BYTES + 1);
    host_wait(&b.host, "down");
    host_assert_why(&b.host, QS_E_PROTOCOL, "the stream is broken");
    host_assert_why(&b.host, QS_E_PROTOCOL, "; it said instead: Last login: \\x1b[1mMonday\\x1b[0m");
    bed_done(&b);
}

static void nothing_else_until_the_deadline_is_quoted(void **state)
{
    (void)state;
    struct bed b;
    bed_start(&b, true, 60);
    script.mute = true;
    host_wait(&b.host, "down");
    host_assert_why(&b.host, QS_E_LINK,
                    "board: no answer within 15.0 s in state hello; it said instead: Last login: ");
    bed_done(&b);
}

static void last_words_are_quoted(void **state)
{
    (void)state;
    struct bed b;
    bed_start(&b, true, 60);
    script.ends = true;
    host_wait(&b.host, "down");
    host_assert_why(&b.host, QS_E_LINK, "ssh ended with exit code 1; it said instead: Last login: ");
    bed_done(&b);
    bed_start(&b, true, 0);
    script.ends = true;
    host_wait(&b.host, "down");
    assert_string_equal(b.host.why.text, "ssh ended with exit code 1");
    bed_done(&b);
}

/* What the connection before has printed is not this one's. */
static void earlier_words_are_not_quoted(void **state)
{
    (void)state;
    const struct qs_err why = {.code = QS_E_LINK, .text = "no route to host"};
    struct bed b;
    bed_start(&b, true, 60);
    script.ends = true;
    host_wait(&b.host, "down");
    script.refused = &why;
    host_wait(&b.host, "down");
    assert_int_equal(b.host.downs, 2);
    assert_string_equal(b.host.why.text, "no route to host");
    bed_done(&b);
}

static void behind_the_first_frame_it_breaks_the_stream(void **state)
{
    (void)state;
    struct bed b;
    bed_start(&b, true, 60);
    script.after = 60;
    host_wait(&b.host, "down");
    host_assert_why(&b.host, QS_E_PROTOCOL, "the stream is broken");
    assert_null(strstr(b.host.why.text, "said instead"));
    bed_done(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_a_shell_prints_is_skipped_and_told),
        cmocka_unit_test(it_is_told_once),
        cmocka_unit_test(an_agent_alone_is_no_news),
        cmocka_unit_test(without_a_shell_it_is_as_ever),
        cmocka_unit_test(more_of_it_ends_the_link_and_is_quoted),
        cmocka_unit_test(nothing_else_until_the_deadline_is_quoted),
        cmocka_unit_test(last_words_are_quoted),
        cmocka_unit_test(earlier_words_are_not_quoted),
        cmocka_unit_test(behind_the_first_frame_it_breaks_the_stream),
    };
    return cmocka_run_group_tests_name("noise before the agent", tests, NULL, NULL);
}
