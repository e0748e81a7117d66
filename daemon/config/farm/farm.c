#include "config/farm/farm.h"

#include "config/farm/ambient.h"
#include "config/farm/device.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "config/document/doc_build.h"
#include "config/document/scalar.h"
#include "config/document/schema.h"
#include "config/job/read.h"
#include "proto/limits.h"

#define FARM(field) offsetof(struct qs_farm_config, field)
#define MS          INT64_C(1000000)

enum { PATH_BYTES = 4095, SOCKET_BYTES = 107, DEVICES_MAX = 1000, HOOKS_MAX = 100, VARIABLES_MAX = 1000 };

#define VARIABLES(field) offsetof(struct qs_farm_variables, field)

static const struct qs_key variable_keys[] = {
    {.name = "refuse",
     .type = QS_KEY_STRINGS,
     .offset = VARIABLES(refuse),
     .max = VARIABLES_MAX,
     .help = "They matter: two sides that differ in one are not compared without `--allow-diff`."},
    {.name = "note",
     .type = QS_KEY_STRINGS,
     .offset = VARIABLES(note),
     .max = VARIABLES_MAX,
     .help = "They may matter: a difference is listed beside the result."},
    {.name = "ignore",
     .type = QS_KEY_STRINGS,
     .offset = VARIABLES(ignore),
     .max = VARIABLES_MAX,
     .help = "They cannot matter: they are kept with the job, and not compared."},
    {0}};
static const struct qs_table variable_table = {.keys = variable_keys};

static const struct qs_key farm_keys[] = {
    {.name = "state_dir",
     .type = QS_KEY_TEXT,
     .offset = FARM(state_dir),
     .min = 1,
     .max = PATH_BYTES,
     .help = "Where the daemon keeps its files; without it $XDG_STATE_HOME/quiesce."},
    {.name = "db",
     .type = QS_KEY_TEXT,
     .offset = FARM(db),
     .min = 1,
     .max = PATH_BYTES,
     .help = "The database; without it quiesce.db in state_dir."},
    {.name = "socket",
     .type = QS_KEY_TEXT,
     .offset = FARM(socket),
     .min = 1,
     .max = SOCKET_BYTES,
     .help = "The API's Unix socket; without it $XDG_RUNTIME_DIR/quiesce/api.sock."},
    {.name = "profiles",
     .type = QS_KEY_TEXT,
     .offset = FARM(profiles_folder),
     .min = 1,
     .max = PATH_BYTES,
     .help = "The folder with profiles of devices (*.yaml) that are not built in, or go before those that "
             "are; a relative path begins at this file's folder. Without it the folder `profiles` there, if "
             "there is one."},
    {.name = "agents",
     .type = QS_KEY_TEXT,
     .offset = FARM(agents_folder),
     .min = 1,
     .max = PATH_BYTES,
     .help = "The folder of the agents that are brought to devices (quiesce-agent-static, "
             "quiesce-agent-static-arm64, ...); without it, where `quiesced` lies."},
    {.name = "discover",
     .type = QS_KEY_STRINGS,
     .offset = FARM(discover),
     .max = QS_LINK_KIND_COUNT,
     .help =
         "Kinds of links whose devices are found by themselves: adb, usb. Each becomes a device of the farm, "
         "named by its serial; those that adb knows get the agent, too. Those that are in `devices` as "
         "well are as they are there."},
    {.name = "heartbeat",
     .type = QS_KEY_DURATION,
     .offset = FARM(heartbeat_ns),
     .min = QS_HEARTBEAT_MIN_MS * MS,
     .max = QS_HEARTBEAT_MAX_MS * MS,
     .fallback = "1s",
     .help = "The period of a link's heartbeat outside windows; after three missed heartbeats the link is "
             "dropped."},
    {.name = "probe",
     .type = QS_KEY_ENUM,
     .offset = FARM(probe),
     .words = qs_farm_probe_words,
     .fallback = "first",
     .help = "`first`: the first job that changes a device (or the first after its system has changed) tries "
             "its clocks and harmless switches before it measures, and puts all back. `never`: only "
             "`quiesce devices probe` does."},
    {.name = "devices",
     .type = QS_KEY_NAMED,
     .offset = FARM(devices),
     .count_offset = FARM(device_count),
     .min = 1,
     .max = DEVICES_MAX,
     .table = &qs_farm_device_table,
     .help = "The devices by name; needed where none are looked for (`discover`)."},
    {.name = "rules",
     .type = QS_KEY_NAMED,
     .offset = FARM(rules),
     .count_offset = FARM(rule_count),
     .min = 1,
     .max = HOOKS_MAX,
     .table = &qs_farm_rule_table,
     .help = "Commands of this machine that a job's stop rule may ask, as {external: NAME}; see below."},
    {.name = "metrics",
     .type = QS_KEY_NAMED,
     .offset = FARM(metrics),
     .count_offset = FARM(metric_count),
     .min = 1,
     .max = HOOKS_MAX,
     .table = &qs_farm_metric_table,
     .help = "Commands of this machine that print a number after each window of a job that names them in "
             "`plan.metrics`; see below."},
    {.name = "ambient",
     .type = QS_KEY_NAMED,
     .offset = FARM(ambients),
     .count_offset = FARM(ambient_count),
     .min = 1,
     .max = HOOKS_MAX,
     .table = &qs_farm_ambient_table,
     .help = "What tells how warm it is around the devices: it is kept with every window, and a gate may be "
             "relative to it; see below."},
    {.name = "variables",
     .type = QS_KEY_MAP,
     .offset = FARM(variables),
     .table = &variable_table,
     .help = "Environment variables, such as MY_FLAGS or MY_*, that may or may not differ between the sides "
             "of a comparison, where this farm knows better than the table in schema/sides.md."},
    {0}};
