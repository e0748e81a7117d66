/* `quiesce devices hold | release | note | tag DEVICE`: what people say of a device. */
#include <string.h>

#include "base/text.h"
#include "ctl/result.h"

/* The word behind the device's, or NULL. */
static const char *word_at(const struct qs_ctl *ctl, size_t i)
{
    return i < ctl->args->word_count ? ctl->args->argv[ctl->args->word[i]] : NULL;
}

/* What follows fills the request; false where a word is not UTF-8. */

static bool put_hold(const struct qs_ctl *ctl, json_t *body)
{
    int64_t for_ns = qs_args_number(ctl->args, "for", 0);
    if (for_ns > 0)
        json_object_set_new(body, "for_s", json_integer((for_ns + 999999999) / 1000000000));
    return word_at(ctl, 2) == NULL || json_object_set_new(body, "text", json_string(word_at(ctl, 2))) == 0;
}

static bool put_nothing(const struct qs_ctl *ctl, json_t *body)
{
    (void)ctl;
    (void)body;
    return true;
}

static bool put_note(const struct qs_ctl *ctl, json_t *body)
{
    return json_object_set_new(body, "text", json_string(word_at(ctl, 2))) == 0;
}

/* KEY=VALUE, KEY alone for KEY=true, or KEY- to remove one. */
static bool put_tags(const struct qs_ctl *ctl, json_t *body)
{
    json_t *tags = json_object();
    bool ok = true;
    for (size_t i = 2; word_at(ctl, i) != NULL && ok; i++) {
        const char *word = word_at(ctl, i);
        size_t n = strcspn(word, "="), whole = strlen(word);
        bool goes = n == whole && n > 1 && word[n - 1] == '-';
        QS_BUF(key);
        qs_buf_fmt(&key, "%.*s", (int)(goes ? n - 1 : n), word);
        ok = json_object_set_new(tags, key.data,
                                 goes ? json_null() : json_string(n < whole ? word + n + 1 : "true")) == 0;
    }
    return json_object_set_new(body, "tags", tags) == 0 && ok;
}

static void tell_hold(const json_t *doc, struct qs_buf *out)
{
    const json_t *held = json_object_get(doc, "held");
    const char *device = qs_json_get_text(doc, "device", "");
    if (!json_is_object(held)) {
        qs_buf_fmt(out, "%s is held no longer.", device);
        return;
    }
    QS_BUF(text);
    qs_layout_held(held, &text);
    qs_buf_fmt(out, "%s is held%s %s. No job begins on it; one that it has goes on.", device,
               qs_json_get_text(held, "text", "")[0] != '\0' ? ":" : "", text.data);
}

static void tell_note(const json_t *doc, struct qs_buf *out)
{
    const char *text = qs_json_get_text(json_object_get(doc, "note"), "text", "");
    qs_buf_fmt(out, "%s: %s", qs_json_get_text(doc, "device", ""), text[0] != '\0' ? text : "no note");
}

static void tell_tags(const json_t *doc, struct qs_buf *out)
{
    QS_BUF(text);
    qs_layout_tags(doc, &text);
    qs_buf_fmt(out, "%s: %s", qs_json_get_text(doc, "device", ""), text.len > 0 ? text.data : "no tags");
}

static const struct saying {
    const char *word;
    size_t least, most; /* words behind the device's */
    const char *form;   /* how it is written */
    bool (*put)(const struct qs_ctl *ctl, json_t *body);
    void (*tell)(const json_t *doc, struct qs_buf *out);
} sayings[] = {
    {"hold", 0, 1, "quiesce devices hold DEVICE [WHY] [--for TIME]", put_hold, tell_hold},
    {"release", 0, 0, "quiesce devices release DEVICE", put_nothing, tell_hold},
    {"note", 1, 1, "quiesce devices note DEVICE TEXT", put_note, tell_note},
    {"tag", 1, 32, "quiesce devices tag DEVICE KEY[=VALUE]... KEY-...", put_tags, tell_tags},
};

static int call(struct qs_ctl *ctl, const struct saying *saying, const char *device)
{
    int code = QS_EXIT_OK;
    QS_BUF(path);
    QS_BUF(out);
    json_auto_t *body = json_object();
    qs_buf_fmt(&path, "/api/v1/devices/%s:%s", device, saying->word);
    if (!saying->put(ctl, body)) {
        fprintf(ctl->err, "quiesce devices %s: what follows the device is not UTF-8\n", saying->word);
        return QS_EXIT_USAGE;
    }
    QS_FREED char *text = json_dumps(body, JSON_COMPACT);
    const struct qs_http_request request = {
        .method = "POST", .path = path.data, .body = text, .body_bytes = strlen(text)};
    QS_SCOPED(qs_http_free_at) struct qs_http *http = qs_api_open(ctl, &code);
    json_auto_t *doc = http != NULL ? qs_api_call(ctl, http, &request, &code) : NULL;
    if (doc != NULL && ctl->json) {
        qs_ctl_print_json(ctl->out, doc);
    } else if (doc != NULL) {
        const struct qs_layout layout = qs_result_layout(ctl);
        QS_BUF(told);
        saying->tell(doc, &told);
        qs_face_wrap(&layout.face, &out, "", told.data, QS_INK_PLAIN);
        qs_ctl_print(ctl->out, &out);
    }
    return code;
}

int qs_device_say(struct qs_ctl *ctl, const char *device)
{
    const struct saying *saying = sayings;
    size_t words = ctl->args->word_count - 2;
    while (strcmp(saying->word, word_at(ctl, 0)) != 0)
        saying++;
    if (words >= saying->least && words <= saying->most)
        return call(ctl, saying, device);
    fprintf(ctl->err, "quiesce devices: write `%s`%s\n", saying->form,
            saying->most == 1 ? ", the text in quotes" : "");
    return QS_EXIT_USAGE;
}
