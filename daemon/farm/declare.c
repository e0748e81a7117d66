/* Devices that are declared while the daemon runs, as a farm file would: for as long as it does. */
#include "farm/declare.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "farm/farm_impl.h"
#include "link/link.h"

enum { DECLARED_MAX = 100, HOST_BYTES_MAX = 255 };

struct qs_farm_declared {
    struct qs_farm_config *config; /* owned: of this one device */
    char *host;                    /* owned */
};

/* It becomes a word of a command: none that could be an option. */
static bool check_host(const char *host, struct qs_err *err)
{
    size_t n = strlen(host);
    bool ok = n <= HOST_BYTES_MAX && host[0] != '-' && qs_text_is_word(host, "._@:-");
    QS_BUF(shown);
    if (n == 0)
        return qs_fail(err, QS_E_USAGE,
                       "the host is missing: name the board as ssh does, board or user@board");
    qs_text_escape(&shown, host, n < 60 ? n : 60);
    return ok || qs_fail(err, QS_E_USAGE,
                         "`%s` is no host: 1 to %d letters, digits and . _ @ : - that begin with no `-`",
                         shown.data, HOST_BYTES_MAX);
}

static char *name_of(const char *host)
{
    char *name = qs_strdup(host);
    for (char *c = name; *c; c++)
        if (*c == '@' || *c == ':')
            *c = '-';
    return name;
}

/* Read as a file would be, so that what is wrong with it is said in the same words. NULL: it is. */
static struct qs_farm_config *read_device(const char *name, const char *link, const char *host,
                                          struct qs_err *err)
{
    struct qs_farm_config *config = NULL;
    struct qs_problems problems;
    struct qs_doc *doc = NULL;
    QS_BUF(text);
    struct qs_json j = qs_json_to(&text);
    qs_json_object(&j);
    qs_json_kobject(&j, "devices");
    qs_json_kobject(&j, name);
    qs_json_kstring(&j, "link", link);
    qs_json_kstring(&j, "host", host);
    qs_json_object_end(&j);
    qs_json_object_end(&j);
    qs_json_object_end(&j);
    qs_problems_init(&problems);
    if (!qs_doc_read("device", text.data, text.len, true, &doc, &problems) ||
        !qs_farm_from_doc(doc, qs_link_check_address, &config, &problems)) {
        const struct qs_problem *first = problems.count > 0 ? &problems.at[0] : NULL;
        qs_fail(err, QS_E_USAGE, "%s: %s%s%s", first ? first->path : "device",
                first ? first->what : "it cannot be read", first && first->suggestion ? "; " : "",
                first && first->suggestion ? first->suggestion : "");
        config = NULL;
    }
    qs_doc_free(doc);
    qs_problems_done(&problems);
    return config;
}

static bool is_there(const struct qs_farm *farm, const struct qs_inventory_item *item, const char *host)
{
    for (size_t i = 0; i < farm->declared_count; i++)
        if (item->config == &farm->declared[i].config->devices[0])
            return strcmp(farm->declared[i].host, host) == 0;
    return false;
}

bool qs_farm_declare(struct qs_farm *farm, const char *link, const char *host, struct qs_buf *ret_name,
                     struct qs_err *err)
{
    if (!check_host(host, err))
        return false;
    QS_FREED char *name = name_of(host);
    struct qs_inventory_item *item = qs_inventory_find(farm->inventory, name, NULL);
    qs_buf_str(ret_name, name);
    if (item)
        return is_there(farm, item, host) ||
               qs_fail(err, QS_E_CONFLICT, "this farm has a device `%s` already, over link %s", name,
                       qs_link_kind_name(item->config->link));
    if (farm->declared_count >= DECLARED_MAX)
        return qs_fail(err, QS_E_LIMIT, "%d devices were declared while this daemon runs: write a farm.yaml",
                       DECLARED_MAX);
    struct qs_farm_config *config = read_device(name, link, host, err);
    if (!config)
        return false;
    if (farm->p.config->agents_folder)
        qs_farm_set_agents(config, farm->p.config->agents_folder);
    farm->declared = qs_grow(farm->declared, farm->declared_count, sizeof *farm->declared);
    farm->declared[farm->declared_count++] =
        (struct qs_farm_declared){.config = config, .host = qs_strdup(host)};
    item = qs_farm_add_device(farm, &config->devices[0], err);
    if (item && farm->started && !farm->stopping)
        qs_device_start(item->device);
    return item != NULL;
}

void qs_farm_declared_done(struct qs_farm *farm)
{
    for (size_t i = 0; i < farm->declared_count; i++) {
        qs_farm_config_free(farm->declared[i].config);
        free(farm->declared[i].host);
    }
    free(farm->declared);
}
