#include "config/farm/farm.h"

#include "config/farm/ambient.h"

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

#define FARM(field)   offsetof(struct qs_farm_config, field)
#define DEVICE(field) offsetof(struct qs_farm_device, field)
#define MS            INT64_C(1000000)

enum {
    PATH_BYTES = 4095,
    SOCKET_BYTES = 107,
    LABELS_MAX = 64,
    DEVICES_MAX = 1000,
    HOOKS_MAX = 100,
    VARIABLES_MAX = 1000,
    SIM_EVENTS_MAX = 64,
    SIM_WORDS_BYTES = 383
};

#define LINK_WORD(end, word) {#word, QS_LINK_##end},
static const struct qs_word link_words[] = {QS_LINK_KINDS(LINK_WORD){NULL, 0}};

static const struct qs_word probe_words[] = {{"first", QS_PROBE_FIRST}, {"never", QS_PROBE_NEVER}, {NULL, 0}};

static const char *const link_instead[] = {
    "ssh",   "write link: exec, and argv: [ssh, -T, HOST, quiesce-agent, --stdio]",
    "adb",   "after `adb forward tcp:7007 tcp:7007` write link: tcp, and address: 127.0.0.1:7007",
    "usb",   "after `adb forward tcp:7007 tcp:7007` write link: tcp, and address: 127.0.0.1:7007",
    "local", "write link: exec, and argv: [quiesce-agent, --stdio]",
    NULL};

static void read_labels(struct qs_schema_reader *r, const struct qs_key *key, const struct qs_node *node,
                        void *at);
static void check_device(struct qs_schema_reader *r, const struct qs_node *node, void *target);

#define EVENT(field) offsetof(struct qs_farm_sim_event, field)
static const struct qs_key sim_event_keys[] = {
    {.name = "window",
     .type = QS_KEY_U32,
     .offset = EVENT(window),
     .max = 1000000,
     .help = "Counts from the begin of the device's window of this number, pilots and warm-ups included; "
             "without it, from "
             "the start."},
    {.name = "at",
     .type = QS_KEY_DURATION,
     .offset = EVENT(at_ns),
     .max = QS_SPAN_MAX_NS,
     .fallback = "0",
     .help = "How long after that."},
    {.name = "do",
     .type = QS_KEY_TEXT,
     .offset = EVENT(words),
     .min = 1,
     .max = SIM_WORDS_BYTES,
     .required = true,
     .help = "A command of the virtual board, such as `heat 95` or `refuse PATH EBUSY`; or `unplug MS`, "
             "`reboot MS`: nobody "
             "reaches it for so long."},
    {0}};
static const struct qs_table sim_event_table = {.keys = sim_event_keys,
                                                .size_bytes = sizeof(struct qs_farm_sim_event)};

static const struct qs_key device_keys[] = {
    {.name = "link",
     .type = QS_KEY_ENUM,
     .offset = DEVICE(link),
     .words = link_words,
     .instead = link_instead,
     .required = true,
     .help =
         "How its agent is reached: a command's standard input and output, a Unix socket, loopback TCP, a "
         "serial line, or the simulator."},
    {.name = "argv",
     .type = QS_KEY_CUSTOM,
     .offset = DEVICE(argv),
     .read = qs_job_read_link,
     .form = "a list, one word each",
     .help =
         "`exec`: the command, such as [quiesce-agent, --stdio] or [ssh, board, quiesce-agent, --stdio]."},
    {.name = "address",
     .type = QS_KEY_TEXT,
     .offset = DEVICE(address),
     .min = 1,
     .max = SOCKET_BYTES,
     .help = "`unix`: the socket's path; `tcp`: 127.0.0.1:PORT; `serial`: the line's path, or PATH,SPEED "
             "(115200 without)."},
    {.name = "key_file",
     .type = QS_KEY_TEXT,
     .offset = DEVICE(key_file),
     .min = 1,
     .max = PATH_BYTES,
     .help = "`tcp`: a file of mode 0600 with the key that both sides know."},
    {.name = "sim_seed",
     .type = QS_KEY_U64,
     .offset = DEVICE(sim_seed),
     .help = "`sim`: the simulated device's seed."},
    {.name = "sim_board",
     .type = QS_KEY_TEXT,
     .offset = DEVICE(sim_board),
     .min = 1,
     .max = PATH_BYTES,
     .help = "`sim`: the file of a device tree (NAME.tree.tsv): the simulated device is this board, with its "
             "clocks, its "
             "heat and its settings. Without it, a device that has none."},
    {.name = "sim_events",
     .type = QS_KEY_LIST,
     .offset = DEVICE(sim_events),
     .count_offset = DEVICE(sim_event_count),
     .min = 1,
     .max = SIM_EVENTS_MAX,
     .table = &sim_event_table,
     .help = "`sim`: what is done to that board, and when."},
    {.name = "labels",
     .type = QS_KEY_CUSTOM,
     .offset = DEVICE(labels),
     .read = read_labels,
     .form = "a map of text",
     .help = "Facts for a job's `devices.where`, as label.KEY."},
    {.name = "hub",
     .type = QS_KEY_TEXT,
     .offset = DEVICE(hub),
     .min = 1,
     .max = 64,
     .help =
         "A name for the USB hub, or whatever cable or radio it shares: while one device of a hub measures, "
         "the others neither measure nor transfer."},
    {.name = "ambient",
     .type = QS_KEY_TEXT,
     .offset = DEVICE(ambient),
     .min = 1,
     .max = 32,
     .help = "Which of the farm's ambient sensors is beside it; without it the only one that there is."},
    {.name = "local",
     .type = QS_KEY_BOOL,
     .offset = DEVICE(local),
     .help = "Whether the agent runs on this machine, so that the daemon keeps silent during its windows; "
             "without it: true for unix, tcp, and exec without ssh."},
    {.name = "probe",
     .type = QS_KEY_ENUM,
     .offset = DEVICE(probe),
     .words = probe_words,
     .help = "As the farm's `probe`, for this device; without it, what the farm says."},
    {0}};
