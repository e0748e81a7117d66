/* The keys of a profile: domains, sensors and what is around them. */
#include "config/profile/keys.h"

#include "config/profile/profile.h"
#include "config/profile/tool.h"

#define OF(type, field) offsetof(struct qs_profile_##type, field)
#define TOP(field)      offsetof(struct qs_profile, field)

enum { ROWS_MAX = 64, LIST_MAX = 64, TEXT_BYTES = 200, RESERVED_MAX = 8, VALID_MAX = 8 };

static const struct qs_word kind_words[] = {{"cpu", QS_DOMAIN_CPU},
                                            {"gpu", QS_DOMAIN_GPU},
                                            {"memory", QS_DOMAIN_MEMORY},
                                            {"other", QS_DOMAIN_OTHER},
                                            {NULL, 0}};
static const struct qs_word unit_words[] = {{"auto", QS_DOMAIN_AUTO}, {"Hz", QS_DOMAIN_HZ},
                                            {"kHz", QS_DOMAIN_KHZ},   {"MHz", QS_DOMAIN_MHZ},
                                            {"raw", QS_DOMAIN_RAW},   {NULL, 0}};
static const struct qs_word limit_words[] = {
    {"frequency", QS_LIMITS_FREQUENCY}, {"level", QS_LIMITS_LEVEL}, {NULL, 0}};
static const struct qs_word role_words[] = {{"cpu", QS_ROLE_CPU},         {"gpu", QS_ROLE_GPU},
                                            {"skin", QS_ROLE_SKIN},       {"battery", QS_ROLE_BATTERY},
                                            {"ambient", QS_ROLE_AMBIENT}, {"energy", QS_ROLE_ENERGY},
                                            {"other", QS_ROLE_OTHER},     {NULL, 0}};
static const struct qs_word reads_words[] = {{"auto", QS_READS_AUTO},   {"mC", QS_READS_MC},
                                             {"dC", QS_READS_DC},       {"C", QS_READS_C},
                                             {"count", QS_READS_COUNT}, {NULL, 0}};
static const struct qs_word measures_words[] = {
    {"auto", QS_READS_AUTO},   {"mC", QS_READS_MC}, {"dC", QS_READS_DC},   {"C", QS_READS_C},
    {"count", QS_READS_COUNT}, {"uJ", QS_READS_UJ}, {"uWh", QS_READS_UWH}, {"uAh", QS_READS_UAH},
    {"uW", QS_READS_UW},       {"mW", QS_READS_MW}, {"W", QS_READS_W},     {NULL, 0}};
static const struct qs_word watch_words[] = {
    {"never", QS_WATCH_NEVER}, {"changes", QS_WATCH_CHANGES}, {"nonzero", QS_WATCH_NONZERO}, {NULL, 0}};
static const struct qs_word switch_words[] = {{"idle", QS_SWITCH_IDLE},
                                              {"online", QS_SWITCH_ONLINE},
                                              {"boost", QS_SWITCH_BOOST},
                                              {"charging", QS_SWITCH_CHARGING},
                                              {"fan", QS_SWITCH_FAN},
                                              {"thermal", QS_SWITCH_THERMAL},
                                              {"realtime", QS_SWITCH_REALTIME},
                                              {"kernel", QS_SWITCH_KERNEL},
                                              {"freeze", QS_SWITCH_FREEZE},
                                              {"other", QS_SWITCH_OTHER},
                                              {NULL, 0}};

const char *const qs_domain_kinds[] = {"cpu", "gpu", "memory", "other", NULL};
const char *const qs_domain_units[] = {"auto", "Hz", "kHz", "MHz", "raw", NULL};
const char *const qs_sensor_roles[] = {"unset",   "cpu",    "gpu",   "skin", "battery",
                                       "ambient", "energy", "other", NULL};
const char *const qs_reading_units[] = {"unset", "auto", "mC", "dC", "C", "count", "uJ",
                                        "uWh",   "uAh",  "uW", "mW", "W", NULL};
const char *const qs_watches[] = {"unset", "never", "changes", "nonzero", NULL};
const char *const qs_switch_kinds[] = {"idle",     "online", "boost",  "charging", "fan", "thermal",
                                       "realtime", "kernel", "freeze", "other",    NULL};

