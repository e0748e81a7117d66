/* Whose a request is, by name, while the system's database of users takes its time. */
#include "api/owner.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fixture.h"

static struct {
    pthread_t loop;
    sem_t answer; /* the database waits for it */
    atomic_int asked;
    atomic_bool asked_on_the_loop, knows;
} users;

static bool look_up(uid_t uid, char *out)
{
    users.asked++;
    if (pthread_equal(pthread_self(), users.loop))
        users.asked_on_the_loop = true; /* waiting here would be for ever */
    else
        sem_wait(&users.answer);
    snprintf(out, QS_API_NAME_BYTES, users.knows ? "ada" : "%lu", (unsigned long)uid);
    return users.knows;
}

static int setup_slow(void **state)
{
    int failed = setup(state);
    struct fixture *f = *state;
    users.loop = pthread_self();
    users.asked = 0;
    users.asked_on_the_loop = false;
    users.knows = true;
    assert_int_equal(sem_init(&users.answer, 0, 0), 0);
    stop_api(f);
    f->look_up = look_up;
    start_api(f);
    return failed;
}

static struct client *begin_submit(struct fixture *f)
{
    json_t *body = json_pack("{s:s}", "text", job_text);
    char *text = json_dumps(body, 0), head[128];
    struct client *c = client_open(f);
    snprintf(head, sizeof head, "POST /api/v1/jobs HTTP/1.1\r\nHost: q\r\nContent-Length: %zu\r\n\r\n",
             strlen(text));
    client_send(c, head, strlen(head));
    client_send(c, text, strlen(text));
    free(text);
    json_decref(body);
    return c;
}

static void until_asked(struct fixture *f, int times)
{
    while (users.asked < times)
        settle(f);
}

/* A read is answered, and so is who cancels, by number. */
static void others_are_answered_meanwhile(struct fixture *f)
{
    char by[64];
    struct answer a = get(f, "/api/v1/jobs");
    assert_int_equal(a.status, 200);
    answer_done(&a);
    f->farm.live = 1;
    a = fetch(f, "POST", "/api/v1/jobs/1:cancel", NULL, NULL, 0);
    answer_done(&a);
    snprintf(by, sizeof by, "cancelled by %lu", (unsigned long)getuid());
    assert_string_equal(f->farm.cancel_why, by);
}

static void a_slow_database_of_users_holds_nobody_else(void **state)
{
    struct fixture *f = *state;
    struct client *c = begin_submit(f);
    until_asked(f, 1);
    others_are_answered_meanwhile(f);
    assert_string_equal(f->farm.owner, "");
    sem_post(&users.answer);
    client_until(c, "\"id\":1");
    client_close(c);
    assert_false(users.asked_on_the_loop);
    assert_string_equal(f->farm.owner, "ada");
    f->farm.owner[0] = '\0';
    (void)submit(f); /* a name that is known is asked for no more */
    assert_string_equal(f->farm.owner, "ada");
    assert_int_equal(users.asked, 1);
    struct answer a = fetch(f, "POST", "/api/v1/jobs/1:cancel", NULL, NULL, 0);
    answer_done(&a);
    assert_string_equal(f->farm.cancel_why, "cancelled by ada");
}

/* Its number stands for who cannot be named now, and the next request asks again. */
static void who_cannot_be_named_has_a_number(void **state)
{
    struct fixture *f = *state;
    char number[32];
    snprintf(number, sizeof number, "%lu", (unsigned long)getuid());
    users.knows = false;
    sem_post(&users.answer);
    (void)submit(f);
    assert_string_equal(f->farm.owner, number);
    users.knows = true;
    sem_post(&users.answer);
    (void)submit(f);
    assert_string_equal(f->farm.owner, "ada");
    assert_int_equal(users.asked, 2);
}

/* A client that does not wait for its name has submitted nothing. */
static void a_client_that_leaves_meanwhile_has_submitted_nothing(void **state)
{
    struct fixture *f = *state;
    struct client *c = begin_submit(f);
    until_asked(f, 1);
    client_close(c);
    while (f->clients > 0)
        qs_loop_run(f->loop);
    sem_post(&users.answer);
    stop_api(f); /* waits for what is on its way */
    assert_string_equal(f->farm.owner, "");
}

static void the_system_names_root(void **state)
{
    char name[QS_API_NAME_BYTES];
    (void)state;
    assert_true(qs_owner_look_up(0, name));
    assert_string_equal(name, "root");
    (void)qs_owner_look_up(3999999999u, name);
    assert_string_equal(name, "3999999999");
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, setup_slow, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(a_slow_database_of_users_holds_nobody_else),
        CASE(who_cannot_be_named_has_a_number),
        CASE(a_client_that_leaves_meanwhile_has_submitted_nothing),
        cmocka_unit_test(the_system_names_root),
    };
    return cmocka_run_group_tests_name("owner", tests, NULL, NULL);
}
