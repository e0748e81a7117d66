/* The profiles of a farm's own, a file each. */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "config/document/load.h"
#include "config/profile/profiles.h"

struct own {
    struct qs_doc *doc; /* NULL: it cannot be read as a document, or is added */
    struct qs_problems found;
    char *path;
};

static bool ends_with(const char *name, const char *end)
{
    size_t n = strlen(name), m = strlen(end);
    return n > m && strcmp(name + n - m, end) == 0;
}

static int is_yaml(const struct dirent *entry)
{
    return entry->d_name[0] != '.' && (ends_with(entry->d_name, ".yaml") || ends_with(entry->d_name, ".yml"));
}

/* Whether what it extends is in another file, which comes first then. */
static bool waits(const struct own *own, size_t count, size_t i)
{
    const struct qs_node *base = qs_node_get(&own[i].doc->root, "extends", NULL);
    for (size_t k = 0; base != NULL && base->kind == QS_NODE_TEXT && k < count; k++) {
        const struct qs_node *name =
            own[k].doc != NULL && k != i ? qs_node_get(&own[k].doc->root, "profile", NULL) : NULL;
        if (name != NULL && name->kind == QS_NODE_TEXT && strcmp(name->text, base->text) == 0)
            return true;
    }
    return false;
}

static void add_all(struct qs_profiles *profiles, struct own *own, size_t count)
{
    for (bool circle = false, some = true; some || !circle;) {
        circle = !some; /* those that are left wait for each other: the first of them says so */
        some = false;
        for (size_t i = 0; i < count && !(circle && some); i++) {
            if (own[i].doc == NULL || (!circle && waits(own, count, i)))
                continue;
            (void)qs_profiles_add(profiles, own[i].doc, true,
                                  &own[i].found); /* or its problems say why not */
            qs_doc_free(own[i].doc);
            own[i].doc = NULL;
            some = true;
        }
    }
}

static void read_one(struct own *own, bool *ok, struct qs_err *err)
{
    size_t len = 0;
    QS_FREED char *text = *ok ? qs_load_text(own->path, &len, err) : NULL;
    *ok = *ok && text != NULL;
    if (*ok)
        (void)qs_doc_read(own->path, text, len, false, &own->doc, &own->found);
}

bool qs_profiles_add_folder(struct qs_profiles *profiles, const char *folder, struct qs_buf *problems,
                            struct qs_err *err)
{
    struct dirent **names = NULL;
    int count = scandir(folder, &names, is_yaml, alphasort);
    if (count < 0)
        return qs_fail(err, QS_E_IO, "the profiles in %s cannot be read: %s", folder, strerror(errno));
    struct own *own = qs_calloc((size_t)count + 1, sizeof *own);
    size_t wrong = 0;
    bool ok = true;
    for (int i = 0; i < count; i++) {
        own[i].path = qs_asprintf("%s/%s", folder, names[i]->d_name);
        free(names[i]);
        read_one(&own[i], &ok, err);
    }
    free(names);
    if (ok)
        add_all(profiles, own, (size_t)count);
    for (int i = 0; i < count; i++) {
        qs_problems_text(&own[i].found, own[i].path, problems);
        wrong += own[i].found.count + own[i].found.more;
        qs_problems_done(&own[i].found);
        qs_doc_free(own[i].doc);
        free(own[i].path);
    }
    free(own);
    return ok && (wrong == 0 || qs_fail(err, QS_E_CONFIG, "%zu mistake%s in the profiles of %s", wrong,
                                        wrong == 1 ? "" : "s", folder));
}
