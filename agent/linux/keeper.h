/* What the agent has changed on the device, in the hands of its supervisor: the journal, the lease, and the
 * hand that reads and writes. It works for the agent one file at a time, and without it when the agent is
 * killed, stuck, or has not heard of its host for too long. */
#ifndef QS_LINUX_KEEPER_H
#define QS_LINUX_KEEPER_H

#include "core/port_control.h"
#include "linux/hand.h"
#include "linux/journal.h"

enum { QS_KEEPER_NOTE_BYTES = 1025 };

enum qs_keeper_what {
    QS_KEEPER_TUNE = 1,
    QS_KEEPER_LOOK,
    QS_KEEPER_READ, /* of any file below the root: what it says */
    QS_KEEPER_RESTORE,
    QS_KEEPER_LEASE, /* not answered; so the next */
    QS_KEEPER_ALIVE
};

/* From the agent, one in a packet. */
struct qs_keeper_order {
    uint32_t id;   /* LEASE: of the lease */
    uint8_t what;  /* enum qs_keeper_what */
    uint8_t flags; /* TUNE: of the wire; RESTORE: 1 for the first */
    int64_t lease_ns;
    char path[QS_PORT_KNOB_BYTES], value[QS_PORT_KNOB_BYTES];
};

/* What people may know, as facts: what was put back unasked ("none"), and where the journal lies, or what is
 * wrong with it. */
struct qs_keeper_notes {
    char restored[QS_KEEPER_NOTE_BYTES], journal[QS_KEEPER_NOTE_BYTES];
};

/* To the agent; id 0: it is news, to be answered by ALIVE. */
struct qs_keeper_answer {
    uint32_t id;
    uint32_t grant; /* news: the lease of this number has ended; 0: none has */
    struct qs_port_controlled file;
    struct qs_keeper_notes notes;
    struct qs_hand_result read; /* READ's, which has no file */
};

/* A file that said so already when it was to be changed. */
struct qs_keeper_same {
    char path[QS_JOURNAL_TEXT_BYTES], value[QS_JOURNAL_TEXT_BYTES];
};

struct qs_keeper {
    bool on;     /* there is a journal */
    bool shared; /* its folder is the agent's as well: for what it has measured */
    struct qs_journal journal;
    struct qs_hand hand;
    struct qs_keeper_same same[QS_JOURNAL_ENTRIES]; /* since everything was put back the last time */
    size_t same_count;
    struct qs_keeper_notes notes;
    int agent_fd;         /* owned: the supervisor's end; -1: none */
    uint32_t grant;       /* the number of the lease */
    int64_t lease_end_ns; /* CLOCK_MONOTONIC; 0: none */
    int64_t answer_by_ns; /* the agent's, to the news; 0: none is waited for */
    int64_t patience_ns;
    bool asked;          /* the agent is having everything put back, file by file */
    unsigned tries;      /* of what was left, since it was last asked for */
    int64_t retry_at_ns; /* the next one; 0: none */
    int64_t retry_ns;    /* after the first; then twice as long each time */
};

/* Puts back what an earlier agent has left behind. state: the folder of the journal; NULL: nothing is ever
 * changed. sysfs is borrowed. */
void qs_keeper_open(struct qs_keeper *keeper, const char *state, const char *sysfs);
void qs_keeper_close(struct qs_keeper *keeper);

/* The agent's next packet, where there is one. */
void qs_keeper_hear(struct qs_keeper *keeper);
/* When something must be done without one; INT64_MAX: never. */
int64_t qs_keeper_deadline_ns(const struct qs_keeper *keeper);
/* To be called then. False: the agent has not answered, it is stuck. */
bool qs_keeper_on_time(struct qs_keeper *keeper);
/* Everything is put back now; what cannot be is tried again (deadline, on_time) some times. why: "the agent
 * was killed". */
void qs_keeper_restore(struct qs_keeper *keeper, const char *why);

#endif
