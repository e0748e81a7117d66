/* What else changed from one session to the next. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/job/env.h"
#include "config/job/stored.h"
#include "report/conditions.h"
#include "report/env_facts.h"
#include "report/history/impl.h"
#include "report/variables.h"

/* The executable of the first run that names one. */
static const struct qs_history_run *with_executable(const struct qs_history_session *session)
{
    for (size_t i = 0; i < session->run_count; i++)
        if (session->runs[i].exe_sha256[0] != '\0')
            return &session->runs[i];
    return NULL;
}

void qs_history_build(const struct qs_history_session *session, char text[80])
{
    const struct qs_history_run *run = with_executable(session);
    text[0] = '\0';
    if (session->build_label)
        snprintf(text, 80, "%.79s", session->build_label);
    else if (run)
        snprintf(text, 80, "exe %.12s", run->exe_sha256);
}

/* Of an arm with a build an executable that came with the job is the build's; without a build the executable
 * is what is under test. */
static const char *other_executable(const struct qs_history_session *session)
{
    const struct qs_history_run *run = with_executable(session);
    return session->build_label && run && !run->exe_of_job ? run->exe_sha256 : NULL;
}

/* {"conditions":...}: false where they are not all known. */
static bool put_conditions(const struct qs_history_session *session, const struct qs_job_spec *spec,
                           struct qs_buf *out)
{
    qs_buf_clear(out);
    struct qs_json j = qs_json_to(out);
    qs_json_object(&j);
    qs_json_key(&j, "conditions");
    bool known = qs_conditions_put(&j, session->conditions_json, spec, session->point, session->arm);
    qs_json_object_end(&j);
    return known;
}

/* NULL where an earlier version has kept no more than the controls and the job cannot be read any more.
 * Reading a job takes longer than all the rest: it is read where it is needed. */
static char *conditions_of(const struct qs_history_session *session)
{
    struct qs_job_spec *spec = NULL;
    QS_BUF(out);
    if (put_conditions(session, NULL, &out))
        return qs_buf_take(&out);
    (void)qs_job_from_store(session->spec_json, 0, &spec, NULL);
    bool known = spec && put_conditions(session, spec, &out);
    qs_job_free(spec);
    return known ? qs_buf_take(&out) : NULL;
}

/* One text is one set, where it is all of it. */
static bool same_conditions(const struct qs_history_session *base, const struct qs_history_session *cand)
{
    return strcmp(base->conditions_json, cand->conditions_json) == 0 &&
           (strcmp(base->spec_json, cand->spec_json) == 0 || qs_conditions_known(base->conditions_json));
}

static bool add_conditions(const struct qs_history_session *base, const struct qs_history_session *cand,
                           struct qs_env_diff *diff, struct qs_err *err)
{
    struct qs_env_diff more = {0};
    if (same_conditions(base, cand))
        return true;
    QS_FREED char *x = conditions_of(base), *y = conditions_of(cand);
    bool ok = qs_env_diff(x, y, NULL, &more, err);
    for (size_t i = 0; ok && i < more.count; i++)
        qs_env_diff_add(diff, more.at[i].key, more.at[i].base, more.at[i].cand, more.at[i].class);
    qs_env_diff_free(&more);
    return ok;
}

/* Sessions' processes; the spec is owned by the caller, NULL where this version cannot read it. */
static struct qs_job_spec *read_processes(const struct qs_history_session *session,
                                          struct qs_env_processes *ret)
{
    struct qs_job_spec *spec = NULL;
    *ret = (struct qs_env_processes){.arm = session->arm, .point = session->point};
    if (qs_job_from_store(session->spec_json, 0, &spec, NULL) && session->arm < spec->arm_count &&
        session->point < spec->point_count)
        ret->spec = spec;
    return spec;
}

static void put_variable(const char *name, const char *value, void *user)
{
    qs_json_kstring(user, name, value);
}

