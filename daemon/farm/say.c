#include "farm/say.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/loop.h"
#include "base/mem.h"
#include "base/text.h"
#include "farm/farm_impl.h"

#define LOOK_NS  INT64_C(3600000000000) /* the wall's clock may be set: how long it is believed */
#define AGAIN_NS INT64_C(60000000000)   /* after a disk that did not take it */

struct said { /* on its way to disk */
    struct qs_farm *farm;
    struct qs_words words; /* in no order: those that were taken back as well */
    qs_store_done_fn *done;
    void *user;
};

/* ---- what cannot be said ---- */

static bool check_text(const struct qs_word *word, struct qs_err *err)
{
    const char *what = word->kind == QS_WORD_TAG ? "the value of a tag" : "the text";
    size_t n = strlen(word->value);
    if (n > QS_WORD_TEXT_MAX)
        return qs_fail(err, QS_E_USAGE, "%s has %zu bytes, more than %d", what, n, QS_WORD_TEXT_MAX);
    for (size_t i = 0; i < n; i++)
        if (iscntrl((unsigned char)word->value[i]))
            return qs_fail(err, QS_E_USAGE, "%s has a control character at byte %zu: write one line", what,
                           i);
    return true;
}

/* It is read in selectors. */
static bool check_key(const struct qs_word *word, struct qs_err *err)
{
    size_t n = strlen(word->key);
    QS_BUF(shown);
    if (word->kind != QS_WORD_TAG || (n <= QS_WORD_KEY_MAX && qs_text_is_word(word->key, "_.-")))
        return true;
    if (n == 0)
        return qs_fail(err, QS_E_USAGE, "a tag has no key: write 1 to %d letters, digits and _ . -",
                       QS_WORD_KEY_MAX);
    qs_text_escape(&shown, word->key, n < QS_WORD_KEY_MAX ? n : QS_WORD_KEY_MAX);
    return qs_fail(err, QS_E_USAGE, "`%s` is no key of a tag: write 1 to %d letters, digits and _ . -",
                   shown.data, QS_WORD_KEY_MAX);
}

static bool check_until(const struct qs_farm *farm, const struct qs_word *word, struct qs_err *err)
{
    return word->until_wall_ns == 0 || word->until_wall_ns > qs_loop_wall_ns(farm->p.loop) ||
           qs_fail(err, QS_E_USAGE, "the end of the hold has passed already");
}

/* What is taken back is there. */
static bool check_back(const struct qs_farm *farm, const struct qs_word *word, struct qs_err *err)
{
    if (qs_words_find(&farm->words, word->device, word->kind, word->key))
        return true;
    if (word->kind == QS_WORD_TAG)
        return qs_fail(err, QS_E_CONFLICT, "%s has no tag `%s`", word->device, word->key);
    return qs_fail(err, QS_E_CONFLICT, word->kind == QS_WORD_HOLD ? "%s is not held" : "%s has no note",
                   word->device);
}

static bool check_tags(const struct qs_farm *farm, const struct qs_word *words, size_t count,
                       struct qs_err *err)
{
    size_t n, tags = 0;
    const struct qs_word *now = qs_words_of(&farm->words, words[0].device, &n);
    for (size_t i = 0; i < n; i++)
        tags += now[i].kind == QS_WORD_TAG;
    for (size_t i = 0; i < count; i++) {
        bool there = qs_words_find(&farm->words, words[i].device, words[i].kind, words[i].key) != NULL;
        tags += words[i].value && !there ? 1 : 0;
        tags -= !words[i].value && there ? 1 : 0;
    }
    return words[0].kind != QS_WORD_TAG || tags <= QS_WORD_TAGS_MAX ||
           qs_fail(err, QS_E_LIMIT, "%s would have %zu tags, more than %d", words[0].device, tags,
                   QS_WORD_TAGS_MAX);
}

static bool check(const struct qs_farm *farm, const struct qs_word *words, size_t count, struct qs_err *err)
{
    size_t known;
    (void)qs_words_of(&farm->words, words[0].device, &known);
    if (known == 0 && !qs_inventory_find(farm->inventory, words[0].device, NULL))
        return qs_fail(err, QS_E_NOT_FOUND, "this farm has no device `%s`", words[0].device);
    for (size_t i = 0; i < count; i++) {
        bool ok = check_key(&words[i], err) &&
                  (words[i].value ? check_text(&words[i], err) && check_until(farm, &words[i], err)
                                  : check_back(farm, &words[i], err));
        if (!ok)
            return false;
    }
    return check_tags(farm, words, count, err);
}

/* ---- what was said ---- */

