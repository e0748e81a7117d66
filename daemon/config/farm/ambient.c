/* ambient of a farm: what tells how warm it is around its devices. */
#include "config/farm/ambient.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "config/document/scalar.h"
#include "config/job/read.h"

#define AT(field) offsetof(struct qs_farm_ambient, field)
#define S         INT64_C(1000000000)

enum { NAME_BYTES = 32, PATH_BYTES = 4095 };

static const struct qs_word unit_words[] = {
    {"C", QS_AMBIENT_C}, {"mC", QS_AMBIENT_MC}, {"dC", QS_AMBIENT_DC}, {NULL, 0}};

static const struct qs_key ambient_keys[] = {
    {.name = "command",
     .type = QS_KEY_CUSTOM,
     .offset = AT(command),
     .read = qs_job_read_link,
     .form = "a list, one word each",
     .help = "A command of this machine that prints one number, run as the daemon's user."},
    {.name = "file",
     .type = QS_KEY_TEXT,
     .offset = AT(file),
     .min = 1,
     .max = PATH_BYTES,
     .help = "Or a file of this machine that says it."},
    {.name = "unit",
     .type = QS_KEY_ENUM,
     .offset = AT(unit),
     .words = unit_words,
     .fallback = "C",
     .help = "What the number counts in: degrees (C), tenths (dC) or thousandths (mC)."},
    {.name = "max_age",
     .type = QS_KEY_DURATION,
     .offset = AT(max_age_ns),
     .min = S,
     .max = 86400 * S,
     .fallback = "1min",
     .help =
         "How long a reading is good for. Older than half of it, it is read again before the next window."},
    {.name = "timeout",
     .type = QS_KEY_DURATION,
     .offset = AT(timeout_ns),
     .min = S / 100,
     .max = 60 * S,
     .fallback = "5s",
     .help = "After this time reading it has failed."},
    {0}};

static void check_ambient(struct qs_schema_reader *r, const struct qs_node *node, void *target)
{
    const struct qs_farm_ambient *a = target;
    (void)node;
    if (a->name != NULL && (!qs_text_is_word(a->name, "-_.") || strlen(a->name) > NAME_BYTES))
        qs_schema_problem(r, NULL, "letters, digits, `-`, `_` and `.`, at most 32 of them",
                          "`%s` is not a name for a sensor", qs_show(a->name).text);
    if ((a->command.count > 0) + (a->file != NULL) != 1)
        qs_schema_problem(r, NULL, "such as `file: /sys/class/hwmon/hwmon0/temp1_input`",
                          "what tells the ambient temperature is one of `command` and `file`");
}

const struct qs_table qs_farm_ambient_table = {.keys = ambient_keys,
                                               .size_bytes = sizeof(struct qs_farm_ambient),
                                               .name_offset = AT(name),
                                               .check = check_ambient};

void qs_farm_ambients_done(struct qs_farm_ambient *ambients, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        free(ambients[i].name);
        free(ambients[i].file);
        qs_strings_done(&ambients[i].command);
    }
    free(ambients);
}

const struct qs_farm_ambient *qs_farm_ambient(const struct qs_farm_config *farm, const char *device)
{
    const char *name = NULL;
    for (size_t i = 0; i < farm->device_count; i++)
        if (strcmp(farm->devices[i].name, device) == 0)
            name = farm->devices[i].ambient;
    if (name == NULL)
        return farm->ambient_count == 1 ? &farm->ambients[0] : NULL;
    for (size_t i = 0; i < farm->ambient_count; i++)
        if (strcmp(farm->ambients[i].name, name) == 0)
            return &farm->ambients[i];
    return NULL;
}

void qs_farm_check_ambients(struct qs_schema_reader *r, const struct qs_node *root,
                            const struct qs_farm_config *farm)
{
    const struct qs_node *devices = qs_node_get(root, "devices", NULL);
    const char *names[100];
    size_t n = 0;
    for (; n < farm->ambient_count && n < sizeof names / sizeof *names; n++)
        names[n] = farm->ambients[n].name != NULL ? farm->ambients[n].name : "";
    for (size_t i = 0; i < farm->device_count; i++) {
        const struct qs_farm_device *d = &farm->devices[i];
        bool known = d->ambient == NULL || d->name == NULL;
        for (size_t k = 0; k < n && !known; k++)
            known = strcmp(names[k], d->ambient) == 0;
        if (known)
            continue;
        QS_BUF(hint);
        size_t mark = qs_schema_enter(r, "devices");
        qs_schema_enter(r, d->name);
        qs_schema_enter(r, "ambient");
        if (n > 0)
            qs_schema_suggest(&hint, d->ambient, "this farm has", names, n);
        else
            qs_buf_str(&hint, "declare it under `ambient`");
        qs_schema_problem(r, qs_node_get(qs_node_get(devices, d->name, NULL), "ambient", NULL), hint.data,
                          "this farm has no ambient sensor `%s`", qs_show(d->ambient).text);
        qs_schema_leave(r, mark);
    }
}
