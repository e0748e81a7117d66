/* What a run's job says of it, as texts whose facts can be compared: what was set up around it, and the arm.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "config/job/env.h"
#include "report/env_facts.h"
#include "report/sides/impl.h"
#include "report/variables.h"

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
    QS_BUF(line);
    for (size_t i = 0; i < words->count; i++)
        qs_buf_fmt(&line, "%s%s", i > 0 ? " " : "", words->at[i]);
    if (words->count > 0)
        qs_json_kstring(j, key, line.data);
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

static bool is_chosen(const struct qs_sides *s, const char *name)
{
    for (size_t i = 0; i < s->in->job_count; i++)
        if (qs_job_chooses(s->in->jobs[i].spec, name))
            return true;
    return false;
}

/* What was set on purpose matters, whatever its name. */
enum qs_env_class qs_sides_variable_class(const struct qs_sides *s, const char *name)
{
    return is_chosen(s, name) ? QS_ENV_MACHINE : qs_variable_class(name, s->in->variables);
}

struct put {
    struct qs_json *j;
    const struct qs_sides *s;
    int64_t bytes;
};

static void put_variable(const char *name, const char *value, void *user)
{
    struct put *put = user;
    if (qs_sides_variable_class(put->s, name) != QS_ENV_RECORDED)
        qs_json_kstring(put->j, name, value);
    put->bytes += (int64_t)(strlen(name) + qs_variable_kept_bytes(value)) + 2;
}

static void put_variables(struct qs_json *j, const struct qs_sides *s, const struct qs_job_spec *spec,
                          const struct qs_arm_run *run, const struct qs_env_facts *around)
{
    const struct qs_job_benchmark *b = &spec->benchmarks[spec->points[run->point].benchmark];
    const struct qs_env_facts *inherited = b->env_inherit && around && around->has_variables ? around : NULL;
    struct put put = {.j = j, .s = s};
    qs_json_kobject(j, "env");
    for (size_t i = 0; inherited && i < inherited->count; i++) {
        const char *name = qs_env_variable(inherited->at[i].key);
        if (name && qs_job_inherits(spec, run->arm, run->point, name))
            put_variable(name, inherited->at[i].value, &put);
    }
    qs_job_set_variables(spec, run->arm, run->point, put_variable, &put);
    qs_json_object_end(j);
    if (inherited || !b->env_inherit)
        qs_json_kint(j, "variables_bytes", put.bytes);
}

char *qs_sides_setup(const struct qs_sides *s, const struct qs_job_spec *spec, const struct qs_arm_run *run,
                     const struct qs_env_facts *around, struct qs_conditions_made *conditions)
{
    const struct qs_job_benchmark *b = &spec->benchmarks[spec->points[run->point].benchmark];
    const struct qs_job_arm *arm = &spec->arms[run->arm];
    struct qs_buf out;
    qs_buf_init(&out);
    struct qs_json j = qs_json_to(&out);
    qs_json_object(&j);
    qs_json_kstring(&j, "benchmark", run->benchmark);
    qs_json_key(&j, "conditions");
    qs_conditions_put_made(&j, conditions, run->conditions_json, spec, run->point, run->arm);
    qs_json_kstring(&j, "mode",
                    b->mode == QS_MODE_HARNESS ? "harness"
                    : b->mode == QS_MODE_APP   ? "app"
                                               : "command");
    qs_json_kstring(&j, "layout", b->layout == QS_JOB_LAYOUT_FIXED ? "fixed" : "random");
    qs_json_kstring(&j, "directory", b->dir ? b->dir : "");
    qs_json_kstring(&j, "user", b->user ? b->user : "");
    qs_json_kstring(&j, "standard_input", b->stdin_path ? b->stdin_path : "");
    qs_json_kstring(&j, "standard_output", b->output_file ? b->output_file : "");
    qs_json_kstring(&j, "env_inherit", b->env_inherit ? "yes" : "no");
    put_variables(&j, s, spec, run, around);
    qs_json_key(&j, "actions");
    qs_job_actions_put(&j, &spec->actions);
    put_hook(&j, "setup", spec, run, &arm->setup, &b->setup);
    put_hook(&j, "prepare", spec, run, &arm->prepare, &b->prepare);
    put_hook(&j, "conclude", spec, run, &arm->conclude, &b->conclude);
    put_hook(&j, "cleanup", spec, run, &arm->cleanup, &b->cleanup);
    qs_json_object_end(&j);
    return qs_buf_take(&out);
}

char *qs_sides_arm(const struct qs_job_spec *spec, const struct qs_arm_run *run)
{
    struct qs_strings argv;
    struct qs_buf out;
    qs_buf_init(&out);
    struct qs_json j = qs_json_to(&out);
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
