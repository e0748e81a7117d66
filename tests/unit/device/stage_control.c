#include "stage_control.h"

#include <errno.h>
#include <fnmatch.h>

#include "stage_impl.h"
#include "store/control.h"

#define CPUFREQ "devices/system/cpu/cpufreq/policy"

enum { ROWS = 256 };

struct row {
    const struct stage_file *file;
    char path[QS_CONTROL_PATH_MAX_BYTES + 1], before[STAGE_VALUE], now[STAGE_VALUE];
    enum qs_tune_outcome outcome;
    int32_t error;
};
static struct answer { /* to the question that is out: there is one at most */
    uint32_t id;
    bool more;
    struct row rows[ROWS];
    size_t count;
    enum stage_session back; /* where the session then is again */
} answer;

struct stage_file *stage_file_add(struct stage_control *c, const char *path, const char *value, bool writable)
{
    assert_true(c->file_count < STAGE_DEVICE_FILES);
    struct stage_file *f = &c->files[c->file_count++];
    *f = (struct stage_file){.writable = writable};
    snprintf(f->path, sizeof f->path, "%s", path);
    snprintf(f->value, sizeof f->value, "%s", value);
    return f;
}

static void add_of_policy(struct stage_control *c, unsigned policy, const char *file, const char *value,
                          bool writable)
{
    char path[128];
    snprintf(path, sizeof path, CPUFREQ "%u/%s", policy, file);
    stage_file_add(c, path, value, writable);
}

void stage_policy_add(struct stage_control *c, unsigned policy, const char *steps)
{
    char lowest[16] = "", cpu[16];
    const char *highest = strrchr(steps, ' ');
    snprintf(lowest, sizeof lowest, "%.*s", (int)strcspn(steps, " "), steps);
    snprintf(cpu, sizeof cpu, "%u", policy);
    highest = highest ? highest + 1 : steps;
    add_of_policy(c, policy, "cpuinfo_max_freq", highest, false);
    add_of_policy(c, policy, "cpuinfo_min_freq", lowest, false);
    add_of_policy(c, policy, "related_cpus", cpu, false);
    add_of_policy(c, policy, "scaling_available_frequencies", steps, false);
    add_of_policy(c, policy, "scaling_available_governors", "schedutil performance", false);
    add_of_policy(c, policy, "scaling_governor", "schedutil", true);
    add_of_policy(c, policy, "scaling_max_freq", highest, true);
    add_of_policy(c, policy, "scaling_min_freq", lowest, true);
}

void stage_control_begin(struct stage *s, struct stage_control *c, const char *job)
{
    struct qs_err err = QS_ERR_INIT;
    stage_init(s, job);
    *c = (struct stage_control){.found_page = 7, .restored_page = QS_TUNE_MAX};
    qs_buf_init(&c->log);
    qs_buf_init(&c->stored);
    assert_true(qs_profiles_init(&c->farm.profiles, &err));
    s->parts.farm = &c->farm;
    s->control = c;
    stage_policy_add(c, 0, "600000 1200000 1800000");
    stage_file_add(c, "class/thermal/thermal_zone0/type", "cpu-thermal", false);
    stage_file_add(c, "class/thermal/thermal_zone0/temp", "42000", false);
}

void stage_control_end(struct stage *s)
{
    struct stage_control *c = s->control;
    assert_int_equal(s->conflicts, 0);
    stage_done(s);
    qs_profiles_done(&c->farm.profiles);
    qs_buf_done(&c->log);
    qs_buf_done(&c->stored);
}

static bool is_there(const struct stage_file *f)
{
    return !f->needs || strcmp(f->needs->value, "1") == 0;
}

static struct stage_file *find(struct stage_control *c, const char *path)
{
    for (size_t i = 0; i < c->file_count; i++)
        if (strcmp(c->files[i].path, path) == 0 && is_there(&c->files[i]))
            return &c->files[i];
    return NULL;
}

const char *stage_policy_says(struct stage_control *c, unsigned policy, const char *file)
{
    char path[128];
    snprintf(path, sizeof path, CPUFREQ "%u/%s", policy, file);
    const struct stage_file *f = find(c, path);
    assert_non_null(f);
    return f->value;
}

