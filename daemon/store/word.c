#include "store/word.h"

#include <string.h>

#include "store/read/reader.h"
#include "store/write/write.h"

static const char *const kinds[] = {"hold", "note", "tag"};

struct words {
    const struct qs_word *at;
    size_t count;
    struct qs_event_row event;
};

const char *qs_word_kind_name(enum qs_word_kind kind)
{
    return kinds[kind];
}

static bool take_back(struct qs_db *db, const struct qs_word *word, struct qs_err *err)
{
    struct qs_stmt s;
    if (!qs_stmt_begin(db, &s, "DELETE FROM device_word WHERE device = ? AND kind = ? AND key = ?", err))
        return false;
    qs_stmt_text(&s, word->device);
    qs_stmt_text(&s, kinds[word->kind]);
    qs_stmt_text(&s, word->key);
    return qs_stmt_run(&s, err);
}

static bool put(struct qs_db *db, const struct qs_word *word, struct qs_err *err)
{
    struct qs_stmt s;
    if (!qs_stmt_begin(db, &s,
                       "INSERT OR REPLACE INTO device_word(device, kind, key, value, by, at_wall_ns,"
                       " until_wall_ns) VALUES(?, ?, ?, ?, ?, ?, nullif(?, 0))",
                       err))
        return false;
    const char *const texts[] = {word->device, kinds[word->kind], word->key, word->value, word->by};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        qs_stmt_text(&s, texts[i]);
    qs_stmt_int(&s, word->at_wall_ns);
    qs_stmt_int(&s, word->until_wall_ns);
    return qs_stmt_run(&s, err);
}

static bool apply_words(struct qs_db *db, const void *row, int64_t *ret_id, struct qs_err *err)
{
    const struct words *words = row;
    for (size_t i = 0; i < words->count; i++)
        if (!(words->at[i].value ? put : take_back)(db, &words->at[i], err))
            return false;
    return qs_apply_event(db, &words->event, ret_id, err);
}

void qs_store_words(struct qs_store *store, const struct qs_word *words, size_t count,
                    const struct qs_event_row *event, qs_store_done_fn *done, void *user)
{
    struct qs_request *req = qs_request_new(apply_words, done, user);
    struct qs_arena *a = &req->arena;
    struct qs_word *copies = qs_arena_copy(a, words, count * sizeof *copies);
    for (size_t i = 0; i < count; i++) {
        copies[i].device = qs_arena_text(a, copies[i].device);
        copies[i].key = qs_arena_text(a, copies[i].key);
        copies[i].value = qs_arena_text(a, copies[i].value);
        copies[i].by = qs_arena_text(a, copies[i].by);
    }
    struct words row = {.at = copies, .count = count, .event = *event};
    row.event.kind = qs_arena_text(a, event->kind);
    row.event.device = qs_arena_text(a, event->device);
    row.event.body_json = qs_arena_text(a, event->body_json);
    req->row = qs_arena_copy(a, &row, sizeof row);
    qs_store_enqueue(store, req);
}

static enum qs_word_kind kind_of(const char *name)
{
    size_t kind = 0;
    while (kind < QS_WORD_TAG && strcmp(kinds[kind], name) != 0)
        kind++;
    return (enum qs_word_kind)kind;
}

bool qs_read_words(struct qs_store_reader *r, qs_word_fn *fn, void *user, struct qs_err *err)
{
    struct qs_stmt s;
    if (!qs_stmt_begin(&r->db, &s,
                       "SELECT device, kind, key, value, by, at_wall_ns, until_wall_ns FROM device_word"
                       " ORDER BY device, kind, key",
                       err))
        return false;
    bool ok = true;
    while (qs_stmt_next(&s, &ok, err)) {
        struct qs_word word;
        word.device = qs_stmt_get_text(&s);
        word.kind = kind_of(qs_stmt_get_text(&s));
        word.key = qs_stmt_get_text(&s);
        word.value = qs_stmt_get_text(&s);
        word.by = qs_stmt_get_text(&s);
        word.at_wall_ns = qs_stmt_get_int(&s);
        word.until_wall_ns = qs_stmt_get_int(&s);
        fn(&word, user);
    }
    return ok;
}
