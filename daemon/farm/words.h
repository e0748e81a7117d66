/* What people have said of the devices, as it stands: a sorted list, by device, kind and key. */
#ifndef QS_FARM_WORDS_H
#define QS_FARM_WORDS_H

#include <stddef.h>
#include <stdint.h>

#include "store/word.h"

struct qs_words {       /* zeroed: none */
    struct qs_word *at; /* owned, with its texts */
    size_t count;
};

/* With texts of its own, for a list. */
struct qs_word qs_word_copy(const struct qs_word *word);
void qs_words_done(struct qs_words *words);
/* Replaces the one of its device, kind and key; without a value it only goes. Copied;
 * nothing of it is the list's. */
void qs_words_put(struct qs_words *words, const struct qs_word *word);
/* NULL: there is none. Borrowed until the next put. */
const struct qs_word *qs_words_find(const struct qs_words *words, const char *device, enum qs_word_kind kind,
                                    const char *key);
/* Those of a device, in order of kind and key: the first, and how many follow each other; NULL: none. */
const struct qs_word *qs_words_of(const struct qs_words *words, const char *device, size_t *ret_count);
/* The hold that ends first; NULL: none ends by itself. */
const struct qs_word *qs_words_next_end(const struct qs_words *words);

#endif
