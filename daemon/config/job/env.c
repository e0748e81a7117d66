#include "config/job/env.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/scope.h"

bool qs_env_sets(const struct qs_strings *env, const char *kv)
{
    size_t n = strcspn(kv, "=");
    for (size_t i = 0; i < env->count; i++)
        if (strncmp(env->at[i], kv, n) == 0 && env->at[i][n] == '=')
            return true;
    return false;
}

static void tell_set(const struct qs_strings *env, const struct qs_strings *after, qs_job_variable_fn *fn,
                     void *user)
{
    for (size_t i = 0; i < env->count; i++) {
        const struct qs_strings rest = {env->at + i + 1, env->count - i - 1};
        size_t n = strcspn(env->at[i], "=");
        if (env->at[i][n] != '=' || qs_env_sets(&rest, env->at[i]) ||
            (after && qs_env_sets(after, env->at[i])))
            continue;
        QS_FREED char *name = qs_strndup(env->at[i], n);
        fn(name, env->at[i] + n + 1, user);
    }
}

void qs_job_set_variables(const struct qs_job_spec *spec, size_t arm, size_t point, qs_job_variable_fn *fn,
                          void *user)
{
    const struct qs_strings *of_arm = &spec->arms[arm].env;
    tell_set(&spec->benchmarks[spec->points[point].benchmark].env, of_arm, fn, user);
    tell_set(of_arm, NULL, fn, user);
}

bool qs_job_chooses(const struct qs_job_spec *spec, const char *name)
{
    for (size_t k = 0; k < spec->arm_count; k++)
        if (qs_env_sets(&spec->arms[k].env, name))
            return true;
    for (size_t k = 0; k < spec->benchmark_count; k++)
        if (spec->benchmarks[k].env_inherit && qs_env_sets(&spec->benchmarks[k].env, name))
            return true;
    return false;
}

/* A program that runs as somebody else gets no variable of ours but these: what belongs to a user, the agent
 * puts there. */
static bool is_anybodys(const char *kv)
{
    static const char *const names[] = {"PATH", "LANG", "LC_ALL"};
    size_t n = strcspn(kv, "=");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strlen(names[i]) == n && strncmp(kv, names[i], n) == 0)
            return true;
    return false;
}

static bool lets_through(const struct qs_job_benchmark *b, const char *kv)
{
    return b->env_inherit && (!b->user || is_anybodys(kv)) && !qs_env_sets(&b->env, kv);
}

bool qs_job_inherits(const struct qs_job_spec *spec, size_t arm, size_t point, const char *kv)
{
    return lets_through(&spec->benchmarks[spec->points[point].benchmark], kv) &&
           !qs_env_sets(&spec->arms[arm].env, kv);
}

bool qs_job_inherits_any(const struct qs_job_spec *spec, const char *kv)
{
    bool benchmark = false, arm = false; /* every arm meets every benchmark */
    for (size_t i = 0; i < spec->benchmark_count && !benchmark; i++)
        benchmark = lets_through(&spec->benchmarks[i], kv);
    for (size_t i = 0; i < spec->arm_count && !arm; i++)
        arm = !qs_env_sets(&spec->arms[i].env, kv);
    return benchmark && arm;
}
