#include "world.h"

#include <stdio.h>

#include "base/mem.h"

const char *golden_dir = ".";

void world_init(struct world *w, size_t arms, const char *more)
{
    struct qs_buf text;
    qs_buf_init(&text);
    qs_buf_str(&text,
               "quiesce: 1\nname: made\nbenchmarks: [{name: work, argv: [work, \"it's\", x]}]\narms:\n");
    for (size_t a = 0; a < arms; a++)
        qs_buf_fmt(&text, "  %c: {argv: [%c, \"it's\", x]}\n", (char)('a' + a), (char)('a' + a));
    qs_buf_str(&text, more ? more : "");
    world_read(w, text.data);
    qs_buf_done(&text);
}

void world_read(struct world *w, const char *text)
{
    struct qs_problems problems;
    struct qs_doc *doc = NULL;
    qs_problems_init(&problems);
    *w = (struct world){0};
    bool ok = qs_doc_read("made", text, strlen(text), false, &doc, &problems) &&
              qs_job_from_doc(doc, &w->spec, &problems);
    if (!ok && problems.count > 0)
        print_message("%s\n", problems.at[0].what);
    assert_true(ok);
    qs_doc_free(doc);
    qs_problems_done(&problems);
    w->info = (struct qs_job_info){.id = 7,
                                   .seed = UINT64_C(18446744073709551615),
                                   .state = QS_JOB_DONE,
                                   .started_wall_ns = 1000,
                                   .ended_wall_ns = 5000000000};
    w->in = (struct qs_report_input){
        .job = &w->info, .spec = w->spec, .measured = &w->measured, .db_path = "x.db"};
}

void world_done(struct world *w)
{
    qs_measured_runs_free(&w->measured);
    qs_job_free(w->spec);
}

struct qs_measured_run *world_run(struct world *w, uint32_t block, uint32_t arm, const int64_t *ns, size_t n)
{
    struct qs_measured_runs *all = &w->measured;
    all->at = qs_grow(all->at, all->count, sizeof *all->at);
    struct qs_measured_run *s = &all->at[all->count];
    *s = (struct qs_measured_run){
        .arm = arm,
        .block = block,
        .pos = arm,
        .state = QS_RUN_DONE,
        .device = qs_strdup("local"),
        .values = {.at = qs_calloc(n + 1, sizeof(double)), .n = n, .seen = n, .counts = n > 0},
        .window_n = (uint32_t)n,
        .windows = {[QS_SILENCE_OBSERVED] = 1},
        .opened_ns = (int64_t)(1000000000 * (uint64_t)block + 1000 * arm + 1),
        .user_us_mean = 900,
        .system_us_mean = 100,
        .rss_max_bytes = 4096 * (double)block};
    for (size_t i = 0; i < n; i++)
        s->values.at[i] = (double)ns[i];
    all->count++;
    return s;
}

struct qs_measured_run *world_one(struct world *w, uint32_t block, uint32_t arm, int64_t ns)
{
    return world_run(w, block, arm, &ns, 1);
}

void world_disturb(struct qs_measured_run *s)
{
    s->values.counts = false;
    s->values.disturbed = s->values.n > 0;
    s->values.tainted = s->values.n;
    s->taint = s->values.taints = QS_TAINT_EVIDENCE;
}

void world_lose(struct qs_measured_run *s, enum qs_run_state state)
{
    s->state = state;
    qs_values_of_state(&s->values, state);
}

void golden_check(const char *name, const struct qs_buf *got)
{
    char *path = qs_asprintf("%s/%s", golden_dir, name), *other = qs_asprintf("%s.got", name);
    char *want = qs_calloc(1, got->len + 2);
    FILE *f = fopen(path, "re");
    size_t n = f ? fread(want, 1, got->len + 1, f) : 0;
    if (f)
        fclose(f);
    bool same = n == got->len && memcmp(want, got->data, n) == 0;
    if (!same && (f = fopen(other, "we"))) {
        fwrite(got->data, 1, got->len, f);
        fclose(f);
    }
    free(want);
    free(path);
    free(other);
    if (!same)
        fail_msg("%s differs: compare it with %s.got", name, name);
}