bool stage_all_put_back(const struct stage_control *c)
{
    for (size_t i = 0; i < c->file_count; i++)
        if (c->files[i].changed > 0)
            return false;
    return true;
}

bool stage_changes_files(const struct stage *s)
{
    const struct stage_control *c = s->control;
    return c && !c->changes_nothing && (!c->changes_nothing_again || s->struck == 0);
}

/* As the log has it: what all have in common is left out. */
static const char *brief(const char *path)
{
    static const char folder[] = "devices/system/cpu/cpufreq/";
    return strncmp(path, folder, sizeof folder - 1) == 0 ? path + sizeof folder - 1 : path;
}

static bool begin(struct stage *s, uint32_t id, const char *what, struct qs_err *err)
{
    bool in_run = strcmp(what, "tune") == 0 && s->session == SESSION_OPEN && !s->control->senses_nothing;
    const enum stage_session now = in_run ? SESSION_OPEN : SESSION_READY;
    if (!stage_may(s, now, what, err))
        return false;
    assert_true(id > 0);
    s->session = SESSION_FILES;
    s->operation++;
    answer = (struct answer){.id = id, .back = now};
    return true;
}

/* ---- SURVEY and BIND ---- */

static void tell_surveyed(struct stage *s)
{
    static uint8_t memory[QS_CONTROL_MAX_BYTES];
    struct qs_build list;
    qs_build_init(&list, memory, sizeof memory);
    for (size_t i = 0; i < answer.count; i++) {
        const struct stage_file *f = answer.rows[i].file;
        const struct qs_found found = {.path = qs_text_of(f->path),
                                       .access = QS_FILE_READABLE | (f->writable ? QS_FILE_WRITABLE : 0),
                                       .value = qs_text_of(f->value)};
        assert_true(qs_build_found(&list, &found));
    }
    s->session = SESSION_READY;
    stage_reply(s, &(union qs_msg){
                       .surveyed = {.id = answer.id, .more = answer.more, .files = qs_build_list(&list)}});
}

/* The next one after `after`, bytewise. */
static const struct stage_file *next_of(struct stage_control *c, const char *pattern, const char *after)
{
    const struct stage_file *next = NULL;
    for (size_t i = 0; i < c->file_count; i++) {
        const struct stage_file *f = &c->files[i];
        if (is_there(f) && fnmatch(pattern, f->path, FNM_PATHNAME) == 0 && strcmp(f->path, after) > 0 &&
            (!next || strcmp(f->path, next->path) < 0))
            next = f;
    }
    return next;
}

bool stage_ask_survey(struct stage *s, const void *message, struct qs_err *err)
{
    const struct qs_msg_survey *m = message;
    struct stage_control *c = s->control;
    char pattern[QS_CONTROL_PATH_MAX_BYTES + 1], after[sizeof pattern];
    assert_non_null(c);
    if (!begin(s, m->id, "survey", err))
        return false;
    qs_text_copy(m->pattern, pattern, sizeof pattern);
    qs_text_copy(m->after, after, sizeof after);
    c->surveys++;
    if (c->log.len < 7 || strcmp(c->log.data + c->log.len - 7, "survey\n") != 0)
        qs_buf_str(&c->log, "survey\n");
    const struct stage_file *f = next_of(c, pattern, c->endless_survey ? "" : after);
    for (; f && answer.count < c->found_page; f = next_of(c, pattern, f->path))
        answer.rows[answer.count++].file = f;
    answer.more = f || c->endless_survey;
    stage_later(s, STAGE_STEP_NS, tell_surveyed);
    return true;
}

static void tell_bound(struct stage *s)
{
    s->session = SESSION_READY;
    stage_reply(s, &(union qs_msg){.readings = {.id = answer.id}});
}

