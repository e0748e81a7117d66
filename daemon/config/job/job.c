#include "config/job/job.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "config/job/read.h"
#include "config/job/stop.h"

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
    free(b->output_file);
    free(b->stream.unit);
    free(b->stream.metric);
    qs_job_android_done(&b->android);
    free(b->dir);
    free(b->user);
    free(b->stdin_path);
    free(b->exit_codes);
    files_done(b->inputs, b->input_count);
}

static void copy_strings(struct qs_strings *to, const struct qs_strings *from)
{
    to->at = qs_calloc(from->count + 1, sizeof(*to->at));
    for (; to->count < from->count; to->count++)
        to->at[to->count] = qs_strdup(from->at[to->count]);
}

void qs_job_arm_copy(struct qs_job_arm *to, const struct qs_job_arm *from)
{
    struct qs_strings *lists[] = {&to->argv, &to->env, &to->setup, &to->prepare, &to->conclude, &to->cleanup};
    const struct qs_strings *of[] = {&from->argv,    &from->env,      &from->setup,
                                     &from->prepare, &from->conclude, &from->cleanup};
    *to = (struct qs_job_arm){.name = qs_strdup(from->name),
                              .build_label = qs_strdup(from->build_label),
                              .has_conditions = from->has_conditions,
                              .conditions = from->conditions};
    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
        copy_strings(lists[i], of[i]);
    to->params.at = qs_calloc(from->params.count + 1, sizeof(*to->params.at));
    for (; to->params.count < from->params.count; to->params.count++)
        to->params.at[to->params.count] =
            (struct qs_param){.name = qs_strdup(from->params.at[to->params.count].name),
                              .value = qs_strdup(from->params.at[to->params.count].value)};
    to->files = qs_calloc(from->file_count + 1, sizeof(*to->files));
    for (; to->file_count < from->file_count; to->file_count++) {
        to->files[to->file_count] = from->files[to->file_count];
        to->files[to->file_count].name = qs_strdup(from->files[to->file_count].name);
        to->files[to->file_count].path = qs_strdup(from->files[to->file_count].path);
    }
}

void qs_job_arm_done(struct qs_job_arm *a)
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
        qs_job_arm_done(&spec->arms[i]);
    for (size_t i = 0; i < spec->point_count; i++) {
        params_done(&spec->points[i].params);
        free(spec->points[i].label);
    }
    for (size_t i = 0; i < spec->condition_count; i++)
        qs_job_conditions_done(&spec->conditions[i]);
    for (size_t i = 0; i < QS_STAGE_COUNT; i++)
        qs_actions_done(&spec->actions.stages[i]);
    free(spec->name);
    free(spec->benchmarks);
    free(spec->arms);
    free(spec->points);
    free(spec->where);
    free(spec->conditions);
    free(spec->plan.looks);
    free(spec->files);
    for (size_t i = 0; i < spec->meter_count; i++)
        qs_job_meter_done(&spec->meters[i]);
    free(spec->meters);
    qs_strings_done(&spec->trace.argv);
    qs_strings_done(&spec->trace.options);
    qs_strings_done(&spec->trace.events);
    free(spec->trace.config);
    qs_strings_done(&spec->plan.metrics);
}

struct place { /* a file, and the how-manieth of the job it is */
    struct qs_job_file *file;
    size_t i;
};

static int by_path(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    int order = strcmp(x->file->path, y->file->path);
    return order != 0 ? order : (x->i > y->i) - (x->i < y->i);
}

static int by_place(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    return (x->i > y->i) - (x->i < y->i);
}

/* Files of all benchmarks and then of all arms. */
static size_t list_files(const struct qs_job_spec *spec, struct place *ret)
{
    size_t n = 0;
    for (size_t b = 0; b < spec->benchmark_count; b++)
        for (size_t i = 0; i < spec->benchmarks[b].input_count; i++, n++)
            if (ret)
                ret[n] = (struct place){&spec->benchmarks[b].inputs[i], n};
    for (size_t a = 0; a < spec->arm_count; a++)
        for (size_t i = 0; i < spec->arms[a].file_count; i++, n++)
            if (ret)
                ret[n] = (struct place){&spec->arms[a].files[i], n};
    return n;
}

static void index_files(struct qs_job_spec *spec)
{
    size_t n = list_files(spec, NULL), paths = 0;
    QS_FREED struct place *all = qs_calloc(n + 1, sizeof *all);
    (void)list_files(spec, all);
    qsort(all, n, sizeof *all, by_path);
    spec->files = qs_calloc(2 * n + 1, sizeof(void *));
    spec->file_count = n;
    for (size_t i = 0; i < n; i++) {
        spec->files[i] = all[i].file;
        if (i == 0 || strcmp(spec->files[i - 1]->path, all[i].file->path) != 0)
            all[paths++] = all[i];
    }
    qsort(all, paths, sizeof *all, by_place);
    for (size_t i = 0; i < paths; i++)
        spec->files[n + i] = all[i].file;
    spec->path_count = paths;
}

bool qs_job_from_doc(const struct qs_doc *doc, struct qs_job_spec **ret_spec, struct qs_problems *problems)
{
    static const char *const of_farm[] = {"state_dir", "db", "socket", "heartbeat", "variables"};
    const struct qs_node *key = NULL;
    for (size_t i = 0; i < sizeof(of_farm) / sizeof(of_farm[0]); i++)
        if (!qs_node_get(&doc->root, "benchmarks", NULL) && qs_node_get(&doc->root, of_farm[i], &key)) {
            qs_problems_add(problems, doc, key, of_farm[i], "start a daemon with it: quiesced --config FILE",
                            "this is a farm file, and a job file is expected");
            return false;
        }
    struct qs_job_draft draft = {0};
    bool ok = qs_schema_read(doc, qs_job_table(), &draft, problems);
    free(draft.baseline);
    qs_stop_free(draft.enough.stop);
    if (!ok) {
        spec_done(&draft.spec);
        return false;
    }
    *ret_spec = qs_malloc(sizeof(**ret_spec));
    **ret_spec = draft.spec;
    index_files(*ret_spec);
    return true;
}

void qs_job_free(struct qs_job_spec *spec)
{
    if (spec == NULL)
        return;
    spec_done(spec);
    free(spec);
}

struct qs_job_file *qs_job_file_at(const struct qs_job_spec *spec, size_t i)
{
    return i < spec->path_count ? spec->files[spec->file_count + i] : NULL;
}

size_t qs_job_file_count(const struct qs_job_spec *spec)
{
    return spec->path_count;
}

bool qs_job_bind_file(struct qs_job_spec *spec, const char *path, const char sha256[65])
{
    size_t from = 0, to = spec->file_count;
    while (from < to) {
        size_t middle = from + (to - from) / 2;
        if (strcmp(spec->files[middle]->path, path) < 0)
            from = middle + 1;
        else
            to = middle;
    }
    size_t first = from;
    for (; from < spec->file_count && strcmp(spec->files[from]->path, path) == 0; from++)
        memcpy(spec->files[from]->sha256, sha256, sizeof spec->files[from]->sha256);
    return from > first;
}

void qs_job_set_where(struct qs_job_spec *spec, const char *where)
{
    if (!where)
        return;
    free(spec->where);
    spec->where = qs_strdup(where);
}
