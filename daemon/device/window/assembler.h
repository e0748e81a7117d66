/* From what an agent says of a window (CLOSED, the document of mode stream, ITERATIONS) to the row that is
 * stored: the one place for windows that come live, are sent again, or are found after a restart. The session
 * has checked that the messages come whole and in their order. Private to device. */
#ifndef QS_DEVICE_WINDOW_ASSEMBLER_H
#define QS_DEVICE_WINDOW_ASSEMBLER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "config/job/meter.h"
#include "config/job/plan.h"
#include "device/session/session.h"
#include "device/window/ends.h"
#include "device/window/streamed.h"
#include "store/rows.h"
#include "store/store.h"

enum { QS_ASSEMBLER_OURS = QS_JOB_HOOKS_MAX + QS_JOB_METERS_MAX + 1 }; /* evidence of this machine's */

struct qs_assembler {
    bool known;                    /* CLOSED has come; the rest is of its window */
    void *memory;                  /* owned: what `closed` points to */
    struct qs_msg_closed closed;   /* where its document could not be read: how and failure say so */
    struct qs_session_quiet quiet; /* what this side counted; zeros: nobody did */
    enum qs_silence silence;       /* what is claimed of it */
    uint32_t taint;                /* of the window by itself */
    uint32_t mark;                 /* taints that it and each of its iterations has besides */
    uint32_t evals;                /* of each iteration */
    struct qs_iteration_row *rows; /* owned: rows_n have come, of closed.iterations but in mode stream */
    size_t rows_n;
    uint64_t first_seq; /* the device's number of the first one */
    uint16_t metric_ids[QS_ROW_METRICS_MAX];
    size_t metric_count;
    bool streams;
    struct qs_ends ends;
    struct qs_streamed streamed; /* its form and files are the caller's to set, before the document is read */
};

void qs_assembler_init(struct qs_assembler *a);
void qs_assembler_done(struct qs_assembler *a); /* as after init: another window may begin */

/* What its messages do not say of a window. */
struct qs_assembler_about {
    const struct qs_session_quiet *quiet; /* NULL: sent again, nobody counted what passed the link */
    const struct qs_job_conditions *set;  /* what was wanted of it; NULL: not known, or nothing */
    bool local;                           /* measured on this machine */
    bool streams;                         /* of mode stream */
    uint32_t mark;                        /* as in struct qs_assembler */
};
/* Everything is copied. */
void qs_assembler_closed(struct qs_assembler *a, const struct qs_msg_closed *m,
                         const struct qs_assembler_about *about);
void qs_assembler_document(struct qs_assembler *a, const struct qs_msg_document *m);
/* Takes the window's next iterations; others are left. True: with them it is whole. In mode stream the one
 * row is the process, and what it wrote is to be read next: qs_streamed_read(&a->streamed), which any thread
 * may do, then qs_assembler_documented. */
bool qs_assembler_take(struct qs_assembler *a, const struct qs_msg_iterations *m);
/* The values of the document are the window's iterations; without them the window has failed. */
void qs_assembler_documented(struct qs_assembler *a);

/* Its place in the history, and what this machine adds. */
struct qs_assembler_place {
    const struct qs_uid *run;
    uint32_t attempt;
    uint64_t first_seq;     /* of its iterations as they are stored */
    const char *gate_trace; /* qs_wait_json; NULL: not known */
    const struct qs_evidence_row *evidence;
    size_t evidence_count;                 /* <= QS_ASSEMBLER_OURS */
    const struct qs_reading_row *readings; /* of the gate's record: what its bounds came to */
    size_t reading_count;                  /* <= 2 * QS_GATE_MAX */
};
/* Gate, evidence, taints, iterations, document: one row, stored. done(user) follows. */
void qs_assembler_store(struct qs_assembler *a, const struct qs_assembler_place *place,
                        struct qs_store *store, qs_store_done_fn *done, void *user);

#endif
