#include "fake_farm.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/loop.h"
#include "base/mem.h"
#include "device/device.h"
#include "farm/declare.h"
#include "farm/say.h"
#include "store/files.h"

struct qs_prepared {
    struct qs_farm *farm; /* borrowed */
    struct qs_job_spec *spec;
    struct qs_problems problems;
    char *spec_json, *name, *where;
    int64_t reproduces;
    uint64_t seed;
    size_t file_count;
};

static void bind_files(const struct qs_farm *farm, const struct qs_doc *doc, const struct qs_submission *sub,
                       struct qs_prepared *p)
{
    for (size_t i = 0; i < sub->file_count; i++)
        (void)qs_job_bind_file(p->spec, sub->files[i].path, sub->files[i].sha256);
    for (size_t i = 0; i < qs_job_file_count(p->spec); i++) {
        const struct qs_job_file *file = qs_job_file_at(p->spec, i);
        if (!qs_files_has(farm->files, file->sha256))
            qs_problems_add(&p->problems, doc, &doc->root, "files", NULL, "`%s` is not here", file->path);
    }
}

static char *document(const struct qs_submission *sub)
{
    struct qs_buf out;
    qs_buf_init(&out);
    struct qs_json j = qs_json_to(&out);
    qs_json_object(&j);
    qs_json_key(&j, "text");
    qs_json_string_n(&j, sub->text, sub->text_bytes);
    if (sub->reproduces > 0)
        qs_json_kint(&j, "reproduces", sub->reproduces);
    qs_json_object_end(&j);
    return qs_buf_take(&out);
}

struct qs_prepared *qs_farm_prepare(const struct qs_farm *farm, const struct qs_submission *sub)
{
    struct qs_prepared *p = qs_calloc(1, sizeof *p);
    struct qs_doc *doc = NULL;
    *p = (struct qs_prepared){.farm = (struct qs_farm *)(uintptr_t)farm,
                              .spec_json = document(sub),
                              .name = qs_strdup(sub->name),
                              .where = qs_strdup(sub->where ? sub->where : ""),
                              .reproduces = sub->reproduces,
                              .seed = sub->seed,
                              .file_count = sub->file_count};
    atomic_fetch_add(&p->farm->prepared, 1);
    qs_problems_init(&p->problems);
    if (qs_doc_read(sub->name, sub->text, sub->text_bytes, false, &doc, &p->problems) &&
        qs_job_from_doc(doc, &p->spec, &p->problems) && !sub->only_looked_at)
        bind_files(farm, doc, sub, p);
    qs_doc_free(doc);
    return p;
}

void qs_prepared_free(struct qs_prepared *p)
{
    if (!p)
        return;
    atomic_fetch_sub(&p->farm->prepared, 1);
    qs_job_free(p->spec);
    qs_problems_done(&p->problems);
    free(p->spec_json);
    free(p->name);
    free(p->where);
    free(p);
}

const struct qs_job_spec *qs_prepared_spec(const struct qs_prepared *p)
{
    return p->spec;
}

const struct qs_problems *qs_prepared_problems(const struct qs_prepared *p)
{
    return &p->problems;
}

bool qs_farm_check(const struct qs_farm *farm, struct qs_prepared *p)
{
    (void)farm;
    return p->problems.count == 0;
}

bool qs_farm_submit(struct qs_farm *farm, struct qs_prepared *p, const char *owner, const char *idem,
                    qs_store_done_fn *done, void *user, struct qs_err *err)
{
    const struct qs_job_spec *spec = p->spec;
    if (!qs_farm_check(farm, p))
        return qs_fail(err, QS_E_JOB, "the job file has mistakes");
    if (farm->full)
        return qs_fail(err, QS_E_LIMIT, "so many jobs wait");
    snprintf(farm->owner, sizeof farm->owner, "%s", owner);
    snprintf(farm->name, sizeof farm->name, "%s", p->name);
    snprintf(farm->where, sizeof farm->where, "%s", p->where);
    farm->reproduces = p->reproduces;
    farm->seed = p->seed;
    farm->file_count = p->file_count;
    struct qs_arm_row *arms = qs_calloc(spec->arm_count, sizeof *arms);
    for (size_t a = 0; a < spec->arm_count; a++)
        arms[a] = (struct qs_arm_row){
            .name = spec->arms[a].name, .argv_json = "[]", .build_label = spec->arms[a].build_label};
    struct qs_point_row point = {
        .benchmark = "x", .params_json = "{}", .conditions_json = "{}", .label = spec->points[0].label};
    struct qs_job_row row = {.idem = idem,
                             .owner = owner,
                             .name = spec->name,
                             .spec_json = p->spec_json,
                             .seed = UINT64_MAX,
                             .submitted_wall_ns = 10,
                             .arms = arms,
                             .arm_count = spec->arm_count,
                             .points = &point,
                             .point_count = 1};
    if (farm->holds)
        qs_loop_hold_works(farm->holds);
    qs_store_submit(farm->store, &row, done, user);
    free(arms);
    return true;
}

