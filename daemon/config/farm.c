#include "config/farm.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "config/job_read.h"
#include "config/scalar.h"
#include "config/schema.h"
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
    VARIABLES_MAX = 1000
};

static const struct qs_word link_words[] = {
    {"exec", QS_LINK_EXEC}, {"unix", QS_LINK_UNIX}, {"tcp", QS_LINK_TCP}, {"sim", QS_LINK_SIM}, {NULL, 0}};

static const char *const link_instead[] = {
    "ssh",   "write link: exec, and argv: [ssh, -T, HOST, quiesce-agent, --stdio]",
    "adb",   "after `adb forward tcp:7007 tcp:7007` write link: tcp, and address: 127.0.0.1:7007",
    "usb",   "after `adb forward tcp:7007 tcp:7007` write link: tcp, and address: 127.0.0.1:7007",
    "local", "write link: exec, and argv: [quiesce-agent, --stdio]",
    NULL};

static void read_labels(struct qs_schema_reader *r, const struct qs_key *key, const struct qs_node *node,
                        void *at);
static void check_device(struct qs_schema_reader *r, const struct qs_node *node, void *target);

static const struct qs_key device_keys[] = {
    {.name = "link",
     .type = QS_KEY_ENUM,
     .offset = DEVICE(link),
     .words = link_words,
     .instead = link_instead,
     .required = true,
     .help = "How its agent is reached: a command's standard input and output, a Unix socket, loopback TCP, "
             "or the simulator."},
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
     .help = "`unix`: the socket's path; `tcp`: 127.0.0.1:PORT."},
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
    {.name = "local",
     .type = QS_KEY_BOOL,
     .offset = DEVICE(local),
     .help = "Whether the agent runs on this machine, so that the daemon keeps silent in its windows; "
             "without it: true for "
             "unix, tcp, and exec without ssh."},
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
    {.name = "heartbeat",
     .type = QS_KEY_DURATION,
     .offset = FARM(heartbeat_ns),
     .min = QS_HEARTBEAT_MIN_MS * MS,
     .max = QS_HEARTBEAT_MAX_MS * MS,
     .fallback = "1s",
     .help = "The period of a link's heartbeat outside windows; three missed ones drop the link."},
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
     .help = "Commands of this machine that say a number after each window of a job that names them in "
             "`plan.metrics`; see below."},
    {.name = "variables",
     .type = QS_KEY_MAP,
     .offset = FARM(variables),
     .table = &variable_table,
     .help =
         "Variables of the environment, such as MY_FLAGS or MY_*, in which sides of a comparison may differ "
         "or not, where this farm knows better than the table in schema/sides.md."},
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

/* Links of other machines need encryption that this version does not have: loopback only. */
static void check_tcp_address(struct qs_schema_reader *r, const struct qs_node *at, const char *address)
{
    static const char *const hosts[] = {"127.0.0.1:", "[::1]:", "localhost:"};
    struct qs_scalar_why why = {0};
    int64_t port = 0;
    size_t h = 0;
    while (h < 3 && strncmp(address, hosts[h], strlen(hosts[h])) != 0)
        h++;
    if (h == 3)
        qs_schema_problem(r, at, "write 127.0.0.1:PORT; reach another machine by `exec` and ssh",
                          "`%s` is no loopback address with a port", qs_show(address).text);
    else if (!qs_scalar_int(address + strlen(hosts[h]), &port, &why) || port < 1 || port > 65535)
        qs_schema_problem(r, at, NULL, "`%s` is not a port (1 to 65535)",
                          qs_show(address + strlen(hosts[h])).text);
}

struct need {
    const char *key;
    enum qs_link_kind link;
    bool required;
};

