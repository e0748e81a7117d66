/* A spool in the folder "state", and the ring that it is of; the test is its agent. */
#ifndef QS_TESTS_AGENT_SPOOLING_H
#define QS_TESTS_AGENT_SPOOLING_H

#include "linux/spool.h"

/* Of each window: two rows with a metric, so many bytes of CLOSED, a document. */
enum { METRICS = 1, ROW = QS_ROW_FIXED_BYTES + 8 * METRICS, CLOSED = 6, DOCUMENT = 3 };

extern struct qs_ring ring;
extern struct qs_spool spool;
extern uint8_t memory[4 * QS_RING_CLOSED_BYTES]; /* the ring's */

/* As an agent does when it starts; with nothing in the folder. */
void start(void);
void enter(void);
/* As SIGKILL does; the next agent. */
void kill_it(void);
void restart(void);

/* A window, closed; not on the disk yet. */
struct qs_ring_window *measure(uint8_t farm, uint8_t run, uint32_t number, uint64_t first_seq);
void reserve(void);
/* All of it: there is room, it is measured, it is kept. */
void keep(uint8_t farm, uint8_t run, uint32_t number, uint64_t first_seq);
void acknowledge(uint8_t farm, uint8_t run, uint64_t seq);
/* Window i of the ring is that one, to the last byte. */
void expect_window(size_t i, uint8_t farm, uint8_t run, uint32_t number, uint64_t first_seq);

/* The bytes of a file, and how many; -1: there is none. */
long read_file(const char *path, uint8_t *bytes, size_t cap);
void write_file(const char *path, const uint8_t *bytes, size_t n);
bool is_there(const char *path);

#endif
