/* What an operator declares in farm.yaml: the daemon's own settings and its devices. No file at all is a
 * valid farm: this machine. */
#ifndef QS_CONFIG_FARM_FARM_H
#define QS_CONFIG_FARM_FARM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "config/document/doc.h"
#include "config/job/job.h"
#include "config/profile/profiles.h"

/* The kinds of links, a row each: the enumerator's end, and the word of a farm file. What a kind asks of its
 * device's entry is its row in farm.c; how it works is qs_link_WORD_ops in link/WORD.c. */
#define QS_LINK_KINDS(ROW)                                                                                   \
    ROW(EXEC, exec)                                                                                          \
    ROW(UNIX, unix)                                                                                          \
    ROW(TCP, tcp)                                                                                            \
    ROW(SERIAL, serial)                                                                                      \
    ROW(SSH, ssh)                                                                                            \
    ROW(ADB, adb)                                                                                            \
    ROW(USB, usb)                                                                                            \
    ROW(SIM, sim)

#define QS_LINK_ENUMERATOR(end, word) QS_LINK_##end,
enum qs_link_kind { QS_LINK_KINDS(QS_LINK_ENUMERATOR) QS_LINK_KIND_COUNT };

/* Whether a job that changes a device that nobody has tried yet tries it first. */
enum qs_farm_probe { QS_PROBE_UNSET, QS_PROBE_FIRST, QS_PROBE_NEVER };

struct qs_farm_sim_event { /* what is done to a simulated board */
    uint32_t window;       /* after its window of this number has begun; 0: after the device was made */
    int64_t at_ns;
    char *words;
};

struct qs_farm_device {
    char *name;
    enum qs_link_kind link;
    struct qs_strings argv; /* EXEC: the command whose stdio is the byte stream; SSH: `ssh` and what it needs
                               before the host, or nothing */
    char *host;             /* SSH: [user@]name, as ssh takes it */
    char *address;          /* UNIX: path; TCP: "192.168.1.7:7151"; SERIAL: "/dev/ttyUSB0,115200";
                               ADB: the serial; USB: the serial, or "usb:1-4.2" */
    char *other_address;    /* of one that was found: what means it as well; or NULL */
    const char *agents;     /* ADB, SSH: the folder of agents (link/agents.h); borrowed of the farm */
    char *key_file;         /* TCP, UNIX: mode 0600 */
    uint64_t sim_seed;      /* SIM */
    char *sim_board;        /* SIM: the file of a device tree, or NULL */
    struct qs_farm_sim_event *sim_events;
    size_t sim_event_count;
    struct qs_strings labels; /* "key=value" */
    char *ambient;            /* its ambient sensor, or NULL: the only one that there is */
    char *hub;                /* or NULL: what it shares with those that name the same hub */
    bool local; /* the agent runs on this machine: the daemon is silent during its windows. Without the key
                   the kind of link tells */
    enum qs_farm_probe probe; /* UNSET: as the farm says */
};

enum qs_ambient_unit { QS_AMBIENT_C, QS_AMBIENT_DC, QS_AMBIENT_MC };

struct qs_farm_ambient { /* what tells how warm it is around devices */
    char *name;
    struct qs_strings command;
    char *file;    /* instead of a command; or NULL */
    unsigned unit; /* enum qs_ambient_unit */
    int64_t max_age_ns, timeout_ns;
};

struct qs_farm_hook { /* a command of this machine that jobs may name */
    char *name;
    struct qs_strings command;
    int64_t timeout_ns;
    char *unit;                /* of a metric */
    uint32_t scale;            /* of a metric: its number times this, rounded, is stored in that unit */
    enum qs_job_better better; /* of a metric: LOWER or HIGHER */
};

/* Variables of the environment by name, or by how they begin (`MY_*`), in which two sides of a comparison may
 * differ or not; what none of them names is told by the built-in table (report/variables.h). */
struct qs_farm_variables {
    struct qs_strings refuse, note, ignore;
};

struct qs_farm_config {
    char *state_dir;       /* or NULL: $XDG_STATE_HOME/quiesce */
    char *db;              /* or NULL: state_dir/quiesce.db */
    char *socket;          /* or NULL: $XDG_RUNTIME_DIR/quiesce/api.sock */
    char *profiles_folder; /* or NULL: `profiles` beside the file, where there is one */
    char *agents_folder;   /* of agents that are brought to devices; or NULL: beside the daemon's program */
    struct qs_strings discover; /* words of kinds whose devices are looked for */
    int64_t heartbeat_ns;
    enum qs_farm_probe probe; /* UNSET: what was tried is not looked at either */
    struct qs_farm_device *devices;
    size_t device_count;
    struct qs_farm_hook *rules, *metrics;
    size_t rule_count, metric_count;
    struct qs_farm_ambient *ambients;
    size_t ambient_count;
    struct qs_farm_variables variables;
    struct qs_profiles profiles; /* of devices: built in, and of that folder */
};

/* Whether the device's link can be as its keys say; else err quotes what is wrong, and says after
 * QS_FARM_INSTEAD what to write; *ret_key is the key, `address` unless it is set. */
#define QS_FARM_INSTEAD ": write "
typedef bool qs_farm_address_fn(const struct qs_farm_device *device, const char **ret_key,
                                struct qs_err *err);
/* As qs_job_from_doc: all mistakes, located. check_address: qs_link_check_address (link/link.h); NULL: an
 * address is any text. */
bool qs_farm_from_doc(const struct qs_doc *doc, qs_farm_address_fn *check_address,
                      struct qs_farm_config **ret_farm, struct qs_problems *problems);
/* The farm without a file: one exec device named "local" running agent_path --stdio. */
struct qs_farm_config *qs_farm_default(const char *agent_path);
/* Where its own key does not say: this is the folder of agents for its devices. */
void qs_farm_set_agents(struct qs_farm_config *farm, const char *folder);
/* Whether it looks for devices of the kind. */
bool qs_farm_discovers(const struct qs_farm_config *farm, enum qs_link_kind kind);
void qs_farm_config_free(struct qs_farm_config *farm);
void qs_farm_device_done(struct qs_farm_device *device); /* what it owns */
/* Appends a line for each program and key of the farm that is not there for this process, with what to do
 * about it; returns how many. */
size_t qs_farm_missing(const struct qs_farm_config *farm, struct qs_buf *out);
/* Whether no two devices have the same key in their files; else err names both. */
bool qs_farm_check_secrets(const struct qs_farm_config *farm, struct qs_err *err);
/* Of the device of this name; UNSET where the farm, NULL allowed, says nothing. */
enum qs_farm_probe qs_farm_probe_of(const struct qs_farm_config *farm, const char *device);
/* NULL: the farm has none of this name. */
const struct qs_farm_hook *qs_farm_rule(const struct qs_farm_config *farm, const char *name);
const struct qs_farm_hook *qs_farm_metric(const struct qs_farm_config *farm, const char *name);
/* The ambient sensor of a device; NULL: it has none. */
const struct qs_farm_ambient *qs_farm_ambient(const struct qs_farm_config *farm, const char *device);
/* Whether the farm has every rule and metric that the job names, and an ambient sensor where a gate wants
 * one, and can run them; else located problems. */
bool qs_farm_check_hooks(const struct qs_farm_config *farm, bool virtual_time, const struct qs_doc *doc,
                         const struct qs_job_spec *spec, struct qs_problems *problems);
/* The word of a farm file for the kind: "exec". Static. */
const char *qs_link_kind_name(enum qs_link_kind kind);
bool qs_link_kind_of(const char *word, enum qs_link_kind *ret); /* false: no kind is called so */

#endif