bool stage_ask_bind(struct stage *s, const void *message, struct qs_err *err)
{
    const struct qs_msg_bind *m = message;
    struct stage_control *c = s->control;
    struct qs_iter it = qs_list_iter(&m->sensors);
    struct qs_binding b;
    assert_non_null(c);
    if (!begin(s, m->id, "bind", err))
        return false;
    c->binds++;
    qs_buf_str(&c->log, "bind");
    while (qs_list_binding(&it, &b)) {
        char path[QS_CONTROL_PATH_MAX_BYTES + 1];
        qs_text_copy(b.path, path, sizeof path);
        assert_non_null(find(c, path));
        assert_true(b.div > 0 && b.lo <= b.hi);
        qs_buf_fmt(&c->log, " %.*s(%s)=%lld..%lld/%u", (int)b.name.n, b.name.p, brief(path), (long long)b.lo,
                   (long long)b.hi, b.flags);
    }
    qs_buf_char(&c->log, '\n');
    stage_later(s, STAGE_STEP_NS, tell_bound);
    return true;
}

/* ---- TUNE and RESTORE ---- */

static void tell_tuned(struct stage *s)
{
    static uint8_t memory[QS_CONTROL_MAX_BYTES];
    struct qs_build list;
    qs_build_init(&list, memory, sizeof memory);
    for (size_t i = 0; i + (s->control->short_answer ? 1 : 0) < answer.count; i++) {
        const struct row *r = &answer.rows[i];
        assert_true(qs_build_tuned(
            &list, &(struct qs_tuned){r->outcome, r->error, qs_text_of(r->before), qs_text_of(r->now)}));
    }
    s->session = answer.back;
    stage_reply(s, &(union qs_msg){.tuned = {.id = answer.id, .writes = qs_build_list(&list)}});
}

static bool is_odd(const struct stage_control *c, const char *path)
{
    return c->odd != 0 && strcmp(brief(path), c->odd_file) == 0;
}

static void be_odd(const struct stage_control *c, struct stage_file *f, struct row *r)
{
    r->outcome = c->odd;
    r->error = c->odd_errno;
    snprintf(r->now, sizeof r->now, "%s", c->odd_text ? c->odd_text : "");
    if (f && c->odd_text)
        snprintf(f->value, sizeof f->value, "%s", c->odd_text);
}

static void write_file(struct stage_control *c, const char *path, const char *value, struct row *r)
{
    struct stage_file *f = find(c, path);
    c->writes++;
    r->outcome = f ? QS_TUNE_SET : QS_TUNE_MISSING;
    r->error = f ? 0 : ENOENT;
    if (!f)
        return;
    snprintf(r->before, sizeof r->before, "%s", f->value);
    bool odd = is_odd(c, path) && !c->odd_restore;
    snprintf(r->now, sizeof r->now, "%s", value);
    r->outcome = strcmp(f->value, value) == 0 ? QS_TUNE_SAME : QS_TUNE_SET;
    if (f->changed == 0 && r->outcome == QS_TUNE_SET && (!odd || c->odd == QS_TUNE_SLIPPED)) {
        memcpy(f->first, f->value, sizeof f->first);
        f->changed = ++c->changes;
    }
    if (odd)
        be_odd(c, f, r);
    else
        snprintf(f->value, sizeof f->value, "%s", value);
}

bool stage_ask_tune(struct stage *s, const void *message, struct qs_err *err)
{
    const struct qs_msg_tune *m = message;
    struct stage_control *c = s->control;
    struct qs_iter it = qs_list_iter(&m->writes);
    struct qs_tune t;
    assert_non_null(c);
    assert_false(c->changes_nothing);
    if (!begin(s, m->id, "tune", err))
        return false;
    assert_in_range(m->lease_ms, QS_LEASE_MIN_MS, QS_LEASE_MAX_MS);
    assert_in_range(m->settle_ms, 0, QS_SETTLE_MAX_MS);
    assert_in_range(m->writes.count, 1, QS_TUNE_MAX);
    assert_in_range(m->writes.len, 1, QS_CONTROL_MAX_BYTES);
    c->tunes++;
    stage_act_note(s, "tune");
    qs_buf_str(&c->log, "tune");
    while (qs_list_tune(&it, &t)) {
        struct row *r = &answer.rows[answer.count++];
        char value[STAGE_VALUE];
        qs_text_copy(t.path, r->path, sizeof r->path);
        qs_text_copy(t.value, value, sizeof value);
        qs_buf_fmt(&c->log, " %s=%s%s%s", brief(r->path), value, t.flags & QS_TUNE_BLIND ? "!" : "",
                   t.flags & QS_TUNE_PERSISTENT ? "p" : "");
        write_file(c, r->path, value, r);
    }
    qs_buf_char(&c->log, '\n');
    stage_later(s, STAGE_STEP_NS, tell_tuned);
    return true;
}

