/* What differs between the sides. The arm is what was asked about: its build, its arguments, its executable.
 * Everything else is environment: the machine, the instrument, what the job set up. Inside one job the arms
 * may differ in anything, and sessions that both share differ in nothing. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "config/job/env.h"
#include "report/sides/impl.h"
#include "report/variables.h"

enum kind { MACHINE, HOST, SETUP, ARM, KINDS };

struct texts { /* the distinct ones of a kind on a side of a pair */
    char **at; /* owned, as the texts */
    size_t count;
};

static void add_text(struct texts *t, char *text)
{
    for (size_t i = 0; i < t->count; i++) {
        if (strcmp(t->at[i], text) == 0) {
            free(text);
            return;
        }
    }
    t->at = qs_grow(t->at, t->count, sizeof *t->at);
    t->at[t->count++] = text;
}

static void texts_done(struct texts *t)
{
    for (size_t i = 0; i < t->count; i++)
        free(t->at[i]);
    free(t->at);
}

const struct qs_job_spec *qs_sides_spec(const struct qs_sides *s, const struct qs_arm_run *run)
{
    size_t lo = 0, hi = s->in->job_count;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        const struct qs_sides_job *job = &s->in->jobs[mid];
        if (job->id == run->job)
            return run->arm < job->spec->arm_count && run->point < job->spec->point_count ? job->spec : NULL;
        *(job->id < run->job ? &lo : &hi) = job->id < run->job ? mid + 1 : mid;
    }
    return NULL;
}

static void put_words(struct qs_json *j, const char *key, const struct qs_strings *words)
{
    struct qs_buf line;
    qs_buf_init(&line);
    for (size_t i = 0; i < words->count; i++)
        qs_buf_fmt(&line, "%s%s", i > 0 ? " " : "", words->at[i]);
    if (words->count > 0)
        qs_json_kstring(j, key, line.data);
    qs_buf_done(&line);
}

static void put_hook(struct qs_json *j, const char *key, const struct qs_job_spec *spec,
                     const struct qs_arm_run *run, const struct qs_strings *own,
                     const struct qs_strings *common)
{
    struct qs_strings filled;
    qs_job_fill(spec, run->arm, run->point, own->count > 0 ? own : common, &filled);
    put_words(j, key, &filled);
    qs_strings_done(&filled);
}

/* Whether a job sets it. The whole environment of a caller, which comes without the agent's below it, has
 * much that nobody chose. */
static bool is_chosen(const struct qs_sides *s, const char *name)
{
    for (size_t i = 0; i < s->in->job_count; i++) {
        const struct qs_job_spec *spec = s->in->jobs[i].spec;
        for (size_t k = 0; k < spec->arm_count; k++)
            if (qs_env_sets(&spec->arms[k].env, name))
                return true;
        for (size_t k = 0; k < spec->benchmark_count; k++)
            if (spec->benchmarks[k].env_inherit && qs_env_sets(&spec->benchmarks[k].env, name))
                return true;
    }
    return false;
}

/* What was set on purpose matters, whatever its name. */
static enum qs_env_class class_of_variable(const struct qs_sides *s, const char *name)
{
    return is_chosen(s, name) ? QS_ENV_MACHINE : qs_variable_class(name, s->in->variables);
}

static void put_variable(struct qs_json *j, const struct qs_sides *s, const char *name, const char *value,
                         int64_t *bytes)
{
    if (class_of_variable(s, name) != QS_ENV_RECORDED)
        qs_json_kstring(j, name, value);
    *bytes += (int64_t)(strlen(name) + qs_variable_kept_bytes(value)) + 2;
}

/* Without what `after`, which may be NULL, sets again: the last of a name counts, as it does in a process. */
static void put_set(struct qs_json *j, const struct qs_sides *s, const struct qs_strings *env,
                    const struct qs_strings *after, int64_t *bytes)
{
    for (size_t i = 0; i < env->count; i++) {
        const struct qs_strings rest = {env->at + i + 1, env->count - i - 1};
        size_t n = strcspn(env->at[i], "=");
        if (env->at[i][n] != '=' || qs_env_sets(&rest, env->at[i]) ||
            (after && qs_env_sets(after, env->at[i])))
            continue;
        char *name = qs_strndup(env->at[i], n);
        put_variable(j, s, name, env->at[i] + n + 1, bytes);
        free(name);
    }
}