/* The event's kind; its body goes to j. */
static const char *put_event(const struct qs_farm *farm, const struct qs_word *words, size_t count,
                             struct qs_json *j)
{
    static const char *const kinds[][2] = {
        {"device.release", "device.hold"}, {"device.note", "device.note"}, {"device.tags", "device.tags"}};
    const struct qs_word *word = &words[0];
    const struct qs_word *before = qs_words_find(&farm->words, word->device, word->kind, word->key);
    qs_json_object(j);
    qs_json_kstring(j, "by", word->by);
    if (word->kind == QS_WORD_TAG) {
        qs_json_kobject(j, "tags"); /* null: it was taken back */
        for (size_t i = 0; i < count; i++)
            qs_json_kstring(j, words[i].key, words[i].value);
        qs_json_object_end(j);
    } else {
        qs_json_kstring(j, "text", word->value ? word->value : before ? before->value : NULL);
        if (word->until_wall_ns > 0)
            qs_json_kint(j, "until_wall_ns", word->until_wall_ns);
    }
    qs_json_object_end(j);
    return kinds[word->kind][word->value != NULL];
}

/* What was said of the device holds now. */
static void stand(struct qs_inventory_item *item)
{
    struct qs_farm *farm = item->farm;
    qs_queue_hold(farm->queue, &item->queue, qs_farm_hold(farm, item->config->name) != NULL);
    qs_queue_refit(farm->queue, &item->queue);
    if (!farm->stopping)
        qs_farm_dispatch_soon(farm);
}

static void watch_ends(struct qs_farm *farm, int64_t least_ns);

static void on_stored(const struct qs_err *err, int64_t id, void *user)
{
    struct said *s = user;
    struct qs_farm *farm = s->farm;
    (void)id;
    for (size_t i = 0; !err && i < s->words.count; i++)
        qs_words_put(&farm->words, &s->words.at[i]);
    struct qs_inventory_item *item = qs_inventory_find(farm->inventory, s->words.at[0].device, NULL);
    if (!err && item)
        stand(item);
    watch_ends(farm, err ? AGAIN_NS : 0);
    if (s->done)
        s->done(err, 0, s->user);
    qs_words_done(&s->words);
    free(s);
}

static void say(struct qs_farm *farm, const struct qs_word *words, size_t count, qs_store_done_fn *done,
                void *user)
{
    struct said *s = qs_calloc(1, sizeof *s);
    QS_BUF(body);
    struct qs_json j = qs_json_to(&body);
    const char *kind = put_event(farm, words, count, &j);
    s->farm = farm;
    s->done = done;
    s->user = user;
    s->words = (struct qs_words){.at = qs_calloc(count, sizeof *s->words.at), .count = count};
    for (size_t i = 0; i < count; i++) {
        s->words.at[i] = qs_word_copy(&words[i]);
        s->words.at[i].at_wall_ns = qs_loop_wall_ns(farm->p.loop);
    }
    qs_farm_emit_words(farm, s->words.at, count, kind, body.data, on_stored, s);
}

bool qs_farm_say(struct qs_farm *farm, const struct qs_word *words, size_t count, qs_store_done_fn *done,
                 void *user, struct qs_err *err)
{
    if (!check(farm, words, count, err))
        return false;
    say(farm, words, count, done, user);
    return true;
}

/* ---- holds that end by themselves ---- */

static void on_end(void *user)
{
    struct qs_farm *farm = user;
    const struct qs_word *next = qs_words_next_end(&farm->words);
    farm->hold_end = NULL;
    if (!next || next->until_wall_ns > qs_loop_wall_ns(farm->p.loop)) {
        watch_ends(farm, 0);
        return;
    }
    const struct qs_word over = {.device = next->device, .kind = QS_WORD_HOLD, .key = "", .by = "its end"};
    say(farm, &over, 1, NULL, NULL);
}

/* One timer for the hold that ends first. */
static void watch_ends(struct qs_farm *farm, int64_t least_ns)
{
    const struct qs_word *next = qs_words_next_end(&farm->words);
    qs_timer_stop(farm->hold_end);
    farm->hold_end = NULL;
    if (!next || !farm->started || farm->stopping)
        return;
    int64_t left_ns = next->until_wall_ns - qs_loop_wall_ns(farm->p.loop);
    left_ns = left_ns < least_ns ? least_ns : left_ns > LOOK_NS ? LOOK_NS : left_ns;
    farm->hold_end = qs_timer_start(farm->p.loop, left_ns, on_end, farm);
}

/* ---- what stands ---- */

const struct qs_word *qs_farm_words(const struct qs_farm *farm, const char *device, size_t *ret_count)
{
    return qs_words_of(&farm->words, device, ret_count);
}

const struct qs_word *qs_farm_hold(const struct qs_farm *farm, const char *device)
{
    return qs_words_find(&farm->words, device, QS_WORD_HOLD, "");
}

static void take(const struct qs_word *word, void *user)
{
    qs_words_put(&((struct qs_farm *)user)->words, word);
}

static bool read_words(struct qs_store_reader *reader, void *user, struct qs_err *err)
{
    return qs_read_words(reader, take, user, err);
}

bool qs_farm_read_words(struct qs_farm *farm, struct qs_err *err)
{
    if (!qs_store_read_now(farm->p.store, read_words, farm, err))
        return false;
    for (struct qs_inventory_item *item = qs_inventory_first(farm->inventory); item; item = item->next)
        stand(item);
    return true;
}

void qs_farm_watch_holds(struct qs_farm *farm)
{
    watch_ends(farm, 0);
}