#define NAMED(its_offset, what, says)                                                                        \
    {                                                                                                        \
        .name = "name", .type = QS_KEY_CUSTOM, .offset = its_offset, .required = true,                       \
        .read = qs_profile_read_name, .form = what, .help = says                                             \
    }
#define RANGE(its_offset)                                                                                    \
    {                                                                                                        \
        .name = "range", .type = QS_KEY_CUSTOM, .offset = its_offset, .read = qs_profile_read_range,         \
        .form = "a list of two temperatures",                                                                \
        .help = "What is plausible, such as [-30C, 130C]; a sensor that reads something else is not used."   \
    }
#define COMMAND(its_name, field, says)                                                                       \
    {                                                                                                        \
        .name = its_name, .type = QS_KEY_STRINGS, .offset = OF(switch, field), .max = LIST_MAX, .help = says \
    }
#define DOMAIN_FILE(field, says) QS_PROFILE_PATH(#field, OF(domain, field), 0, false, says)

static const struct qs_key domain_keys[] = {
    {.name = "kind",
     .type = QS_KEY_ENUM,
     .offset = OF(domain, kind),
     .words = kind_words,
     .required = true,
     .help = "What runs at this frequency; a job's conditions apply to all domains of a kind."},
    NAMED(OF(domain, name), "text with {folder}",
          "What it is called; `{folder}` is the part of its path that a wildcard matched."),
    QS_PROFILE_EACH(OF(domain, each)),
    DOMAIN_FILE(needs,
                "A file in that folder without which it is none of these. Without it, a folder that has a "
                "table, an upper limit or a current frequency is one."),
    DOMAIN_FILE(governor, "The file in that folder that reads and sets the governor."),
    DOMAIN_FILE(governors, "The file that lists the governors; one in square brackets is the current one."),
    DOMAIN_FILE(min, "The file of the lower limit."),
    DOMAIN_FILE(max, "The file of the upper limit."),
    DOMAIN_FILE(set, "The file that sets the frequency while the governor is `userspace`."),
    DOMAIN_FILE(current, "The file that reads the current frequency."),
    DOMAIN_FILE(hw_min, "The file of the lowest that the hardware can do; without it, the end of the table."),
    DOMAIN_FILE(hw_max, "The file of the highest."),
    DOMAIN_FILE(cpus, "The file that lists the processors that share this frequency."),
    {.name = "table",
     .type = QS_KEY_CUSTOM,
     .offset = OF(domain, table),
     .read = qs_profile_read_paths,
     .form = "a path, or a list of them",
     .help = "Files that list the frequencies: the first that has some is used, `a + b` uses those of both. "
             "Without any, every frequency between the hardware's limits."},
    {.name = "unit",
     .type = QS_KEY_ENUM,
     .offset = OF(domain, unit),
     .words = unit_words,
     .fallback = "auto",
     .help = "What its files count in. `auto` decides by the largest value: Hz from 20,000,000, kHz from "
             "20,000, else raw: not a frequency, but MB/s or the like."},
    {.name = "limits",
     .type = QS_KEY_ENUM,
     .offset = OF(domain, limits),
     .words = limit_words,
     .fallback = "frequency",
     .help = "What `min` and `max` hold: a frequency, or its level in the table, where 0 is the highest "
             "frequency."},
    {.name = "reserved",
     .type = QS_KEY_U32,
     .offset = OF(domain, reserved),
     .max = RESERVED_MAX,
     .fallback = "0",
     .help = "How many of the lowest frequencies the driver keeps to itself."},
    {.name = "pin",
     .type = QS_KEY_STRINGS,
     .offset = OF(domain, pin),
     .max = LIST_MAX,
     .help = "Governors under which a frequency is held, the best first; where the device has none of them, "
             "its own stays and the limits hold it."},
    {.name = "replaces",
     .type = QS_KEY_CUSTOM,
     .offset = OF(domain, replaces),
     .min = 1,
     .read = qs_profile_read_paths,
     .form = "a path, or a list of them",
     .help = "Folders that are skipped where this one exists, because they show the same."},
    DOMAIN_FILE(residency,
                "The file with a line per frequency: the frequency first, last the time spent at it. "
                "Time at another frequency than the held one taints a window (`residency:DOMAIN`)."),
    {.name = "residency_ms",
     .type = QS_KEY_U32,
     .offset = OF(domain, residency_ms),
     .min = 1,
     .max = 1000,
     .fallback = "10",
     .help = "The unit of these times in milliseconds."},
    DOMAIN_FILE(transitions,
                "The file that counts changes of the frequency. A change taints a window in which "
                "the frequency is held (`transitions:DOMAIN`)."),
    {0}};
