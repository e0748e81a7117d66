#include "config/document/load.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "base/text.h"

char *qs_load_text(const char *path, size_t *ret_bytes, struct qs_err *err)
{
    FILE *f = fopen(path, "re");
    if (!f) {
        qs_fail(err, QS_E_IO, "cannot read %s: %s", path, strerror(errno));
        return NULL;
    }
    char *text = qs_malloc(QS_DOC_BYTES + 1);
    *ret_bytes = fread(text, 1, QS_DOC_BYTES + 1, f);
    bool bad = ferror(f) != 0 || *ret_bytes > QS_DOC_BYTES;
    fclose(f);
    if (!bad)
        return text;
    free(text);
    qs_fail(err, QS_E_IO, "cannot read %s: an error, or more than %d bytes", path, QS_DOC_BYTES);
    return NULL;
}

/* The folder beside a farm's file, or where its key says. */
static char *folder_of_profiles(const char *path, const struct qs_farm_config *farm)
{
    const char *name = farm->profiles_folder != NULL ? farm->profiles_folder : "profiles";
    const char *slash = strrchr(path, '/');
    if (name[0] == '/' || slash == NULL)
        return qs_strdup(name);
    return qs_asprintf("%.*s/%s", (int)(slash - path), path, name);
}

static bool add_profiles(const char *path, const struct qs_doc *doc, struct qs_farm_config *farm,
                         struct qs_problems *found, struct qs_buf *problems, struct qs_err *err)
{
    QS_FREED char *folder = folder_of_profiles(path, farm);
    struct stat st;
    bool is = stat(folder, &st) == 0;
    const char *why = is ? "it is not a folder" : strerror(errno);
    if (is && S_ISDIR(st.st_mode))
        return qs_profiles_add_folder(&farm->profiles, folder, problems, err);
    if (farm->profiles_folder == NULL)
        return true;
    qs_problems_add(found, doc, qs_node_get(&doc->root, "profiles", NULL), "profiles",
                    "make the folder, or leave the key out", "%s: %s", qs_show(folder).text, why);
    return false;
}

bool qs_load_farm(const char *path, qs_farm_address_fn *check_address, struct qs_farm_config **ret,
                  struct qs_buf *problems, struct qs_err *err)
{
    size_t bytes;
    QS_FREED char *text = qs_load_text(path, &bytes, err);
    if (!text)
        return false;
    struct qs_problems found;
    struct qs_doc *doc = NULL;
    qs_problems_init(&found);
    struct qs_farm_config *farm = NULL;
    bool ok = qs_doc_read(path, text, bytes, false, &doc, &found) &&
              qs_farm_from_doc(doc, check_address, &farm, &found) &&
              add_profiles(path, doc, farm, &found, problems, err) && qs_farm_check_secrets(farm, err);
    if (found.count > 0) {
        qs_problems_text(&found, path, problems);
        qs_fail(err, QS_E_CONFIG, "%s has %zu problem%s", path, found.count, found.count == 1 ? "" : "s");
    }
    qs_doc_free(doc);
    qs_problems_done(&found);
    if (ok)
        *ret = farm;
    else
        qs_farm_config_free(farm);
    return ok;
}
