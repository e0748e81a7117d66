/* What the files about held iterations share. Private to device. */
#ifndef QS_DEVICE_WINDOW_HELD_IMPL_H
#define QS_DEVICE_WINDOW_HELD_IMPL_H

#include "device/window/assembler.h"
#include "device/window/held.h"
#include "store/read/read.h"

struct qs_held_waiting;

struct qs_held_stream { /* a run of mode stream in hand */
    bool on;
    char *form_json;               /* owned: how its documents are read */
    uint64_t next_seq;             /* of the next value that is stored */
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
    struct qs_uid asked;      /* the run that was asked for last */
    struct qs_assembler made; /* the window in hand */
    uint64_t want;            /* what the device numbered below it is stored */
    struct qs_uid spoiled; /* a commit of it failed: an acknowledgement of later ones would cover the hole */
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
/* The window in hand is whole, and no longer in hand: its document is read, then it is stored. ask becomes
 * the store's. */
void qs_held_stream_window(struct qs_held_runs *h, struct qs_held_ask *ask);

#endif
