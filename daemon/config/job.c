#include "config/job.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "config/job_read.h"
#include "config/stop.h"

static void params_done(struct qs_params *p)
{
    for (size_t i = 0; i < p->count; i++) {
        free(p->at[i].name);
        free(p->at[i].value);
    }
    free(p->at);
}

static void files_done(struct qs_job_file *files, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        free(files[i].name);
        free(files[i].path);
    }
    free(files);
}

static void benchmark_done(struct qs_job_benchmark *b)
{
    struct qs_strings *lists[] = {&b->argv,     &b->env,     &b->setup,    &b->prepare,
                                  &b->conclude, &b->cleanup, &b->artifacts};
    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
        qs_strings_done(lists[i]);
    free(b->name);
    free(b->program_benchmark);
    free(b->stream.pattern);
    free(b->stream.file);
    free(b->stream.unit);
    free(b->stream.metric);
    free(b->dir);
    free(b->user);
    free(b->stdin_path);
    free(b->exit_codes);
    files_done(b->inputs, b->input_count);
}

static void arm_done(struct qs_job_arm *a)
{
    struct qs_strings *lists[] = {&a->argv, &a->env, &a->setup, &a->prepare, &a->conclude, &a->cleanup};
    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
        qs_strings_done(lists[i]);
    params_done(&a->params);
    free(a->name);
    free(a->build_label);
    files_done(a->files, a->file_count);
}

static void spec_done(struct qs_job_spec *spec)
{
    for (size_t i = 0; i < spec->benchmark_count; i++)
        benchmark_done(&spec->benchmarks[i]);
    for (size_t i = 0; i < spec->arm_count; i++)
        arm_done(&spec->arms[i]);
    for (size_t i = 0; i < spec->point_count; i++) {
        params_done(&spec->points[i].params);
        free(spec->points[i].label);
    }
    for (size_t i = 0; i < spec->gate_count; i++)
        free(spec->gate[i].sensor);
    for (size_t i = 0; i < spec->bound_count; i++)
        free(spec->bounds[i].kind);
    free(spec->name);
    free(spec->benchmarks);
    free(spec->arms);
    free(spec->points);
    free(spec->where);
    free(spec->cpus);
    free(spec->gate);
    free(spec->bounds);
    free(spec->plan.looks);
    qs_strings_done(&spec->trace.argv);
    qs_strings_done(&spec->trace.options);
    qs_strings_done(&spec->trace.events);
    free(spec->trace.config);
    qs_strings_done(&spec->plan.metrics);
    qs_stop_free(spec->plan.stop);
}

bool qs_job_from_doc(const struct qs_doc *doc, struct qs_job_spec **ret_spec, struct qs_problems *problems)
{
    static const char *const of_farm[] = {"state_dir", "db", "socket", "heartbeat", "variables"};
    const struct qs_node *key = NULL;
    for (size_t i = 0; i < sizeof(of_farm) / sizeof(of_farm[0]); i++)
        if (!qs_node_get(&doc->root, "benchmarks", NULL) && qs_node_get(&doc->root, of_farm[i], &key)) {
            qs_problems_add(problems, doc, key, of_farm[i], "start a daemon with it: quiesced --config FILE",
                            "this is the file of a farm, and a job is wanted");
            return false;
        }
    struct qs_job_draft draft = {0};
    bool ok = qs_schema_read(doc, qs_job_table(), &draft, problems);
    free(draft.baseline);
    if (!ok) {
        spec_done(&draft.spec);
        return false;
    }
    *ret_spec = qs_malloc(sizeof(**ret_spec));
    **ret_spec = draft.spec;
    return true;
}

void qs_job_free(struct qs_job_spec *spec)
{
    if (spec == NULL)
        return;
    spec_done(spec);
    free(spec);
}

/* The i-th file of all benchmarks and then all arms; NULL beyond the last. */
static struct qs_job_file *nth_file(const struct qs_job_spec *spec, size_t i)
{
    for (size_t b = 0; b < spec->benchmark_count; b++) {
        if (i < spec->benchmarks[b].input_count)
            return &spec->benchmarks[b].inputs[i];
        i -= spec->benchmarks[b].input_count;
    }
    for (size_t a = 0; a < spec->arm_count; a++) {
        if (i < spec->arms[a].file_count)
            return &spec->arms[a].files[i];
        i -= spec->arms[a].file_count;
    }
    return NULL;
}

static bool is_first_of_path(const struct qs_job_spec *spec, size_t at, const char *path)
{
    for (size_t i = 0; i < at; i++)
        if (strcmp(nth_file(spec, i)->path, path) == 0)
            return false;
    return true;
}

struct qs_job_file *qs_job_file_at(const struct qs_job_spec *spec, size_t i)
{
    size_t seen = 0;
    struct qs_job_file *file = NULL;
    for (size_t at = 0; (file = nth_file(spec, at)) != NULL; at++)
        if (is_first_of_path(spec, at, file->path) && seen++ == i)
            return file;
    return NULL;
}

size_t qs_job_file_count(const struct qs_job_spec *spec)
{
    size_t count = 0;
    const struct qs_job_file *file = NULL;
    for (size_t at = 0; (file = nth_file(spec, at)) != NULL; at++)
        count += is_first_of_path(spec, at, file->path);
    return count;
}

bool qs_job_bind_file(struct qs_job_spec *spec, const char *path, const char sha256[65])
{
    bool found = false;
    struct qs_job_file *file = NULL;
    for (size_t at = 0; (file = nth_file(spec, at)) != NULL; at++) {
        if (strcmp(file->path, path) != 0)
            continue;
        memcpy(file->sha256, sha256, sizeof(file->sha256));
        found = true;
    }
    return found;
}
