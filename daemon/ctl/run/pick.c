#include "ctl/run/pick.h"

#include <ctype.h>
#include <string.h>

#include "ctl/client/api.h"

const char *qs_pick_label(const json_t *device, const char *key)
{
    size_t i, n = strlen(key);
    const json_t *label;
    json_array_foreach(json_object_get(device, "labels"), i, label)
    {
        const char *text = json_is_string(label) ? json_string_value(label) : "";
        if (strncmp(text, key, n) == 0 && text[n] == '=')
            return text + n + 1;
    }
    return NULL;
}

static int plain(char c)
{
    return c == ' ' ? '_' : tolower((unsigned char)c);
}

static bool begins(const char *text, const char *word)
{
    for (; *word != '\0'; word++, text++)
        if (plain(*text) != plain(*word))
            return false;
    return true;
}

static bool fits(const char *text, const char *word, bool whole)
{
    if (text == NULL || word[0] == '\0')
        return false;
    if (whole)
        return strlen(text) == strlen(word) && begins(text, word);
    for (; *text != '\0'; text++)
        if (begins(text, word))
            return true;
    return false;
}

enum tier { NAME, WHOLE, KIND, PART, TIERS };

static bool is_meant(const json_t *device, const char *word, enum tier tier)
{
    const char *name = qs_json_get_text(device, "name", "");
    if (tier == NAME)
        return word != NULL && strcmp(name, word) == 0;
    if (qs_json_get_true(device, "local"))
        return false;
    if (tier == KIND)
        return word != NULL && word[0] != '\0' && strcmp(qs_json_get_text(device, "link", ""), word) == 0;
    return word == NULL || fits(name, word, tier == WHOLE) ||
           fits(qs_pick_label(device, "serial"), word, tier == WHOLE) ||
           fits(qs_pick_label(device, "model"), word, tier == WHOLE);
}

json_t *qs_pick_devices(const json_t *devices, const char *word)
{
    json_t *found = json_array(), *device;
    size_t i;
    for (enum tier tier = NAME; tier < TIERS && json_array_size(found) == 0; tier++)
        json_array_foreach(devices, i, device)
        {
            if (is_meant(device, word, tier))
                json_array_append(found, device);
        }
    return found;
}

void qs_pick_list(const json_t *devices, struct qs_buf *out)
{
    size_t i;
    const json_t *device;
    json_array_foreach(devices, i, device)
    {
        const char *model = qs_pick_label(device, "model");
        qs_buf_fmt(out, "%s%s (%s%s%s)", i > 0 ? ", " : "", qs_json_get_text(device, "name", ""),
                   model != NULL ? model : "", model != NULL ? ", " : "",
                   qs_json_get_text(device, "state", ""));
    }
}