struct environment { /* of the run that was asked about last; most have that of the one before */
    const struct qs_arm_run *of;
    struct qs_doc *doc; /* owned */
};

/* What the processes of a run inherited; NULL: nothing, or it is not known. */
static const struct qs_node *inherited_by(struct environment *e, const struct qs_arm_run *run)
{
    struct qs_problems problems;
    if (!e->of || e->of->env != run->env) {
        qs_problems_init(&problems);
        if (e->doc)
            qs_doc_free(e->doc);
        e->doc = NULL;
        if (run->env_json)
            (void)qs_doc_read("environment", run->env_json, strlen(run->env_json), true, &e->doc, &problems);
        qs_problems_done(&problems);
        e->of = run;
    }
    return e->doc ? qs_node_get(&e->doc->root, "variables", NULL) : NULL;
}

static void environment_done(struct environment *e)
{
    if (e->doc)
        qs_doc_free(e->doc);
}

static void put_variables(struct qs_json *j, const struct qs_sides *s, const struct qs_job_spec *spec,
                          const struct qs_arm_run *run, struct environment *e)
{
    const struct qs_job_benchmark *b = &spec->benchmarks[spec->points[run->point].benchmark];
    const struct qs_node *inherited = e && b->env_inherit ? inherited_by(e, run) : NULL;
    const struct qs_job_arm *arm = &spec->arms[run->arm];
    int64_t bytes = 0;
    qs_json_key(j, "env");
    qs_json_object(j);
    for (size_t i = 0; inherited && i < inherited->count; i++)
        if (inherited->items[i].text && qs_job_inherits(spec, run->arm, run->point, inherited->keys[i].text))
            put_variable(j, s, inherited->keys[i].text, inherited->items[i].text, &bytes);
    put_set(j, s, &b->env, &arm->env, &bytes);
    put_set(j, s, &arm->env, NULL, &bytes);
    qs_json_object_end(j);
    if (inherited || !b->env_inherit)
        qs_json_kint(j, "variables_bytes", bytes);
}

static void put_gate(struct qs_json *j, const struct qs_job_spec *spec)
{
    qs_json_key(j, "gate");
    qs_json_object(j);
    for (size_t i = 0; i < spec->gate_count; i++) {
        const struct qs_job_expectation *e = &spec->gate[i];
        struct qs_buf band;
        qs_buf_init(&band);
        if (e->has_lo)
            qs_buf_fmt(&band, "from %lld ", (long long)e->lo);
        if (e->has_hi)
            qs_buf_fmt(&band, "to %lld ", (long long)e->hi);
        qs_buf_fmt(&band, "for %lld ms", (long long)(e->dwell_ns / 1000000));
        qs_json_kstring(j, e->sensor, band.data);
        qs_buf_done(&band);
    }
    qs_json_object_end(j);
}

/* What the job set up around what it measured; what its processes inherit where `e` is given. */
static char *setup_text(const struct qs_sides *s, const struct qs_job_spec *spec,
                        const struct qs_arm_run *run, struct environment *e)
{
    const struct qs_job_benchmark *b = &spec->benchmarks[spec->points[run->point].benchmark];
    const struct qs_job_arm *arm = &spec->arms[run->arm];
    struct qs_buf out;
    struct qs_json j;
    qs_buf_init(&out);
    qs_json_init(&j, &out);
    qs_json_object(&j);
    qs_json_kstring(&j, "benchmark", run->benchmark);
    qs_json_kraw(&j, "conditions", run->conditions_json);
    qs_json_kstring(&j, "mode", b->mode == QS_MODE_HARNESS ? "harness" : "command");
    qs_json_kstring(&j, "layout", b->layout == QS_JOB_LAYOUT_FIXED ? "fixed" : "random");
    qs_json_kstring(&j, "directory", b->dir ? b->dir : "");
    qs_json_kstring(&j, "user", b->user ? b->user : "");
    qs_json_kstring(&j, "standard_input", b->stdin_path ? b->stdin_path : "");
    qs_json_kstring(&j, "standard_output", b->output_file ? b->output_file : "");
    qs_json_kstring(&j, "env_inherit", b->env_inherit ? "yes" : "no");
    put_variables(&j, s, spec, run, e);
    put_hook(&j, "setup", spec, run, &arm->setup, &b->setup);
    put_hook(&j, "prepare", spec, run, &arm->prepare, &b->prepare);
    put_hook(&j, "conclude", spec, run, &arm->conclude, &b->conclude);
    put_hook(&j, "cleanup", spec, run, &arm->cleanup, &b->cleanup);
    put_gate(&j, spec);
    qs_json_object_end(&j);
    return qs_buf_take(&out);
}

