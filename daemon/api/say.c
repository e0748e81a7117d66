/* POST devices/{device}:hold, :release, :note, :tag: what people say of a device. */
#include "api/say.h"

#include <string.h>

#include "api/body.h"
#include "api/handlers.h"
#include "api/owner.h"
#include "api/reply.h"
#include "base/loop.h"
#include "farm/say.h"

enum { FOR_MAX_S = 366 * 86400 };

void qs_put_words(const struct qs_farm *farm, const char *device, struct qs_json *j)
{
    size_t count, tags = 0;
    const struct qs_word *words = qs_farm_words(farm, device, &count), *hold = NULL, *note = NULL;
    for (; tags < count && words[tags].kind != QS_WORD_TAG; tags++)
        *(words[tags].kind == QS_WORD_HOLD ? &hold : &note) = &words[tags];
    qs_json_key(j, "held");
    if (hold) {
        qs_json_object(j);
        qs_json_kstring(j, "text", hold->value);
        qs_json_kstring(j, "by", hold->by);
        qs_json_kint(j, "since_wall_ns", hold->at_wall_ns);
        qs_json_kmaybe(j, "until_wall_ns", hold->until_wall_ns > 0, hold->until_wall_ns);
        qs_json_object_end(j);
    } else {
        qs_json_null(j);
    }
    qs_json_key(j, "note");
    if (note) {
        qs_json_object(j);
        qs_json_kstring(j, "text", note->value);
        qs_json_kstring(j, "by", note->by);
        qs_json_kint(j, "at_wall_ns", note->at_wall_ns);
        qs_json_object_end(j);
    } else {
        qs_json_null(j);
    }
    qs_json_kobject(j, "tags");
    for (size_t i = tags; i < count; i++)
        qs_json_kstring(j, words[i].key, words[i].value);
    qs_json_object_end(j);
}

/* ---- each request: its words, from its body ---- */

struct saying {
    json_t *body; /* owned: the words borrow its texts; NULL: there is none */
    struct qs_word words[QS_WORD_TAGS_MAX];
    size_t count;
};

static void done_saying(void *data)
{
    json_decref(((struct saying *)data)->body);
}

static bool read_hold(const struct qs_exchange *ex, struct saying *s, struct qs_err *err)
{
    static const char *const keys[] = {"text", "for_s"};
    const json_t *text = json_object_get(s->body, "text"), *seconds = json_object_get(s->body, "for_s");
    json_int_t for_s = seconds ? json_integer_value(seconds) : 0;
    if (!qs_body_keys(s->body, "the request", keys, 2, err))
        return false;
    if ((text && !json_is_string(text)) ||
        (seconds && (!json_is_integer(seconds) || for_s < 1 || for_s > FOR_MAX_S)))
        return qs_fail(err, QS_E_USAGE, "text is a text, for_s a whole number from 1 to %d", FOR_MAX_S);
    s->count = 1;
    s->words[0] = (struct qs_word){.kind = QS_WORD_HOLD,
                                   .key = "",
                                   .value = text ? json_string_value(text) : "",
                                   .until_wall_ns = for_s > 0 ? qs_loop_wall_ns(ex->api->p.loop) +
                                                                    (int64_t)for_s * INT64_C(1000000000)
                                                              : 0};
    return true;
}

static bool read_release(const struct qs_exchange *ex, struct saying *s, struct qs_err *err)
{
    (void)ex;
    if (!qs_body_keys(s->body, "the request", NULL, 0, err))
        return false;
    s->count = 1;
    s->words[0] = (struct qs_word){.kind = QS_WORD_HOLD, .key = ""};
    return true;
}

/* An empty one takes back what is there. */
static bool read_note(const struct qs_exchange *ex, struct saying *s, struct qs_err *err)
{
    static const char *const keys[] = {"text"};
    const char *text = json_string_value(json_object_get(s->body, "text"));
    (void)ex;
    if (!qs_body_keys(s->body, "the request", keys, 1, err))
        return false;
    if (!text)
        return qs_fail(err, QS_E_USAGE, "the request is {\"text\": NOTE}");
    s->count = 1;
    s->words[0] = (struct qs_word){.kind = QS_WORD_NOTE, .key = "", .value = text[0] ? text : NULL};
    return true;
}

static bool read_tag(const struct qs_exchange *ex, struct saying *s, struct qs_err *err)
{
    static const char *const keys[] = {"tags"};
    json_t *tags = json_object_get(s->body, "tags"), *value;
    const char *key;
    (void)ex;
    if (!qs_body_keys(s->body, "the request", keys, 1, err))
        return false;
    if (!json_is_object(tags) || json_object_size(tags) == 0)
        return qs_fail(err, QS_E_USAGE, "the request is {\"tags\": {KEY: VALUE or null}}");
    if (json_object_size(tags) > QS_WORD_TAGS_MAX)
        return qs_fail(err, QS_E_LIMIT, "%zu tags at once are more than %d", json_object_size(tags),
                       QS_WORD_TAGS_MAX);
    json_object_foreach(tags, key, value)
    {
        if (!json_is_string(value) && !json_is_null(value))
            return qs_fail(err, QS_E_USAGE, "the value of tag `%.40s` is a text, or null to remove it", key);
        s->words[s->count++] =
            (struct qs_word){.kind = QS_WORD_TAG, .key = key, .value = json_string_value(value)};
    }
    return true;
}

static const struct {
    const char *word; /* the end of its address */
    bool (*read)(const struct qs_exchange *ex, struct saying *s, struct qs_err *err);
} sayings[] = {{"hold", read_hold}, {"release", read_release}, {"note", read_note}, {"tag", read_tag}};

static bool read_saying(const struct qs_exchange *ex, struct saying *s, struct qs_err *err)
{
    const char *word = strrchr(ex->match.route->pattern, ':') + 1;
    size_t i = 0;
    while (strcmp(sayings[i].word, word) != 0)
        i++;
    if (ex->body.len > 0 && !(s->body = qs_body_json(ex, err)))
        return false;
    if (s->body && !json_is_object(s->body))
        return qs_fail(err, QS_E_USAGE, "the request is an object");
    return sayings[i].read(ex, s, err);
}

static void on_said(const struct qs_err *err, int64_t id, void *user)
{
    struct qs_exchange *ex = user;
    (void)id;
    if (!qs_exchange_leave(ex))
        return;
    if (err) {
        qs_reply_error(ex, err);
        return;
    }
    QS_BUF(out);
    struct qs_json j = qs_json_to(&out);
    qs_json_object(&j);
    qs_json_kstring(&j, "device", ex->match.device);
    qs_put_words(ex->api->p.farm, ex->match.device, &j);
    qs_json_object_end(&j);
    qs_reply_json(ex, 200, &out);
}

static void say(struct qs_exchange *ex)
{
    struct saying *s = ex->data;
    struct qs_err err = QS_ERR_INIT;
    bool ok = read_saying(ex, s, &err);
    for (size_t i = 0; ok && i < s->count; i++) {
        s->words[i].device = ex->match.device;
        s->words[i].by = ex->owner;
    }
    qs_exchange_enter(ex);
    if ((ok && qs_farm_say(ex->api->p.farm, s->words, s->count, on_said, ex, &err)) || !qs_exchange_leave(ex))
        return;
    qs_reply_error(ex, &err);
}

void qs_handle_device_say(struct qs_exchange *ex)
{
    qs_exchange_data(ex, sizeof(struct saying), done_saying);
    qs_owner_find(ex, say);
}
