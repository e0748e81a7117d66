#include "golden.h"

#include <dirent.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"

char *golden_read(const char *path, size_t *ret_len)
{
    FILE *f = fopen(path, "rb");
    if (f == NULL)
        return NULL;
    struct qs_buf b;
    qs_buf_init(&b);
    char chunk[4096];
    for (size_t n = 0; (n = fread(chunk, 1, sizeof(chunk), f)) > 0;)
        qs_buf_add(&b, chunk, n);
    fclose(f);
    *ret_len = b.len;
    return qs_buf_take(&b);
}

void golden_same(const char *dir, const char *name, const struct qs_buf *got)
{
    char path[4096], other[64];
    size_t n = 0;
    snprintf(path, sizeof path, "%s/%s.txt", dir, name);
    snprintf(other, sizeof other, "%s.got", name);
    char *want = golden_read(path, &n);
    bool same = want && n == got->len && memcmp(want, got->data, n) == 0;
    free(want);
    if (same)
        return;
    FILE *f = fopen(other, "we");
    assert_non_null(f);
    fwrite(got->data, 1, got->len, f);
    fclose(f);
    fail_msg("%s differs: compare it with %s", path, other);
}

static bool ends_with(const char *s, const char *suffix)
{
    size_t n = strlen(s);
    size_t m = strlen(suffix);
    return n >= m && strcmp(s + n - m, suffix) == 0;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

char **golden_list(const char *dir, const char *suffix, const char *other_suffix, size_t *ret_count)
{
    char **all = qs_calloc(1, sizeof(*all));
    size_t count = 0;
    DIR *d = opendir(dir);
    for (struct dirent *e = NULL; d != NULL && (e = readdir(d)) != NULL;) {
        if (!ends_with(e->d_name, suffix) && !ends_with(e->d_name, other_suffix))
            continue;
        all = qs_realloc(all, (count + 2) * sizeof(*all));
        all[count++] = qs_strdup(e->d_name);
        all[count] = NULL;
    }
    if (d != NULL)
        closedir(d);
    qsort(all, count, sizeof(*all), by_name);
    *ret_count = count;
    return all;
}

struct qs_job_spec *golden_job(const char *name, const char *text, size_t len, struct qs_buf *err)
{
    struct qs_problems problems;
    qs_problems_init(&problems);
    struct qs_doc *doc = NULL;
    struct qs_job_spec *spec = NULL;
    if (qs_doc_read(name, text, len, false, &doc, &problems))
        qs_job_from_doc(doc, &spec, &problems);
    qs_problems_text(&problems, name, err);
    qs_problems_done(&problems);
    qs_doc_free(doc);
    return spec;
}

static void dump_strings(const char *name, const struct qs_strings *s, struct qs_buf *out)
{
    qs_buf_fmt(out, "  %s:", name);
    for (size_t i = 0; i < s->count; i++)
        qs_buf_fmt(out, " <%s>", s->at[i]);
    qs_buf_char(out, '\n');
}

static void dump_params(const struct qs_params *p, struct qs_buf *out)
{
    for (size_t i = 0; i < p->count; i++)
        qs_buf_fmt(out, "  param %s=<%s>\n", p->at[i].name, p->at[i].value);
}

static void dump_files(const struct qs_job_file *files, size_t count, struct qs_buf *out)
{
    for (size_t i = 0; i < count; i++)
        qs_buf_fmt(out, "  file %s <- %s %d\n", files[i].name, files[i].path, files[i].executable);
}

static const char *text(const char *s)
{
    return s != NULL ? s : "(none)";
}

static void dump_benchmark(const struct qs_job_benchmark *b, struct qs_buf *out)
{
    qs_buf_fmt(out, "benchmark %s mode %u inherit %d dir %s stdin %s output %u/%" PRId64 " %s\n", b->name,
               (unsigned)b->mode, b->env_inherit, text(b->dir), text(b->stdin_path), (unsigned)b->output,
               b->output_max_bytes, text(b->output_file));
    qs_buf_fmt(out,
               "  limits %" PRId64 " %" PRId64 " %" PRId64 " margin %.17g exit %u:", b->iteration_limit_ns,
               b->run_limit_ns, b->hook_limit_ns, b->margin_ratio, (unsigned)b->exit_rule);
    for (size_t i = 0; i < b->exit_count; i++)
        qs_buf_fmt(out, " %d", b->exit_codes[i]);
    qs_buf_char(out, '\n');
    dump_strings("argv", &b->argv, out);
    dump_strings("env", &b->env, out);
    dump_strings("setup", &b->setup, out);
    dump_strings("prepare", &b->prepare, out);
    dump_strings("conclude", &b->conclude, out);
    dump_strings("cleanup", &b->cleanup, out);
    dump_files(b->inputs, b->input_count, out);
}

static void dump_arm(const struct qs_job_arm *a, struct qs_buf *out)
{
    qs_buf_fmt(out, "arm %s build %s\n", a->name, text(a->build_label));
    dump_strings("argv", &a->argv, out);
    dump_strings("env", &a->env, out);
    dump_strings("setup", &a->setup, out);
    dump_strings("prepare", &a->prepare, out);
    dump_strings("conclude", &a->conclude, out);
    dump_strings("cleanup", &a->cleanup, out);
    dump_params(&a->params, out);
    dump_files(a->files, a->file_count, out);
    if (a->has_conditions)
        qs_buf_fmt(out, "  conditions %zu\n", a->conditions);
}

static void dump_plan(const struct qs_job_plan *p, const struct qs_job_conditions *own, struct qs_buf *out)
{
    qs_buf_fmt(out, "plan seed %d %" PRIu64 " order %u blocks %u-%u looks", p->has_seed, p->seed,
               (unsigned)p->order, p->blocks_min, p->blocks_max);
    for (size_t i = 0; i < p->look_count; i++)
        qs_buf_fmt(out, " %u", p->looks[i]);
    qs_buf_fmt(out,
               "\n  interval %.17g time %" PRId64 " window %u %" PRId64 " %u %" PRId64 " warmup %u %" PRId64
               " repeat %u\n",
               p->interval_ratio, p->time_ns, p->window_iterations, p->window_target_ns, p->window_auto_max,
               p->window_max_ns, p->warmup_iterations, p->warmup_max_ns, own->repeat_tainted);
    char stop[512] = "-";
    if (own->enough.stop != NULL)
        qs_rule_text(own->enough.stop, stop, sizeof stop);
    qs_buf_fmt(out, "  stop %s caps %" PRId64 " %" PRIu32 "\n", stop, own->enough.cap_time_ns,
               own->enough.cap_iterations);
}

static void dump_trace(const struct qs_job_trace *t, struct qs_buf *out)
{
    if (t->tool == QS_TRACER_NONE)
        return;
    qs_buf_fmt(out, "trace %s every %u windows %u max %lld buffer %lld settle %lld stop %lld required %d\n",
               qs_job_tracer_name(t->tool), t->every, t->windows, (long long)t->max_bytes,
               (long long)t->buffer_bytes, (long long)t->settle_ns, (long long)t->stop_ns, t->required);
    dump_strings("trace argv", &t->argv, out);
    dump_strings("trace options", &t->options, out);
    dump_strings("trace events", &t->events, out);
    qs_buf_fmt(out, "trace config %s\n", t->config != NULL ? t->config : "");
}

static void dump_gate(const struct qs_job_conditions *set, struct qs_buf *out)
{
    for (size_t i = 0; i < set->gate_count; i++) {
        const struct qs_job_expectation *e = &set->gate[i];
        qs_buf_fmt(out, "gate %s %d %d %d %" PRId64 " %" PRId64 " dwell %" PRId64 " timeout %" PRId64 " %u\n",
                   e->sensor, e->has_lo, e->has_hi, e->unreadable_ok, e->lo, e->hi, e->dwell_ns,
                   e->timeout_ns, (unsigned)e->on_timeout);
    }
    for (size_t i = 0; i < set->bound_count; i++)
        qs_buf_fmt(out, "bound %s %" PRId64 "\n", set->bounds[i].kind, set->bounds[i].bound);
}

static void dump_set(const struct qs_job_conditions *set, struct qs_buf *out)
{
    char stop[512] = "-";
    if (set->enough.stop != NULL)
        qs_rule_text(set->enough.stop, stop, sizeof stop);
    qs_buf_fmt(out, "set %s cpus %s patience %" PRId64 " repeat %u stop %s caps %" PRId64 " %" PRIu32 "\n",
               set->name, set->controls.cpus, set->patience_ns, set->repeat_tainted, stop,
               set->enough.cap_time_ns, set->enough.cap_iterations);
    dump_gate(set, out);
}

void golden_dump(const struct qs_job_spec *spec, struct qs_buf *out)
{
    qs_buf_fmt(out, "job %s baseline %zu alpha %.17g where %s take %u %u cpus %s fail %d\n", spec->name,
               spec->baseline, spec->alpha, text(spec->where), (unsigned)spec->take, spec->take_count,
               spec->conditions[0].controls.cpus, spec->fail_on_regression);
    for (size_t i = 0; i < spec->benchmark_count; i++)
        dump_benchmark(&spec->benchmarks[i], out);
    for (size_t i = 0; i < spec->point_count; i++) {
        qs_buf_fmt(out, "point %zu %s\n", spec->points[i].benchmark, spec->points[i].label);
        if (spec->points[i].conditions > 0)
            qs_buf_fmt(out, "  conditions %zu\n", spec->points[i].conditions);
        dump_params(&spec->points[i].params, out);
    }
    for (size_t i = 0; i < spec->arm_count; i++)
        dump_arm(&spec->arms[i], out);
    dump_plan(&spec->plan, &spec->conditions[0], out);
    dump_trace(&spec->trace, out);
    dump_gate(&spec->conditions[0], out);
    for (size_t i = 1; i < spec->condition_count; i++)
        dump_set(&spec->conditions[i], out);
}
