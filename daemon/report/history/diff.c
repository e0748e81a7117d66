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

/* NULL where this version cannot read it. Reading a job takes longer than all the rest: it is read where it
 * is needed, and once. */
static const struct qs_job_spec *job_of(struct qs_history_night *night)
{
    if (!night->is_read)
        (void)qs_job_from_store(night->session->spec_json, 0, &night->spec, NULL);
    night->is_read = true;
    return night->spec;
}

void qs_history_night_done(struct qs_history_night *night)
{
    qs_job_free(night->spec);
    *night = (struct qs_history_night){0};
}

/* NULL where an earlier version has kept no more than the controls and the job cannot be read any more. */
static char *conditions_of(struct qs_history_night *night)
{
    QS_BUF(out);
    if (put_conditions(night->session, NULL, &out))
        return qs_buf_take(&out);
    bool known = job_of(night) && put_conditions(night->session, night->spec, &out);
    return known ? qs_buf_take(&out) : NULL;
}

/* One text is one set, where it is all of it. */
static bool same_conditions(const struct qs_history_session *base, const struct qs_history_session *cand)
{
    return strcmp(base->conditions_json, cand->conditions_json) == 0 &&
           (strcmp(base->spec_json, cand->spec_json) == 0 || qs_conditions_known(base->conditions_json));
}

static bool add_conditions(struct qs_history_night *base, struct qs_history_night *cand,
                           struct qs_env_diff *diff, struct qs_err *err)
{
    struct qs_env_diff more = {0};
    if (same_conditions(base->session, cand->session))
        return true;
    QS_FREED char *x = conditions_of(base), *y = conditions_of(cand);
    bool ok = qs_env_diff(x, y, NULL, &more, err);
    for (size_t i = 0; ok && i < more.count; i++)
        qs_env_diff_add(diff, more.at[i].key, more.at[i].base, more.at[i].cand, more.at[i].class);
    qs_env_diff_free(&more);
    return ok;
}

static struct qs_env_processes processes_of(struct qs_history_night *night)
{
    const struct qs_history_session *session = night->session;
    const struct qs_job_spec *spec = job_of(night);
    bool known = spec && session->arm < spec->arm_count && session->point < spec->point_count;
    return (struct qs_env_processes){
        .spec = known ? spec : NULL, .arm = session->arm, .point = session->point};
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
        const char *name = c->key + strlen("env.");
        enum qs_env_class class = class_of(of, name, of_farm);
        if (class != QS_ENV_RECORDED && !qs_env_diff_join(diff, name, c->base, c->cand, class))
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

/* Where no variable can differ, no job is read. */
static bool add_variables(struct qs_history_night *base, struct qs_history_night *cand,
                          const struct qs_farm_variables *of_farm, struct qs_env_diff *diff,
                          struct qs_err *err)
{
    bool any = may_set_others(base->session, cand->session);
    for (size_t i = 0; i < diff->count && !any; i++)
        any = qs_env_variable(diff->at[i].key) != NULL;
    if (!any)
        return true;
    const struct qs_env_processes of[2] = {processes_of(base), processes_of(cand)};
    qs_env_diff_inherited(diff, &of[0], &of[1]);
    return add_set(of, of_farm, diff, err);
}

bool qs_history_diff(struct qs_history_night *base, struct qs_history_night *cand,
                     const struct qs_farm_variables *of_farm, struct qs_env_diff *ret, struct qs_err *err)
{
    const struct qs_history_session *then = base->session, *now = cand->session;
    bool same = strcmp(then->env_json, now->env_json) == 0;
    if (!qs_env_diff(same ? "{}" : then->env_json, same ? "{}" : now->env_json, of_farm, ret, err))
        return false;
    if (!add_variables(base, cand, of_farm, ret, err))
        return false;
    qs_env_diff_add(ret, "command", then->argv_json, now->argv_json, QS_ENV_MACHINE);
    const char *x = other_executable(then), *y = other_executable(now);
    if (x && y)
        qs_env_diff_add(ret, "executable", x, y, QS_ENV_MACHINE);
    return add_conditions(base, cand, ret, err);
}
