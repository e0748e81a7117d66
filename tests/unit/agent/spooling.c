#include "spooling.h"

#include "linux/files.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

struct qs_ring ring;
struct qs_spool spool;
uint8_t memory[4 * QS_RING_CLOSED_BYTES];
static const uint8_t closed_bytes[] = "closed", document_bytes[] = "doc";

static struct qs_uid uid_of(uint8_t b)
{
    struct qs_uid u;
    memset(u.b, b, sizeof u.b);
    return u;
}

void start(void)
{
    int dir_fd = qs_files_open_state("state");
    assert_true(dir_fd >= 0);
    qs_ring_init(&ring, memory, sizeof memory);
    memset(memory, 0, sizeof memory);
    qs_spool_open(&spool, "state", dir_fd, -1, &ring);
}

void kill_it(void)
{
    qs_io_close(&spool.fd);
    qs_io_close(&spool.dir_fd);
}

void restart(void)
{
    kill_it();
    start();
}

void enter(void)
{
    assert_int_equal(system("rm -rf state"), 0);
    start();
}

static struct qs_ring_window head_of(uint8_t farm, uint8_t run, uint32_t number, uint64_t first_seq)
{
    return (struct qs_ring_window){.farm = uid_of(farm),
                                   .run = uid_of(run),
                                   .window = number,
                                   .first_seq = first_seq,
                                   .metrics = METRICS,
                                   .first_metric = 32768,
                                   .document_bytes = DOCUMENT};
}

struct qs_ring_window *measure(uint8_t farm, uint8_t run, uint32_t number, uint64_t first_seq)
{
    const struct qs_ring_window head = head_of(farm, run, number, first_seq);
    const struct qs_ring_document document = {.has = true, .total_bytes = 300};
    size_t cap;
    assert_true(qs_ring_open(&ring, &head, 2));
    for (uint8_t i = 0; i < 2; i++) {
        uint8_t *row = qs_ring_row(&ring);
        for (uint8_t k = 0; k < ROW; k++) {
            row[k] = (uint8_t)(ROW * i + k + 1);
        }
    }
    memcpy(qs_ring_closed(&ring, &cap), closed_bytes, CLOSED);
    memcpy(qs_ring_document(&ring, CLOSED, &cap), document_bytes, DOCUMENT);
    qs_ring_keep_document(&ring, &document, DOCUMENT);
    return qs_ring_close(&ring, CLOSED);
}

void reserve(void)
{
    struct qs_port_fault fault = {.code = 0};
    if (!qs_spool_reserve(&spool, &ring, 4 * ROW + QS_RING_CLOSED_BYTES, &fault)) {
        fail_msg("%s", fault.text);
    }
}

void keep(uint8_t farm, uint8_t run, uint32_t number, uint64_t first_seq)
{
    reserve();
    struct qs_ring_window *w = measure(farm, run, number, first_seq);
    qs_spool_keep(&spool, &ring, w);
    assert_int_not_equal(w->slot, 0);
}

void acknowledge(uint8_t farm, uint8_t run, uint64_t seq)
{
    const struct qs_uid f = uid_of(farm);
    const struct qs_uid r = uid_of(run);
    qs_ring_ack(&ring, &f, &r, seq);
    qs_spool_tidy(&spool, &ring);
}

long read_file(const char *path, uint8_t *bytes, size_t cap)
{
    FILE *f = fopen(path, "rb");
    if (!f) {
        return -1;
    }
    size_t n = fread(bytes, 1, cap, f);
    assert_int_equal(ferror(f), 0);
    fclose(f);
    return (long)n;
}

void write_file(const char *path, const uint8_t *bytes, size_t n)
{
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, n, f), n);
    assert_int_equal(fclose(f), 0);
}

bool is_there(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0;
}

void expect_window(size_t i, uint8_t farm, uint8_t run, uint32_t number, uint64_t first_seq)
{
    const struct qs_ring_window *w = &ring.windows[i];
    const struct qs_uid f = uid_of(farm);
    const struct qs_uid r = uid_of(run);
    const uint8_t *body = ring.memory + w->at;
    assert_true(i < ring.count);
    assert_true(qs_uid_equal(&w->farm, &f) && qs_uid_equal(&w->run, &r));
    assert_int_equal(w->window, number);
    assert_int_equal(w->first_seq, first_seq);
    assert_int_equal(w->rows, 2);
    assert_int_equal(w->acked, 0);
    assert_int_equal(w->metrics, METRICS);
    assert_int_equal(w->first_metric, 32768);
    assert_true(w->document.has);
    assert_int_equal(w->document.status, 0);
    assert_int_equal(w->document.total_bytes, 300);
    assert_true(w->sent); /* whoever kept it may have sent it */
    for (uint8_t k = 0; k < 2 * ROW; k++) {
        assert_int_equal(body[k], k + 1);
    }
    assert_memory_equal(body + w->rows_bytes, closed_bytes, CLOSED);
    assert_memory_equal(body + w->rows_bytes + w->closed_bytes, document_bytes, DOCUMENT);
}