static void tell_restored(struct stage *s)
{
    static uint8_t memory[QS_CONTROL_MAX_BYTES];
    struct qs_build list;
    qs_build_init(&list, memory, sizeof memory);
    for (size_t i = 0; i < answer.count; i++) {
        const struct row *r = &answer.rows[i];
        const struct qs_restored restored = {
            qs_text_of(r->path), {r->outcome, r->error, qs_text_of(r->before), qs_text_of(r->now)}};
        assert_true(qs_build_restored(&list, &restored));
    }
    s->session = SESSION_READY;
    stage_reply(s, &(union qs_msg){
                       .restored = {.id = answer.id, .more = answer.more, .files = qs_build_list(&list)}});
}

static struct stage_file *newest_change(struct stage_control *c)
{
    struct stage_file *newest = NULL;
    for (size_t i = 0; i < c->file_count; i++)
        if (c->files[i].changed > (newest ? newest->changed : 0))
            newest = &c->files[i];
    return newest;
}

bool stage_ask_restore(struct stage *s, const void *message, struct qs_err *err)
{
    const struct qs_msg_restore *m = message;
    struct stage_control *c = s->control;
    struct stage_file *f = NULL;
    assert_non_null(c);
    assert_false(c->changes_nothing);
    if (!begin(s, m->id, "restore", err))
        return false;
    c->restores++;
    stage_act_note(s, "restore");
    qs_buf_str(&c->log, "restore\n");
    while (answer.count < c->restored_page && (f = newest_change(c)) != NULL) {
        struct row *r = &answer.rows[answer.count++];
        snprintf(r->path, sizeof r->path, "%s", f->path);
        memcpy(r->before, f->first, sizeof r->before);
        memcpy(r->now, f->first, sizeof r->now);
        r->outcome = QS_TUNE_SET;
        memcpy(f->value, f->first, sizeof f->value);
        f->changed = c->endless_restore ? f->changed : 0;
        if (is_odd(c, f->path) && c->odd_restore)
            be_odd(c, f, r);
    }
    answer.more = newest_change(c) != NULL;
    stage_later(s, STAGE_STEP_NS, tell_restored);
    return true;
}

/* ---- what else is of interest ---- */

void stage_note_run(struct stage *s, const struct qs_msg_run_begin *m)
{
    if (!s->control)
        return;
    uint32_t arm = stage_find(s, &m->run)->arm;
    qs_buf_fmt(&s->control->log, "run %u%s%.*s\n", arm, m->cpus.n > 0 ? " on " : "", (int)m->cpus.n,
               m->cpus.p);
    if (s->control->on_run)
        s->control->on_run(s, arm);
}

void stage_note_end(struct stage *s)
{
    if (s->control)
        qs_buf_str(&s->control->log, "end\n");
}

void stage_note_stored(struct stage *s, const struct qs_control_rows *rows)
{
    assert_non_null(s->control);
    for (size_t i = 0; i < rows->count; i++) {
        const struct qs_control_row *r = &rows->rows[i];
        assert_true(s->acting ||
                    (r->restore ? rows->run_uid == NULL : rows->run_uid != NULL || s->run_count == 0));
        qs_buf_fmt(&s->control->stored, "%s %s: %s, %s: %s%s\n", brief(r->path), r->wanted,
                   r->before ? r->before : "-", r->after ? r->after : "-", r->outcome,
                   r->restore ? " restored" : "");
    }
}