bool qs_farm_cancel(struct qs_farm *farm, int64_t job, const char *why, qs_store_done_fn *done, void *user,
                    struct qs_err *err)
{
    if (farm->full)
        return qs_fail(err, QS_E_RESOURCE, "not now");
    if (job != farm->live)
        return qs_fail(err, QS_E_NOT_FOUND, "job %lld is not queued or running", (long long)job);
    farm->cancelled = job;
    snprintf(farm->cancel_why, sizeof farm->cancel_why, "%s", why);
    struct qs_event_row row = {.kind = QS_EVENT_CANCEL, .job = job, .body_json = "{}"};
    qs_store_event(farm->store, &row, done, user);
    return true;
}

static void read_sensors(void (*done)(const struct qs_err *, const union qs_msg *, void *), void *user)
{
    static const struct {
        const char *sensor;
        enum qs_reading_status status;
        int64_t value;
    } all[] = {{"thermal:soc", QS_READING_OK, 46700},
               {"freq:policy0", QS_READING_UNREADABLE, 0},
               {"cpu.steal_ticks", QS_READING_OK, 7},
               {"of.tomorrow", QS_READING_OK, -1}};
    uint8_t memory[256];
    struct qs_build list;
    qs_build_init(&list, memory, sizeof memory);
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        const struct qs_reading reading = {
            .sensor = qs_text_of(all[i].sensor), .status = all[i].status, .value = all[i].value};
        qs_build_reading(&list, &reading);
    }
    const union qs_msg m = {.readings = {.readings = qs_build_list(&list)}};
    done(NULL, &m, user);
}

/* One device, which answers the first that it is asked. */
bool qs_farm_refresh_ambient(struct qs_farm *farm, const char *device, void (*done)(void *user), void *user)
{
    (void)farm;
    (void)device;
    (void)done;
    (void)user;
    return false;
}

const struct qs_ambient_reading *qs_farm_ambient_last(const struct qs_farm *farm, const char *device,
                                                      const char **ret_name, int64_t *ret_age_ns)
{
    (void)farm;
    (void)device;
    *ret_name = NULL;
    *ret_age_ns = 0;
    return NULL;
}

bool qs_farm_look_for(struct qs_farm *farm, enum qs_link_kind kind, struct qs_err *err)
{
    farm->looked_for++;
    return kind == QS_LINK_ADB ||
           qs_fail(err, QS_E_USAGE, "devices of link `%s` cannot be looked for", qs_link_kind_name(kind));
}

bool qs_farm_declare(struct qs_farm *farm, const char *link, const char *host, struct qs_buf *ret_name,
                     struct qs_err *err)
{
    (void)farm;
    qs_buf_fmt(ret_name, "%s of %s", host, link);
    return strcmp(host, "taken") != 0 ||
           qs_fail(err, QS_E_CONFLICT, "this farm has a device `%s` already", host);
}

bool qs_farm_say(struct qs_farm *farm, const struct qs_word *words, size_t count, qs_store_done_fn *done,
                 void *user, struct qs_err *err)
{
    struct qs_err refused;
    size_t at = 0;
    if (strcmp(words[0].device, "local") != 0)
        return qs_fail(err, QS_E_NOT_FOUND, "this farm has no device `%s`", words[0].device);
    for (size_t i = 0; i < count; i++)
        at += (size_t)snprintf(farm->said + at, sizeof farm->said - at, "%s %s=%s by %s for %lld s\n",
                               qs_word_kind_name(words[i].kind), words[i].key,
                               words[i].value ? words[i].value : "(back)", words[i].by,
                               (long long)(words[i].until_wall_ns / 1000000000));
    qs_fail(&refused, QS_E_STORE, "the disk is full");
    done(farm->refuses_words ? &refused : NULL, 0, user);
    return true;
}

