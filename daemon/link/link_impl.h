/* What the kinds of links share. A kind keeps its own data behind `link->own` and reports through the three
 * functions at the end, each of which must be the last thing that its callback does: the user may free the
 * link inside. */
#ifndef QS_LINK_LINK_IMPL_H
#define QS_LINK_LINK_IMPL_H

#include "base/buf.h"
#include "base/loop.h"
#include "link/link.h"

enum qs_link_state { QS_LINK_IS_CLOSED, QS_LINK_IS_OPENING, QS_LINK_IS_UP };

struct qs_link_ops {
    struct qs_link_traits traits;
    /* Whether there can be such an address; NULL: it has none, or any will do. */
    bool (*check_address)(const char *address, struct qs_err *err);
    /* Whether its other keys can be as they are, and which cannot; NULL: they can. */
    bool (*check)(const struct qs_farm_device *device, const char **ret_key, struct qs_err *err);
    /* Own data for this device; NULL where the kind has none. */
    void *(*new_own)(const struct qs_farm_device *device);
    void (*free_own)(void *own);
    /* Brings the agent to the device, then opens; in place of open where it is not NULL. */
    bool (*deploy)(struct qs_link *link, struct qs_err *err);
    bool (*open)(struct qs_link *link, struct qs_err *err); /* a failure leaves nothing open */
    void (*close)(struct qs_link *link);                    /* while opening or up; lets go of everything */
    bool (*send)(struct qs_link *link, const uint8_t *bytes, size_t n, struct qs_err *err);
    /* Where it counts other things than the stream does; NULL: it does not. It is up. */
    void (*counters)(const struct qs_link *link, struct qs_link_counters *ret);
    /* The stream's connection stands; NULL: qs_link_up. */
    void (*stream_stands)(struct qs_link *link);
    /* Bytes came over the stream: a kind that has something to settle with its other side before it is up, or
     * decrypts them, takes them all, and says when it is up; NULL: qs_link_bytes. */
    void (*take)(struct qs_link *link, const uint8_t *bytes, size_t n);
    /* The peer ended or broke the stream; NULL: qs_link_down. */
    void (*stream_ended)(struct qs_link *link, const struct qs_err *why);
};

#define QS_LINK_DECLARE(end, word) extern const struct qs_link_ops qs_link_##word##_ops;
QS_LINK_KINDS(QS_LINK_DECLARE)

/* A socket, or a terminal, that carries both directions; for all kinds but sim. */
struct qs_link_stream {
    int fd; /* owned; -1 = none */
    struct qs_io *io;
    bool connecting;
    bool broken;         /* a write failed: nothing more is written; the reason comes with the next turn */
    struct qs_buf queue; /* unsent */
};

struct qs_link {
    const struct qs_link_ops *ops;
    struct qs_loop *loop; /* borrowed */
    struct qs_link_events events;
    enum qs_link_state state;
    char *name;             /* owned: the device's, for messages */
    struct qs_timer *later; /* owned: an event that waits for the call to return */
    struct qs_err later_why;
    struct qs_link_counters counters;
    uint8_t key[QS_LINK_KEY_MAX_BYTES];
    size_t key_bytes;
    struct qs_link_stream stream;
    void *own; /* owned, by kind */
};

/* Takes fd (also when it fails). connecting: up once the kernel says that the connection stands. */
bool qs_link_stream_open(struct qs_link *link, int fd, bool connecting, struct qs_err *err);
bool qs_link_stream_send(struct qs_link *link, const uint8_t *bytes, size_t n, struct qs_err *err);
void qs_link_stream_close(struct qs_link *link);

/* Fills link->key from a file, or fails. */
bool qs_link_read_key(struct qs_link *link, const char *path, struct qs_err *err);
void qs_link_forget_key(struct qs_link *link);

/* on_up or on_down from a timer, for news that is known before the call returns. The last one counts. */
void qs_link_up_later(struct qs_link *link);
void qs_link_down_later(struct qs_link *link, const struct qs_err *why);

void qs_link_up(struct qs_link *link);
void qs_link_bytes(struct qs_link *link, const uint8_t *bytes, size_t n);
void qs_link_down(struct qs_link *link, const struct qs_err *why); /* closes first */

#endif