static char *arm_text(const struct qs_job_spec *spec, const struct qs_arm_run *run)
{
    struct qs_strings argv;
    struct qs_buf out;
    struct qs_json j;
    qs_buf_init(&out);
    qs_json_init(&j, &out);
    qs_json_object(&j);
    if (run->build) {
        qs_json_kstring(&j, "build", run->build);
        qs_json_kstring(&j, "build_content", run->build_content);
    } else {
        qs_json_kstring(&j, "arm", run->arm_name);
    }
    qs_job_argv(spec, run->arm, run->point, &argv);
    put_words(&j, "command", &argv);
    qs_strings_done(&argv);
    if (run->exe_sha256)
        qs_json_kstring(&j, "executable_sha256", run->exe_sha256);
    qs_json_object_end(&j);
    return qs_buf_take(&out);
}

/* NULL: not known. */
static char *text_of(const struct qs_sides *s, const struct qs_arm_run *run, enum kind kind,
                     struct environment *e)
{
    const struct qs_job_spec *spec = kind == SETUP || kind == ARM ? qs_sides_spec(s, run) : NULL;
    switch (kind) {
    case MACHINE:
        return qs_strdup(run->env_json);
    case HOST:
        return qs_strdup(run->host_json);
    case SETUP:
        return spec ? setup_text(s, spec, run, e) : NULL;
    case ARM:
        return spec ? arm_text(spec, run) : NULL;
    case KINDS:
        break;
    }
    return NULL;
}

/* One text for each session, job or executable is enough: runs of one differ in none of them. */
static bool is_news(const struct qs_side_series *series, size_t i)
{
    const struct qs_arm_run *run = series->runs[i], *before = i > 0 ? series->runs[i - 1] : NULL;
    return !before || run->job != before->job || run->session != before->session || run->env != before->env ||
           run->host != before->host || run->arm != before->arm || run->point != before->point ||
           strcmp(run->exe_sha256 ? run->exe_sha256 : "", before->exe_sha256 ? before->exe_sha256 : "") != 0;
}

/* Whether it is known of each run what it inherited: versions before did not keep it. */
static bool knows_inherited(const struct qs_sides *s, const struct qs_side_series *series)
{
    struct environment e = {0};
    bool known = true;
    for (size_t i = 0; known && i < series->count; i++) {
        const struct qs_arm_run *run = series->runs[i];
        const struct qs_job_spec *spec = is_news(series, i) ? qs_sides_spec(s, run) : NULL;
        if (spec && spec->benchmarks[spec->points[run->point].benchmark].env_inherit)
            known = inherited_by(&e, run) != NULL;
    }
    environment_done(&e);
    return known;
}

static void gather(const struct qs_sides *s, const struct qs_side_series *series, enum kind kind,
                   bool inherited, struct texts *ret)
{
    struct environment e = {0};
    *ret = (struct texts){0};
    for (size_t i = 0; i < series->count; i++) {
        char *text = is_news(series, i) ? text_of(s, series->runs[i], kind, inherited ? &e : NULL) : NULL;
        if (text)
            add_text(ret, text);
    }
    environment_done(&e);
}