static void put_set(const struct qs_env_processes *of, struct qs_buf *out)
{
    struct qs_json j = qs_json_to(out);
    qs_json_object(&j);
    qs_json_kobject(&j, "env");
    if (of->spec)
        qs_job_set_variables(of->spec, of->arm, of->point, put_variable, &j);
    qs_json_object_end(&j);
    qs_json_object_end(&j);
}

/* As where two sides are compared: what was set on purpose matters, whatever its name. */
static enum qs_env_class class_of(const struct qs_env_processes of[2], const char *name,
                                  const struct qs_farm_variables *of_farm)
{
    bool chosen = qs_job_chooses(of[0].spec, name) || qs_job_chooses(of[1].spec, name);
    return chosen ? QS_ENV_MACHINE : qs_variable_class(name, of_farm);
}

/* What the jobs set for their processes. */
static bool add_set(const struct qs_env_processes of[2], const struct qs_farm_variables *of_farm,
                    struct qs_env_diff *diff, struct qs_err *err)
{
    struct qs_env_diff more = {0};
    QS_BUF(base);
    QS_BUF(cand);
    if (!of[0].spec || !of[1].spec)
        return true;
    put_set(&of[0], &base);
    put_set(&of[1], &cand);
    bool ok = qs_env_diff(base.data, cand.data, NULL, &more, err);
    for (size_t i = 0; ok && i < more.count; i++) {
        const struct qs_env_change *c = &more.at[i];
        enum qs_env_class class = class_of(of, c->key + strlen("env."), of_farm);
        if (class != QS_ENV_RECORDED)
            qs_env_diff_add(diff, c->key, c->base, c->cand, class);
    }
    qs_env_diff_free(&more);
    return ok;
}

/* Whether the job files may set other variables: their texts, which stand before the hashes of what came with
 * them, differ, and one of them names an environment. */
static bool may_set_others(const struct qs_history_session *base, const struct qs_history_session *cand)
{
    static const char after[] = "\",\"files\":{"; /* not in a text, whose quotes are escaped */
    const char *end = strstr(base->spec_json, after);
    size_t n = end ? (size_t)(end - base->spec_json) + strlen(after) : strlen(base->spec_json) + 1;
    return strncmp(base->spec_json, cand->spec_json, n) != 0 &&
           (strstr(base->spec_json, "env") || strstr(cand->spec_json, "env"));
}

/* Reading a job takes longer than all the rest: where no variable can differ, none is read. */
static bool add_variables(const struct qs_history_session *base, const struct qs_history_session *cand,
                          const struct qs_farm_variables *of_farm, struct qs_env_diff *diff,
                          struct qs_err *err)
{
    bool any = may_set_others(base, cand);
    for (size_t i = 0; i < diff->count && !any; i++)
        any = qs_env_variable(diff->at[i].key) != NULL;
    if (!any)
        return true;
    struct qs_env_processes of[2];
    struct qs_job_spec *x = read_processes(base, &of[0]), *y = read_processes(cand, &of[1]);
    qs_env_diff_inherited(diff, &of[0], &of[1]);
    bool ok = add_set(of, of_farm, diff, err);
    qs_job_free(x);
    qs_job_free(y);
    return ok;
}

bool qs_history_diff(const struct qs_history_session *base, const struct qs_history_session *cand,
                     const struct qs_farm_variables *of_farm, struct qs_env_diff *ret, struct qs_err *err)
{
    bool same = strcmp(base->env_json, cand->env_json) == 0;
    if (!qs_env_diff(same ? "{}" : base->env_json, same ? "{}" : cand->env_json, of_farm, ret, err))
        return false;
    if (!add_variables(base, cand, of_farm, ret, err))
        return false;
    qs_env_diff_add(ret, "command", base->argv_json, cand->argv_json, QS_ENV_MACHINE);
    const char *x = other_executable(base), *y = other_executable(cand);
    if (x && y)
        qs_env_diff_add(ret, "executable", x, y, QS_ENV_MACHINE);
    return add_conditions(base, cand, ret, err);
}