const struct qs_table qs_profile_domain_table = {
    .keys = domain_keys, .size_bytes = sizeof(struct qs_profile_domain), .name_offset = OF(domain, key)};

static const struct qs_key sensor_keys[] = {
    NAMED(
        OF(sensor, name), "text with {folder}, {type} and {file}",
        "What it is called: `{type}` is the text of its type, `{file}` that of its value's name before `_`."),
    QS_PROFILE_EACH(OF(sensor, each)),
    QS_PROFILE_PATH("type", OF(sensor, type), 0, false, "The file in that folder that says what it is."),
    QS_PROFILE_PATH("value", OF(sensor, value), 1, true, "The file of the reading, wildcards allowed."),
    {.name = "unit",
     .type = QS_KEY_ENUM,
     .offset = OF(sensor, unit),
     .words = measures_words,
     .fallback = "auto",
     .help =
         "What a reading counts in: thousandths (mC), tenths (dC) or whole degrees (C), or `count`, which "
         "is not a temperature. `auto` decides by each reading: up to 150 degrees, up to 1500 tenths, above "
         "that thousandths. Energy, for a job's `meters`, is uJ where it rises as it is used, uWh or (with "
         "`volts`) uAh where it falls, or a power in uW, mW or W."},
    {.name = "role",
     .type = QS_KEY_ENUM,
     .offset = OF(sensor, role),
     .words = role_words,
     .help =
         "What it is near; without it as `types` says, else other. `energy`: a job's `energy: auto` adds up "
         "the sensors of the first row that has some of it (those that are called alike up to the first "
         "`.`)."},
    {.name = "only",
     .type = QS_KEY_STRINGS,
     .offset = OF(sensor, only),
     .max = LIST_MAX,
     .help = "Types, with wildcards, that the row is for; without it all."},
    QS_PROFILE_PATH(
        "wraps", OF(sensor, wraps), 0, false,
        "Of a count in uJ: the file in that folder with the number at which it begins at 0 again."),
    QS_PROFILE_PATH("volts", OF(sensor, volts), 0, false,
                    "Of a charge in uAh: the file of the voltage, in uV."),
    QS_PROFILE_PATH("status", OF(sensor, status), 0, false,
                    "Of energy: a file of words, which is read before and after each window."),
    {.name = "valid",
     .type = QS_KEY_STRINGS,
     .offset = OF(sensor, valid),
     .max = VALID_MAX,
     .help =
         "The words of `status` with which a reading counts. With all but the first, what falls must also "
         "have fallen."},
    {.name = "average",
     .type = QS_KEY_DURATION,
     .offset = OF(sensor, average_ns),
     .min = 0,
     .max = INT64_C(60000000000),
     .fallback = "0",
     .help = "Of a power: the time of which it is the mean. A shorter window has no energy."},
    RANGE(OF(sensor, range)),
    {.name = "mask",
     .type = QS_KEY_U32,
     .offset = OF(sensor, mask),
     .max = 1000000000,
     .fallback = "0",
     .help = "Its file has a hexadecimal number, of which these bits are the reading, shifted down: 983040 "
             "(f0000) reads 5 of 50000."},
    {.name = "bits",
     .type = QS_KEY_STRINGS,
     .offset = OF(sensor, bits),
     .max = LIST_MAX,
     .help = "What each of them means, the lowest first."},
    {.name = "taint",
     .type = QS_KEY_ENUM,
     .offset = OF(sensor, watch),
     .words = watch_words,
     .help = "What taints a window: a reading after it that is not the one before it (`changes`), a reading "
             "other than 0 before or after it (`nonzero`), or nothing (`never`, the default). `types` goes "
             "before it."},
    {0}};
const struct qs_table qs_profile_sensor_table = {
    .keys = sensor_keys, .size_bytes = sizeof(struct qs_profile_sensor), .name_offset = OF(sensor, key)};