static void check_farm(struct qs_schema_reader *r, const struct qs_node *node, void *target);
static const struct qs_table farm_table = {.keys = farm_keys, .check = check_farm};

const struct qs_table *qs_farm_table(void)
{
    return &farm_table;
}

bool qs_farm_discovers(const struct qs_farm_config *farm, enum qs_link_kind kind)
{
    for (size_t i = 0; i < farm->discover.count; i++) {
        if (strcmp(farm->discover.at[i], qs_link_kind_name(kind)) == 0)
            return true;
    }
    return false;
}

static void check_discover(struct qs_schema_reader *r, const struct qs_node *node,
                           const struct qs_farm_config *farm)
{
    const struct qs_node *list = qs_node_get(node, "discover", NULL);
    for (size_t i = 0; i < farm->discover.count; i++) {
        if (!qs_farm_may_discover(farm->discover.at[i]))
            qs_schema_problem(r, list, "write [adb, usb], or one of them",
                              "devices of link `%s` cannot be looked for",
                              qs_show(farm->discover.at[i]).text);
    }
    if (farm->discover.count == 0 && qs_node_get(node, "devices", NULL) == NULL)
        qs_schema_problem(r, NULL, "name the devices, or write discover: [adb, usb]", "`devices` is missing");
}

/* No shell reads these paths. */
static void check_farm(struct qs_schema_reader *r, const struct qs_node *node, void *target)
{
    check_discover(r, node, target);
    static const char *const paths[] = {"state_dir", "db", "socket", "profiles", "agents"};
    qs_farm_check_ambients(r, node, target);
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
        const struct qs_node *at = qs_node_get(node, paths[i], NULL);
        if (at == NULL || at->kind != QS_NODE_TEXT || at->text[0] != '~')
            continue;
        size_t mark = qs_schema_enter(r, paths[i]);
        qs_schema_problem(r, at, "write the whole path", "`~` is not expanded here");
        qs_schema_leave(r, mark);
    }
}

static void say_link(struct qs_problems *problems, const struct qs_doc *doc, const char *device,
                     const char *key, const char *why)
{
    const struct qs_node *devices = qs_node_get(&doc->root, "devices", NULL);
    const struct qs_node *at = qs_node_get(qs_node_get(devices, device, NULL), key, NULL);
    const char *instead = strstr(why, QS_FARM_INSTEAD);
    int n = instead ? (int)(instead - why) : (int)strlen(why);
    QS_BUF(path);
    qs_buf_str(&path, "devices");
    qs_path_key(&path, qs_show(device).text);
    qs_path_key(&path, key);
    qs_problems_add(problems, doc, at, path.data, instead ? instead + 2 : NULL, "%.*s", n, why);
}