static const struct qs_table device_table = {.keys = device_keys,
                                             .size_bytes = sizeof(struct qs_farm_device),
                                             .name_offset = DEVICE(name),
                                             .check = check_device};

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
     .words = probe_words,
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
     .required = true,
     .table = &device_table,
     .help = "The devices by name."},
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

static void read_labels(struct qs_schema_reader *r, const struct qs_key *key, const struct qs_node *node,
                        void *at)
{
    if (node->kind == QS_NODE_MAP && node->count > LABELS_MAX)
        qs_schema_problem(r, node, NULL, "more than %d labels", LABELS_MAX);
    else
        qs_job_read_env(r, key, node, at);
}

static bool is_always_local(const struct qs_farm_device *device)
{
    (void)device;
    return true;
}

static bool is_local_command(const struct qs_farm_device *device)
{
    if (device->argv.count == 0)
        return true;
    const char *slash = strrchr(device->argv.at[0], '/');
    return strcmp(slash != NULL ? slash + 1 : device->argv.at[0], "ssh") != 0;
}

enum { KEYS_OF_KIND = 3 };

struct link_form { /* what a kind of link asks of its device's entry */
    const char *needs[KEYS_OF_KIND], *may[KEYS_OF_KIND];
    bool (*is_local)(const struct qs_farm_device *device); /* without the key `local`; NULL: it never is */
};

static const struct link_form link_forms[QS_LINK_KIND_COUNT] = {
    [QS_LINK_EXEC] = {.needs = {"argv"}, .is_local = is_local_command},
    [QS_LINK_UNIX] = {.needs = {"address"}, .is_local = is_always_local},
    [QS_LINK_TCP] = {.needs = {"address", "key_file"}, .is_local = is_always_local},
    [QS_LINK_SERIAL] = {.needs = {"address"}},
    [QS_LINK_SIM] = {.may = {"sim_seed", "sim_board", "sim_events"}},
};

static bool names(const char *const *keys, const char *key)
{
    bool found = false;
    for (size_t i = 0; i < KEYS_OF_KIND && keys[i] && !found; i++)
        found = strcmp(keys[i], key) == 0;
    return found;
}

/* Keys that only some kinds of links know are for those. */
static void check_link_keys(struct qs_schema_reader *r, const struct qs_node *node,
                            const struct qs_farm_device *d)
{
    const struct link_form *form = &link_forms[d->link];
    for (const struct qs_key *known = device_keys; known->name; known++) {
        const struct qs_node *key = NULL;
        bool given = qs_node_get(node, known->name, &key) != NULL;
        bool of_some = false;
        for (size_t k = 0; k < QS_LINK_KIND_COUNT && !of_some; k++)
            of_some = names(link_forms[k].needs, known->name) || names(link_forms[k].may, known->name);
        if (names(form->needs, known->name) && !given)
            qs_schema_problem(r, NULL, NULL, "a device with link `%s` needs `%s`", qs_link_kind_name(d->link),
                              known->name);
        else if (given && of_some && !names(form->needs, known->name) && !names(form->may, known->name))
            qs_schema_problem(r, key, NULL, "`%s` has no meaning for link `%s`", known->name,
                              qs_link_kind_name(d->link));
    }
}

static void check_device(struct qs_schema_reader *r, const struct qs_node *node, void *target)
{
    struct qs_farm_device *d = target;
    const struct qs_node *link = qs_node_get(node, "link", NULL);
    if (link == NULL || link->kind != QS_NODE_TEXT ||
        (d->link == QS_LINK_EXEC && strcmp(link->text, "exec") != 0))
        return; /* said already */
    const struct link_form *form = &link_forms[d->link];
    check_link_keys(r, node, d);
    if (qs_node_get(node, "local", NULL) == NULL)
        d->local = form->is_local && form->is_local(d);
}

/* No shell reads these paths. */
static void check_farm(struct qs_schema_reader *r, const struct qs_node *node, void *target)
{
    static const char *const paths[] = {"state_dir", "db", "socket", "profiles"};
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

void qs_farm_config_free(struct qs_farm_config *farm)
{
    if (farm == NULL)
        return;
    for (size_t i = 0; i < farm->device_count; i++) {
        struct qs_farm_device *d = &farm->devices[i];
        free(d->name);
        free(d->address);
        free(d->key_file);
        free(d->ambient);
        free(d->hub);
        free(d->sim_board);
        for (size_t k = 0; k < d->sim_event_count; k++)
            free(d->sim_events[k].words);
        free(d->sim_events);
        qs_strings_done(&d->argv);
        qs_strings_done(&d->labels);
    }
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
    free(farm);
}

enum qs_farm_probe qs_farm_probe_of(const struct qs_farm_config *farm, const char *device)
{
    for (size_t i = 0; farm && i < farm->device_count; i++)
        if (strcmp(farm->devices[i].name, device) == 0 && farm->devices[i].probe != QS_PROBE_UNSET)
            return farm->devices[i].probe;
    return farm ? farm->probe : QS_PROBE_UNSET;
}

const char *qs_link_kind_name(enum qs_link_kind kind)
{
    for (const struct qs_word *word = link_words; word->word; word++) {
        if (word->value == kind)
            return word->word;
    }
    return "?";
}