static const struct qs_key type_keys[] = {
    {.name = "types",
     .type = QS_KEY_STRINGS,
     .offset = OF(type, types),
     .max = LIST_MAX,
     .required = true,
     .help =
         "Types, in upper or lower case, with wildcards. Where several rows match, each key is taken from "
         "the first that has it."},
    {.name = "unit",
     .type = QS_KEY_ENUM,
     .offset = OF(type, unit),
     .words = reads_words,
     .help = "As `sensors.NAME.unit`."},
    {.name = "role",
     .type = QS_KEY_ENUM,
     .offset = OF(type, role),
     .words = role_words,
     .help = "As `sensors.NAME.role`."},
    RANGE(OF(type, range)),
    {.name = "taint",
     .type = QS_KEY_ENUM,
     .offset = OF(type, watch),
     .words = watch_words,
     .help = "As `sensors.NAME.taint`, and goes before it."},
    {.name = "reject",
     .type = QS_KEY_TEXT,
     .offset = OF(type, reject),
     .min = 1,
     .max = TEXT_BYTES,
     .help = "It is not a temperature, but this."},
    {0}};
const struct qs_table qs_profile_type_table = {.keys = type_keys,
                                               .size_bytes = sizeof(struct qs_profile_type)};

static const struct qs_key switch_keys[] = {
    {.name = "kind",
     .type = QS_KEY_ENUM,
     .offset = OF(switch, kind),
     .words = switch_words,
     .required = true,
     .help = "What it switches."},
    NAMED(OF(switch, name), "text with {folder}, {file} and {arg}",
          "What it is called; `{folder}` is as for domains, `{arg}` whatever a job writes in its place, for "
          "a command."),
    {.name = "each",
     .type = QS_KEY_CUSTOM,
     .offset = OF(switch, each),
     .min = 1,
     .read = qs_profile_read_paths,
     .form = "a path, or a list of them",
     .help = "As `domains.NAME.each`. A command without it is there on every device of the profile, else "
             "only where one of the files is."},
    QS_PROFILE_PATH("file", OF(switch, file), 0, false, "The file in that folder."),
    COMMAND("get", get,
            "Instead of a file: the command that writes the value, one word each. It is started without a "
            "shell, and has ten seconds."),
    {.name = "after",
     .type = QS_KEY_TEXT,
     .offset = OF(switch, after),
     .min = 1,
     .max = TEXT_BYTES,
     .help = "The value is what follows this text in what `get` writes, up to a blank, `,` or `;`; where it "
             "is not there, all of it."},
    {.name = "assumed",
     .type = QS_KEY_TEXT,
     .offset = OF(switch, assumed),
     .min = 1,
     .max = TEXT_BYTES,
     .help = "Instead of `get`, where no command tells it: the value to which it is put back."},
    COMMAND("set", set, "The command that sets it; `{value}` is the value, `{arg}` as in `name`."),
    COMMAND("set_on", set_on, "The command for the value `on`, where `set` is not enough."),
    COMMAND("set_off", set_off, "The command for the value `off`."),
    {.name = "unset",
     .type = QS_KEY_TEXT,
     .offset = OF(switch, unset),
     .min = 1,
     .max = TEXT_BYTES,
     .help = "What `get` writes while nothing is set, to which a job cannot switch it."},
    COMMAND("set_unset", set_unset,
            "The command that puts that back; one word: what `set` gets for its `{value}`."),
    {.name = "on",
     .type = QS_KEY_TEXT,
     .offset = OF(switch, on),
     .min = 1,
     .max = TEXT_BYTES,
     .help = "What is written to switch it on; of a command what `get` writes while it is on."},
    {.name = "off",
     .type = QS_KEY_TEXT,
     .offset = OF(switch, off),
     .min = 1,
     .max = TEXT_BYTES,
     .help = "The same to switch it off."},
    {.name = "low",
     .type = QS_KEY_U32,
     .offset = OF(switch, low),
     .help = "Instead of on and off: the lowest number that it takes."},
    {.name = "high", .type = QS_KEY_U32, .offset = OF(switch, high), .help = "The highest."},
    {.name = "persistent",
     .type = QS_KEY_BOOL,
     .offset = OF(switch, persistent),
     .fallback = "false",
     .help = "Whether it survives a reboot, so that it is put back after one."},
    {0}};