/* Keys that belong to one kind of link only; `address` belongs to two. */
static void check_needs(struct qs_schema_reader *r, const struct qs_node *node,
                        const struct qs_farm_device *d)
{
    static const struct need needs[] = {{"argv", QS_LINK_EXEC, true},
                                        {"address", QS_LINK_UNIX, true},
                                        {"address", QS_LINK_TCP, true},
                                        {"key_file", QS_LINK_TCP, true},
                                        {"sim_seed", QS_LINK_SIM, false}};
    enum { NEEDS = sizeof(needs) / sizeof(needs[0]) };
    for (size_t i = 0; i < NEEDS; i++) {
        const struct qs_node *key = NULL;
        bool given = qs_node_get(node, needs[i].key, &key) != NULL;
        bool fits = needs[i].link == d->link;
        for (size_t k = 0; k < NEEDS && !fits; k++)
            fits = strcmp(needs[k].key, needs[i].key) == 0 && needs[k].link == d->link;
        if (needs[i].link == d->link && needs[i].required && !given)
            qs_schema_problem(r, NULL, NULL, "a device with link `%s` needs `%s`", link_words[d->link].word,
                              needs[i].key);
        if (given && !fits && (i == 0 || strcmp(needs[i - 1].key, needs[i].key) != 0))
            qs_schema_problem(r, key, NULL, "`%s` has no meaning for link `%s`", needs[i].key,
                              link_words[d->link].word);
    }
}

static bool is_ssh(const struct qs_strings *argv)
{
    if (argv->count == 0)
        return false;
    const char *slash = strrchr(argv->at[0], '/');
    return strcmp(slash != NULL ? slash + 1 : argv->at[0], "ssh") == 0;
}

static void check_device(struct qs_schema_reader *r, const struct qs_node *node, void *target)
{
    struct qs_farm_device *d = target;
    const struct qs_node *link = qs_node_get(node, "link", NULL);
    if (link == NULL || link->kind != QS_NODE_TEXT ||
        (d->link == QS_LINK_EXEC && strcmp(link->text, "exec") != 0))
        return; /* said already */
    check_needs(r, node, d);
    if (d->link == QS_LINK_TCP && d->address != NULL) {
        size_t mark = qs_schema_enter(r, "address");
        check_tcp_address(r, qs_node_get(node, "address", NULL), d->address);
        qs_schema_leave(r, mark);
    }
    if (qs_node_get(node, "local", NULL) == NULL)
        d->local = d->link != QS_LINK_SIM && !is_ssh(&d->argv);
}

/* No shell reads these paths. */
static void check_farm(struct qs_schema_reader *r, const struct qs_node *node, void *target)
{
    static const char *const paths[] = {"state_dir", "db", "socket"};
    (void)target;
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
        const struct qs_node *at = qs_node_get(node, paths[i], NULL);
        if (at == NULL || at->kind != QS_NODE_TEXT || at->text[0] != '~')
            continue;
        size_t mark = qs_schema_enter(r, paths[i]);
        qs_schema_problem(r, at, "write the whole path", "`~` is no home folder here");
        qs_schema_leave(r, mark);
    }
}

bool qs_farm_from_doc(const struct qs_doc *doc, struct qs_farm_config **ret_farm,
                      struct qs_problems *problems)
{
    const struct qs_node *of_job = NULL;
    if (qs_node_get(&doc->root, "benchmarks", &of_job) != NULL) {
        qs_problems_add(problems, doc, of_job, "benchmarks", "send it: quiesce submit FILE",
                        "this is a job, and the file of a farm is wanted");
        return false;
    }
    struct qs_farm_config *farm = qs_calloc(1, sizeof(*farm));
    if (!qs_schema_read(doc, &farm_table, farm, problems)) {
        qs_farm_config_free(farm);
        return false;
    }
    *ret_farm = farm;
    return true;
}

struct qs_farm_config *qs_farm_default(const char *agent_path)
{
    struct qs_farm_config *farm = qs_calloc(1, sizeof(*farm));
    farm->heartbeat_ns = 1000 * MS;
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
        free(d->hub);
        qs_strings_done(&d->argv);
        qs_strings_done(&d->labels);
    }
    qs_farm_hooks_done(farm->rules, farm->rule_count);
    qs_farm_hooks_done(farm->metrics, farm->metric_count);
    qs_strings_done(&farm->variables.refuse);
    qs_strings_done(&farm->variables.note);
    qs_strings_done(&farm->variables.ignore);
    free(farm->devices);
    free(farm->state_dir);
    free(farm->db);
    free(farm->socket);
    free(farm);
}

const char *qs_link_kind_name(enum qs_link_kind kind)
{
    for (const struct qs_word *word = link_words; word->word; word++) {
        if (word->value == kind)
            return word->word;
    }
    return "?";
}