/* Of "local", once anything was said. */
const struct qs_word *qs_farm_words(const struct qs_farm *farm, const char *device, size_t *ret_count)
{
    static const struct qs_word words[] = {
        {"local", QS_WORD_HOLD, "", "lunch", "ann", 5, 9},
        {"local", QS_WORD_NOTE, "", "cracked", "bob", 6, 0},
        {"local", QS_WORD_TAG, "rack", "3", "bob", 7, 0},
        {"local", QS_WORD_TAG, "rooted", "true", "bob", 7, 0},
    };
    *ret_count = farm->said[0] && strcmp(device, "local") == 0 ? sizeof words / sizeof *words : 0;
    return words;
}

bool qs_farm_ask(struct qs_farm *farm, const char *device, enum qs_msg_type type, union qs_msg *m,
                 void (*done)(const struct qs_err *err, const union qs_msg *reply, void *user), void *user,
                 struct qs_err *err)
{
    const union qs_msg cleaned = {.cleaned = {.freed_bytes = 12345}};
    struct qs_err lost;
    if (strcmp(device, "local") != 0)
        return qs_fail(err, QS_E_NOT_FOUND, "this farm has no device `%s`", device);
    if (type == QS_MSG_READ) {
        read_sensors(done, user);
        return true;
    }
    if (type != QS_MSG_CLEAN || m->clean.what != QS_CLEAN_ALL)
        return qs_fail(err, QS_E_INTERNAL, "this is no cleaning of all");
    if (farm->asked++ == 0) {
        done(NULL, &cleaned, user);
        return true;
    }
    qs_fail(&lost, QS_E_LINK, "it was lost meanwhile");
    done(&lost, NULL, user);
    return true;
}

const struct qs_profiles *qs_farm_profiles(const struct qs_farm *farm)
{
    return &farm->profiles;
}

void qs_farm_devices(const struct qs_farm *farm, void (*fn)(const struct qs_device_info *device, void *user),
                     void *user)
{
    char name[] = "local", label[] = "fast", *labels[] = {label};
    const struct qs_farm_device config = {
        .name = name, .link = QS_LINK_UNIX, .local = true, .labels = {.at = labels, .count = 1}};
    (void)farm;
    fn(&(struct qs_device_info){.config = &config,
                                .state = "ready",
                                .software = "agent 1",
                                .boot = "b-1",
                                .facts_json = "{\"os\":\"linux\"}",
                                .has_cache = true,
                                .cache = {.bytes = 7, .most_bytes = 8, .free_bytes = 9},
                                .rtt_ns = 100},
       user);
}

const char *qs_farm_waits_for_disk(const struct qs_farm *farm, int64_t job)
{
    return job == 0 || job == farm->live ? farm->disk : NULL;
}

bool qs_farm_waiting_event(const struct qs_farm *farm, int64_t job, struct qs_buf *body)
{
    const char *waits = qs_farm_waits_for_disk(farm, job);
    struct qs_json j = qs_json_to(body);
    if (!waits)
        return false;
    qs_json_object(&j);
    qs_json_kstring(&j, "why", waits);
    qs_json_kstring(&j, "why_code", "disk");
    qs_json_object_end(&j);
    return true;
}

struct qs_farm_why qs_farm_why(const struct qs_farm *farm, int64_t job, struct qs_buf *text)
{
    const char *waits = qs_farm_waits_for_disk(farm, job);
    qs_buf_str(text, waits ? waits : farm->why ? farm->why : "");
    return (struct qs_farm_why){.code = waits       ? "disk"
                                        : farm->why ? farm->why_code
                                                    : NULL,
                                .position = waits ? -1 : farm->position};
}

const char *qs_farm_progress(const struct qs_farm *farm, int64_t job)
{
    (void)job;
    return farm->progress;
}

const char **qs_farm_fitting(const struct qs_farm *farm, const struct qs_job_spec *spec, size_t *ret_count)
{
    const char **names = qs_calloc(1, sizeof *names);
    (void)farm;
    (void)spec;
    names[0] = "local";
    *ret_count = 1;
    return names;
}
