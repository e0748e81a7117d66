/* What the files about held iterations share. Private to device. */
#ifndef QS_DEVICE_HELD_IMPL_H
#define QS_DEVICE_HELD_IMPL_H

#include "device/held.h"
#include "device/streamed.h"
#include "store/read.h"

struct qs_held_waiting;

struct qs_held_stream { /* a run of mode stream in hand */
    bool on;
    char *form_json;               /* owned: how its documents are read */
    uint64_t next_seq;             /* of the next value that is stored */
    struct qs_streamed hand;       /* of the window whose document comes */
    struct qs_held_waiting *first; /* owned: windows whose documents are read, one at a time, in order */
    bool busy;                     /* the first one is in the pool */
};

struct qs_held_run {
    struct qs_uid run;
    uint64_t first_seq, next_seq;
};

struct qs_held_runs {
    struct qs_held_parts p;
    struct qs_held_events events;
    struct qs_held_run *list; /* owned: the first one is in hand */
    size_t count;
    uint64_t epoch;
    size_t outstanding;
    bool dead, started;
    /* The window in hand. */
    uint32_t window;
    uint64_t window_first, want; /* seq of its first row; the next row's seq */
    struct qs_iteration_row *rows;
    size_t rows_n;
    uint16_t metric_ids[QS_ROW_METRICS_MAX];
    size_t metric_count;
    struct qs_uid spoiled; /* a commit of it failed: an acknowledgement of later ones would cover the hole */
    struct {               /* what its CLOSED said */
        bool known;
        uint32_t window, taint, evals;
        enum qs_phase phase;
        enum qs_closed_how how;
        int64_t opened_ns, closed_ns;
        uint64_t output_bytes;
    } told;
    uint8_t *declared;    /* owned: the elements of its list of metrics */
    struct qs_list names; /* view into declared */
    struct qs_held_stream stream;
};

struct qs_held_ask { /* one store request */
    struct qs_held_runs *h;
    uint64_t epoch, acknowledge;
    struct qs_uid run;
    struct qs_runs found;
    bool last;
};

void qs_held_note(struct qs_held_runs *h, bool warning, const struct qs_uid *run, const char *text);
/* An answer has come (counted in `outstanding`): true where it is still of use. Frees the memory of a dead
 * owner with the last one. */
bool qs_held_answered(struct qs_held_runs *h, uint64_t epoch);
/* The store's answer to a window; user: struct qs_held_ask, owned. */
void qs_held_committed(const struct qs_err *err, int64_t id, void *user);

/* held_stream.c. A run is in hand: is it of that mode? */
void qs_held_stream_begin(struct qs_held_runs *h, const struct qs_run_info *run);
void qs_held_stream_end(struct qs_held_runs *h); /* forgets what waits */
/* The window in hand is whole: its document is read, then it is stored. *row is copied but for what its mode
 * fills in; ask becomes the store's. */
void qs_held_stream_window(struct qs_held_runs *h, const struct qs_window_row *row, struct qs_held_ask *ask);

#endif