static void add_change(struct qs_env_diff *to, const char *key, const struct qs_env_change *c)
{
    for (size_t i = 0; i < to->count; i++) {
        const struct qs_env_change *old = &to->at[i];
        if (strcmp(old->key, key) == 0 && strcmp(old->base ? old->base : "", c->base ? c->base : "") == 0 &&
            strcmp(old->cand ? old->cand : "", c->cand ? c->cand : "") == 0)
            return;
    }
    qs_env_diff_add(to, key, c->base, c->cand, c->class);
}

/* A boot's facts repeat those of its device; of the host that served it they alone know. Variables that are
 * inherited stand with those that the job sets over them. */
static bool is_wanted(enum kind kind, const char *key)
{
    return kind == MACHINE ? strncmp(key, "variables.", 10) != 0
                           : kind != HOST || strncmp(key, "host.", 5) == 0;
}

static void add_differences(const struct qs_sides *s, struct qs_env_diff *to, const char *base,
                            const char *cand, enum kind kind)
{
    struct qs_env_diff diff;
    struct qs_err err = QS_ERR_INIT;
    if (!qs_env_diff(base, cand, &diff, &err)) /* a text that cannot be read differs from every other */
        qs_env_diff_add(to, "unreadable", base, cand, QS_ENV_MACHINE);
    for (size_t i = 0; i < diff.count; i++) {
        struct qs_env_change *c = &diff.at[i];
        if (kind == SETUP && strncmp(c->key, "env.", 4) == 0)
            c->class = class_of_variable(s, c->key + 4);
        if (is_wanted(kind, c->key))
            add_change(to, c->key, c);
    }
    qs_env_diff_free(&diff);
}

static bool same_jobs(const struct qs_sides_pair *pair)
{
    for (int side = 0; side < 2; side++) {
        const struct qs_side_series *mine = pair->series[side], *other = pair->series[1 - side];
        for (size_t i = 0; i < mine->count; i++) {
            bool found = i > 0 && mine->runs[i]->job == mine->runs[i - 1]->job;
            for (size_t k = 0; k < other->count && !found; k++)
                found = other->runs[k]->job == mine->runs[i]->job;
            if (!found)
                return false;
        }
    }
    return true;
}

static void differ_pair(struct qs_sides *s, const struct qs_sides_pair *pair)
{
    const struct qs_side_series *const *series = pair->series;
    bool shared = same_jobs(pair);
    bool inherited = !shared && knows_inherited(s, series[QS_BASE]) && knows_inherited(s, series[QS_CAND]);
    for (enum kind kind = MACHINE; kind < KINDS; kind++) {
        struct texts base, cand;
        bool is_arm = kind == ARM || (kind == SETUP && shared);
        if (shared && (kind == MACHINE || kind == HOST))
            continue;
        gather(s, series[QS_BASE], kind, inherited, &base);
        gather(s, series[QS_CAND], kind, inherited, &cand);
        for (size_t i = 0; i < base.count; i++)
            for (size_t k = 0; k < cand.count; k++)
                add_differences(s, is_arm ? &s->arms : &s->environment, base.at[i], cand.at[k], kind);
        texts_done(&base);
        texts_done(&cand);
    }
}

/* "env" allows env.PATH too, as does env.PA*; "all" allows everything. */
static bool is_allowed(const char *allow, const char *key)
{
    for (const char *at = allow; *at; at += *at == ',') {
        size_t n = strcspn(at, ",");
        if ((n == 3 && strncmp(at, "all", 3) == 0) || qs_env_match(at, n, key))
            return true;
        at += n;
    }
    return false;
}

void qs_sides_differ(struct qs_sides *s)
{
    for (size_t i = 0; i < s->point_count; i++)
        for (size_t k = 0; k < s->points[i].count; k++)
            differ_pair(s, &s->points[i].pairs[k]);
    s->allowed = qs_calloc(s->environment.count, sizeof *s->allowed);
    for (size_t i = 0; i < s->environment.count; i++) {
        const struct qs_env_change *c = &s->environment.at[i];
        s->allowed[i] = is_allowed(s->in->allow, c->key);
        s->refused = s->refused || (qs_env_matters(c->class) && !s->allowed[i]);
    }
}
