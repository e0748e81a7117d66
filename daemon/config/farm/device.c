/* One device of a farm file: its keys, and what each kind of link asks of them. */
#include "config/farm/device.h"

#include <stdlib.h>
#include <string.h>

#include "config/document/scalar.h"
#include "config/job/read.h"
#include "proto/limits.h"

#define DEVICE(field) offsetof(struct qs_farm_device, field)

enum {
    PATH_BYTES = 4095,
    SOCKET_BYTES = 107,
    HOST_BYTES = 255,
    LABELS_MAX = 64,
    SIM_EVENTS_MAX = 64,
    SIM_WORDS_BYTES = 383
};

#define LINK_WORD(end, word) {#word, QS_LINK_##end},
static const struct qs_word link_words[] = {QS_LINK_KINDS(LINK_WORD){NULL, 0}};

const struct qs_word qs_farm_probe_words[] = {
    {"first", QS_PROBE_FIRST}, {"never", QS_PROBE_NEVER}, {NULL, 0}};

static const char *const link_instead[] = {"local", "write link: exec, and argv: [quiesce-agent, --stdio]",
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
         "How its agent is reached: a command's standard input and output, a Unix socket, TCP with TLS, a "
         "serial line, USB, ssh or adb (which also bring the agent there), or the simulator."},
    {.name = "argv",
     .type = QS_KEY_CUSTOM,
     .offset = DEVICE(argv),
     .read = qs_job_read_link,
     .form = "a list, one word each",
     .help =
         "`exec`: the command, such as [quiesce-agent, --stdio]. `ssh`: the words before the host, such as "
         "[ssh, -p, \"2222\"]; without it [ssh]."},
    {.name = "host",
     .type = QS_KEY_TEXT,
     .offset = DEVICE(host),
     .min = 1,
     .max = HOST_BYTES,
     .help =
         "`ssh`: the board, as NAME or USER@NAME; ssh must log in there without asking for anything. What "
         "else it needs (port, key, a name for an address) stands best in ~/.ssh/config."},
    {.name = "address",
     .type = QS_KEY_TEXT,
     .offset = DEVICE(address),
     .min = 1,
     .max = SOCKET_BYTES,
     .help =
         "`unix`: the socket's path; `tcp`: a numeric address and a port, such as 192.168.1.7:7151; "
         "`serial`: the line's path, or PATH,SPEED (115200 without); `adb`: the serial that `adb devices` "
         "shows; `usb`: the serial, or the place on the bus, such as usb:1-4.2."},
    {.name = "key_file",
     .type = QS_KEY_TEXT,
     .offset = DEVICE(key_file),
     .min = 1,
     .max = PATH_BYTES,
     .help =
         "`tcp`: a file of mode 0600 with the device's own key, which the agent has too: `quiesce devices "
         "enroll NAME` makes it. `unix`: any 32 to 4096 bytes that both sides have; without it none is "
         "asked for."},
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
             "without it: true for unix, tcp on a loopback address, and exec without ssh."},
    {.name = "probe",
     .type = QS_KEY_ENUM,
     .offset = DEVICE(probe),
     .words = qs_farm_probe_words,
     .help = "As the farm's `probe`, for this device; without it, what the farm says."},
    {0}};
const struct qs_table qs_farm_device_table = {.keys = device_keys,
                                              .size_bytes = sizeof(struct qs_farm_device),
                                              .name_offset = DEVICE(name),
                                              .check = check_device};

const char *qs_link_kind_name(enum qs_link_kind kind)
{
    for (const struct qs_word *word = link_words; word->word; word++) {
        if (word->value == kind)
            return word->word;
    }
    return "?";
}

bool qs_link_kind_of(const char *word, enum qs_link_kind *ret)
{
    const struct qs_word *known = link_words;
    while (known->word && strcmp(known->word, word) != 0)
        known++;
    if (known->word)
        *ret = (enum qs_link_kind)known->value;
    return known->word != NULL;
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

static bool is_loopback(const struct qs_farm_device *device)
{
    static const char *const begins[] = {"127.", "localhost:", "[::1]:"};
    bool found = false;
    for (size_t i = 0; device->address && i < sizeof begins / sizeof begins[0]; i++)
        found = found || strncmp(device->address, begins[i], strlen(begins[i])) == 0;
    return found;
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
    bool is_found;                                         /* can be looked for */
};

static const struct link_form link_forms[QS_LINK_KIND_COUNT] = {
    [QS_LINK_EXEC] = {.needs = {"argv"}, .is_local = is_local_command},
    [QS_LINK_UNIX] = {.needs = {"address"}, .may = {"key_file"}, .is_local = is_always_local},
    [QS_LINK_TCP] = {.needs = {"address", "key_file"}, .is_local = is_loopback},
    [QS_LINK_SERIAL] = {.needs = {"address"}},
    [QS_LINK_SSH] = {.needs = {"host"}, .may = {"argv"}},
    [QS_LINK_ADB] = {.needs = {"address"}, .is_found = true},
    [QS_LINK_USB] = {.needs = {"address"}, .is_found = true},
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

bool qs_farm_may_discover(const char *word)
{
    enum qs_link_kind kind;
    return qs_link_kind_of(word, &kind) && link_forms[kind].is_found;
}

void qs_farm_device_done(struct qs_farm_device *d)
{
    free(d->name);
    free(d->address);
    free(d->other_address);
    free(d->host);
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
