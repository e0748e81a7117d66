/* What people have said of a device, by its name: it may be one that never came. A word stands until it is
 * taken back or replaced. Texts as in rows.h: requests copy them. */
#ifndef QS_STORE_WORD_H
#define QS_STORE_WORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "store/store.h"

enum qs_word_kind {
    QS_WORD_HOLD, /* no job begins on it; the value says why */
    QS_WORD_NOTE, /* what is to be known of it */
    QS_WORD_TAG   /* key and value, for selectors */
};
const char *qs_word_kind_name(enum qs_word_kind kind); /* "hold", "note", "tag" */

struct qs_word {
    const char *device;
    enum qs_word_kind kind;
    const char *key;   /* of a tag, else "" */
    const char *value; /* NULL: it is taken back */
    const char *by;    /* whose word it is */
    int64_t at_wall_ns;
    int64_t until_wall_ns; /* of a hold; 0: until it is taken back */
};

/* All of them, and the event that tells of them, in one commit; done's id is the event's number. */
void qs_store_words(struct qs_store *store, const struct qs_word *words, size_t count,
                    const struct qs_event_row *event, qs_store_done_fn *done, void *user);

/* Inside a qs_store_read function: all words, by device, kind and key; borrowed for the call. */
typedef void qs_word_fn(const struct qs_word *word, void *user);
bool qs_read_words(struct qs_store_reader *r, qs_word_fn *fn, void *user, struct qs_err *err);

#endif
