/* The API in a fresh directory on a real loop, with a real store and a farm that runs nothing; and a client
 * that speaks raw HTTP over the socket on the same loop. */
#ifndef QS_TEST_API_FIXTURE_H
#define QS_TEST_API_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <jansson.h>

#include "api/api.h"
#include "base/buf.h"
#include "base/loop.h"
#include "fake_farm.h"
#include "store/files.h"
#include "store/rows.h"
#include "store/store.h"

struct fixture {
    char dir[64], socket[96];
    struct qs_loop *loop;
    struct qs_store *store;
    struct qs_files *files;
    struct qs_farm farm;
    struct qs_api *api;
    size_t clients;
    int64_t last_event; /* number of the last one made */
    bool stopped;
    bool reading, embedded;                /* what start_api makes of it */
    unsigned yields;                       /* how often it was asked to make room */
    bool (*look_up)(uid_t uid, char *out); /* of user names: set before start_api; NULL: the system's */
};

struct client { /* one connection */
    struct fixture *f;
    int fd;
    struct qs_io *io;
    struct qs_buf in, out;
    bool closed; /* by the other side */
};

struct answer {
    int status;
    struct qs_buf head, body; /* the body put together where it came in pieces */
    json_t *json;             /* of the body, or NULL */
};

int setup(void **state);    /* of cmocka */
int teardown(void **state); /* asserts that nothing is left on the loop */
void start_api(struct fixture *f);
void stop_api(struct fixture *f);

struct client *client_open(struct fixture *f);
void client_send(struct client *c, const void *bytes, size_t n);
void client_close(struct client *c);
/* Runs the loop until the client has seen `text`; or, with NULL, until the other side has closed. */
void client_until(struct client *c, const char *text);
/* Lets what is ready happen, for 50 ms: for what must NOT happen. */
void settle(struct fixture *f);

/* One request on a connection of its own; headers ("A: b\r\n") and body may be NULL. */
struct answer fetch(struct fixture *f, const char *method, const char *target, const char *headers,
                    const void *body, size_t n);
struct answer get(struct fixture *f, const char *target);
struct answer parse(const struct qs_buf *raw);
void answer_done(struct answer *a);
/* Checks the shape of an error, and frees the answer. */
void assert_error(struct answer a, int status, const char *code);
const char *text_at(const struct answer *a, const char *key);
long long int_at(const struct answer *a, const char *key);

extern const char job_text[]; /* two arms of one command */
/* Submits it and gives its number. */
int64_t submit(struct fixture *f);
/* Device, boot, session and `runs` runs (alternately of both arms, a block each two), n iterations each. */
void measure(struct fixture *f, int64_t job, size_t runs, size_t n);
void set_state(struct fixture *f, int64_t job, enum qs_job_state state);
/* Stores an event and tells the API of it, as the farm does. */
void happen(struct fixture *f, int64_t job, const char *kind, const char *body);
/* Stores it without telling. */
void store_event(struct fixture *f, int64_t job, const char *kind, const char *body);

#endif
