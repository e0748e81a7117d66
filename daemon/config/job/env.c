#include "config/job/env.h"

#include <string.h>

bool qs_env_sets(const struct qs_strings *env, const char *kv)
{
    size_t n = strcspn(kv, "=");
    for (size_t i = 0; i < env->count; i++)
        if (strncmp(env->at[i], kv, n) == 0 && env->at[i][n] == '=')
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
