/* A store in a fresh directory under virtual time, and a small world in it: one device, one boot, one job
 * with two arms and a point. */
#ifndef QS_TEST_STORE_FIXTURE_H
#define QS_TEST_STORE_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/loop.h"
#include "store/files.h"
#include "store/read/read.h"
#include "store/store.h"

struct fixture {
    char dir[64], path[128];
    struct qs_loop *loop;
    struct qs_store *store;
    int troubles, recoveries, fds;
    int64_t job;
};

/* What a done callback said. */
struct told {
    int count, order;
    enum qs_errc code; /* QS_E_NONE: committed */
    int64_t id;
    char text[QS_ERR_TEXT_BYTES];
};

void fixture_init(struct fixture *f); /* directory and loop, no store */
void fixture_open(struct fixture *f);
void fixture_close(struct fixture *f); /* the store only */
void fixture_done(struct fixture *f);
void fixture_world(struct fixture *f);
int fixture_setup(void **state); /* of cmocka: all of it, with the world */
int fixture_teardown(void **state);
/* The same with files beside the database. */
int fixture_setup_files(void **state, struct qs_files **ret_files);
int fixture_teardown_files(void **state, struct qs_files *files);

void on_told(const struct qs_err *err, int64_t id, void *told);
void on_fine(const struct qs_err *err, int64_t id, void *user); /* fails the test on an error */
void run_begin(struct fixture *f, uint8_t run, uint32_t arm, uint32_t block, uint32_t pos);
/* A window of n iterations over rows (room for n), its content a function of run and first_seq. */
struct qs_window_row make_window(uint8_t run, uint32_t ord, uint64_t first_seq, size_t n,
                                 struct qs_iteration_row *rows);
enum qs_errc put_window(struct fixture *f, const struct qs_window_row *w);
uint64_t file_sum(const char *path); /* of its bytes; 0 where it cannot be read */

#endif
