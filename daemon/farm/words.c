#include "farm/words.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static void drop(struct qs_word *word)
{
    free((char *)word->device);
    free((char *)word->key);
    free((char *)word->value);
    free((char *)word->by);
}

struct qs_word qs_word_copy(const struct qs_word *word)
{
    struct qs_word copy = *word;
    copy.device = qs_strdup(word->device);
    copy.key = qs_strdup(word->key);
    copy.value = qs_strdup(word->value);
    copy.by = qs_strdup(word->by);
    return copy;
}

void qs_words_done(struct qs_words *words)
{
    for (size_t i = 0; i < words->count; i++)
        drop(&words->at[i]);
    free(words->at);
    *words = (struct qs_words){.count = 0};
}

static int compare(const struct qs_word *a, const struct qs_word *b)
{
    int by = strcmp(a->device, b->device);
    if (by == 0)
        by = (int)a->kind - (int)b->kind;
    return by != 0 ? by : strcmp(a->key, b->key);
}

/* Its place, or that of the one before which it belongs. */
static size_t place_of(const struct qs_words *words, const struct qs_word *word)
{
    size_t low = 0, high = words->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare(&words->at[middle], word) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool is_at(const struct qs_words *words, size_t at, const struct qs_word *word)
{
    return at < words->count && compare(&words->at[at], word) == 0;
}

void qs_words_put(struct qs_words *words, const struct qs_word *word)
{
    size_t at = place_of(words, word), rest = words->count - at;
    if (is_at(words, at, word)) {
        drop(&words->at[at]);
        memmove(&words->at[at], &words->at[at + 1], (rest - 1) * sizeof *words->at);
        words->count--;
        rest--;
    }
    if (!word->value)
        return;
    words->at = qs_grow(words->at, words->count, sizeof *words->at);
    memmove(&words->at[at + 1], &words->at[at], rest * sizeof *words->at);
    words->at[at] = qs_word_copy(word);
    words->count++;
}

const struct qs_word *qs_words_find(const struct qs_words *words, const char *device, enum qs_word_kind kind,
                                    const char *key)
{
    const struct qs_word word = {.device = device, .kind = kind, .key = key};
    size_t at = place_of(words, &word);
    return is_at(words, at, &word) ? &words->at[at] : NULL;
}

const struct qs_word *qs_words_of(const struct qs_words *words, const char *device, size_t *ret_count)
{
    size_t at = place_of(words, &(struct qs_word){.device = device, .kind = QS_WORD_HOLD, .key = ""});
    *ret_count = 0;
    while (at + *ret_count < words->count && strcmp(words->at[at + *ret_count].device, device) == 0)
        ++*ret_count;
    return *ret_count > 0 ? &words->at[at] : NULL;
}

const struct qs_word *qs_words_next_end(const struct qs_words *words)
{
    const struct qs_word *next = NULL;
    for (size_t i = 0; i < words->count; i++) {
        const struct qs_word *one = &words->at[i];
        if (one->until_wall_ns > 0 && (!next || one->until_wall_ns < next->until_wall_ns))
            next = one;
    }
    return next;
}