/* Of all devices that could be read, whatever else is wrong. */
static bool check_links(const struct qs_farm_config *farm, const struct qs_doc *doc,
                        qs_farm_address_fn *check, struct qs_problems *problems)
{
    bool ok = true;
    for (size_t i = 0; i < farm->device_count; i++) {
        const struct qs_farm_device *d = &farm->devices[i];
        struct qs_err why = QS_ERR_INIT;
        const char *key = "address";
        if (d->name == NULL || check(d, &key, &why))
            continue;
        say_link(problems, doc, d->name, key, why.text);
        ok = false;
    }
    return ok;
}

static void add_profiles(struct qs_farm_config *farm)
{
    struct qs_err err = QS_ERR_INIT;
    bool ok = qs_profiles_init(&farm->profiles, &err);
    assert(ok); /* they are our own */
    (void)ok;
}

bool qs_farm_from_doc(const struct qs_doc *doc, qs_farm_address_fn *check_address,
                      struct qs_farm_config **ret_farm, struct qs_problems *problems)
{
    const struct qs_node *of_job = NULL;
    if (qs_node_get(&doc->root, "benchmarks", &of_job) != NULL) {
        qs_problems_add(problems, doc, of_job, "benchmarks", "send it: quiesce submit FILE",
                        "this is a job file, and a farm file is expected");
        return false;
    }
    struct qs_farm_config *farm = qs_calloc(1, sizeof(*farm));
    bool ok = qs_schema_read(doc, &farm_table, farm, problems);
    ok = (check_address == NULL || check_links(farm, doc, check_address, problems)) && ok;
    if (!ok) {
        qs_farm_config_free(farm);
        return false;
    }
    add_profiles(farm);
    *ret_farm = farm;
    return true;
}

struct qs_farm_config *qs_farm_default(const char *agent_path)
{
    struct qs_farm_config *farm = qs_calloc(1, sizeof(*farm));
    farm->heartbeat_ns = 1000 * MS;
    farm->probe = QS_PROBE_FIRST;
    farm->devices = qs_calloc(1, sizeof(*farm->devices));
    farm->device_count = 1;
    struct qs_farm_device *d = &farm->devices[0];
    d->name = qs_strdup("local");
    d->link = QS_LINK_EXEC;
    d->local = true;
    d->argv.at = qs_calloc(2, sizeof(*d->argv.at));
    d->argv.at[0] = qs_strdup(agent_path);
    d->argv.at[1] = qs_strdup("--stdio");
    d->argv.count = 2;
    add_profiles(farm);
    return farm;
}

void qs_farm_set_agents(struct qs_farm_config *farm, const char *folder)
{
    if (!farm->agents_folder)
        farm->agents_folder = qs_strdup(folder);
    for (size_t i = 0; i < farm->device_count; i++)
        farm->devices[i].agents = farm->agents_folder;
}

void qs_farm_config_free(struct qs_farm_config *farm)
{
    if (farm == NULL)
        return;
    for (size_t i = 0; i < farm->device_count; i++)
        qs_farm_device_done(&farm->devices[i]);
    qs_profiles_done(&farm->profiles);
    qs_farm_hooks_done(farm->rules, farm->rule_count);
    qs_farm_hooks_done(farm->metrics, farm->metric_count);
    qs_farm_ambients_done(farm->ambients, farm->ambient_count);
    qs_strings_done(&farm->variables.refuse);
    qs_strings_done(&farm->variables.note);
    qs_strings_done(&farm->variables.ignore);
    free(farm->devices);
    free(farm->state_dir);
    free(farm->db);
    free(farm->socket);
    free(farm->profiles_folder);
    free(farm->agents_folder);
    qs_strings_done(&farm->discover);
    free(farm);
}

enum qs_farm_probe qs_farm_probe_of(const struct qs_farm_config *farm, const char *device)
{
    for (size_t i = 0; farm && i < farm->device_count; i++)
        if (strcmp(farm->devices[i].name, device) == 0 && farm->devices[i].probe != QS_PROBE_UNSET)
            return farm->devices[i].probe;
    return farm ? farm->probe : QS_PROBE_UNSET;
}