static void check_switch(struct qs_schema_reader *r, const struct qs_node *node, void *target);
const struct qs_table qs_profile_switch_table = {.keys = switch_keys,
                                                 .size_bytes = sizeof(struct qs_profile_switch),
                                                 .name_offset = OF(switch, key),
                                                 .check = check_switch};

static const struct qs_key match_keys[] = {
    {.name = "facts",
     .type = QS_KEY_CUSTOM,
     .offset = OF(match, facts),
     .read = qs_profile_read_pairs,
     .form = "a map of text",
     .help = "Facts of the device and what each must be, with wildcards."},
    {.name = "files",
     .type = QS_KEY_CUSTOM,
     .offset = OF(match, files),
     .min = 1,
     .read = qs_profile_read_pairs,
     .form = "a map of text",
     .help = "Paths and what each must contain, with wildcards; \"*\": it only has to exist."},
    {0}};
static const struct qs_table match_table = {.keys = match_keys,
                                            .size_bytes = sizeof(struct qs_profile_match)};

static const struct qs_key cpu_keys[] = {
    QS_PROFILE_PATH("present", TOP(present), 0, false, "The file that lists those that are present."),
    QS_PROFILE_PATH("online", TOP(online), 0, false, "The file that lists those that are online."),
    QS_PROFILE_PATH("capacity", TOP(capacity), 1, false,
                    "The files with the capacity of each, with its number in the path: cpu*/cpu_capacity."),
    {0}};
static const struct qs_table cpu_table = {.keys = cpu_keys};

#define ROWS(its_name, its_type, rows, count, its_table, says)                                               \
    {                                                                                                        \
        .name = its_name, .type = its_type, .offset = TOP(rows), .count_offset = TOP(count),                 \
        .max = ROWS_MAX, .table = &its_table, .help = says                                                   \
    }

static const struct qs_key profile_keys[] = {
    {.name = "profile", .type = QS_KEY_NAME, .offset = TOP(name), .required = true, .help = "Its name."},
    {.name = "about",
     .type = QS_KEY_TEXT,
     .offset = TOP(about),
     .max = TEXT_BYTES,
     .help = "A sentence for people."},
    {.name = "extends",
     .type = QS_KEY_NAME,
     .offset = TOP(extends),
     .help = "The profile that it adds to: what is said here takes precedence, and a row of the same name "
             "replaces the other's."},
    ROWS("match", QS_KEY_LIST, match, match_count, match_table,
         "Which devices it is for: those that fit everything in one of the items. Without it, every device."),
    {.name = "cpus", .type = QS_KEY_MAP, .table = &cpu_table, .help = "Where the processors are listed."},
    ROWS("domains", QS_KEY_NAMED, domains, domain_count, qs_profile_domain_table,
         "Frequency domains; a folder belongs to the first row that finds it."),
    ROWS("sensors", QS_KEY_NAMED, sensors, sensor_count, qs_profile_sensor_table,
         "What can be read, temperatures above all."),
    ROWS("commands", QS_KEY_NAMED, commands, command_count, qs_profile_command_table,
         "Sensors that are commands on the device, for what no file tells; those whose program it lacks are "
         "left out. They are slow: a gate may "
         "wait for them, windows record those that can taint one."),
    ROWS("types", QS_KEY_LIST, types, type_count, qs_profile_type_table,
         "What is known about sensors by their type."),
    ROWS("switches", QS_KEY_NAMED, switches, switch_count, qs_profile_switch_table,
         "What can be switched, or set to a number."),
    {.name = "avoid",
     .type = QS_KEY_CUSTOM,
     .offset = TOP(avoid),
     .min = 1,
     .read = qs_profile_read_paths,
     .form = "a path, or a list of them",
     .help = "Files that are never written, whatever a row says."},
    {0}};
static const struct qs_table profile_table = {.keys = profile_keys};

const struct qs_table *qs_profile_table(void)
{
    return &profile_table;
}

static void check_switch(struct qs_schema_reader *r, const struct qs_node *node, void *target)
{
    const struct qs_profile_switch *s = target;
    (void)node;
    const char *wrong = qs_profile_switch_wrong(s);
    if (wrong != NULL)
        qs_schema_problem(r, NULL, NULL, "%s", wrong);
}
