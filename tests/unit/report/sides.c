#include "sides.h"

#include "base/mem.h"
#include "page.h"

static const char env_old[] = "{\"agent\":\"1\",\"cgroup\":\"/a\",\"kernel\":\"6.1\"}";

void sides_init(struct sides *s, const char *more)
{
    *s = (struct sides){
        .metrics = {{.name = (char *)(uintptr_t) "duration_ns", .unit = (char *)(uintptr_t) "ns"},
                    {.name = (char *)(uintptr_t) "allocations",
                     .unit = (char *)(uintptr_t) "count",
                     .deterministic = true},
                    {.name = (char *)(uintptr_t) "throughput",
                     .unit = (char *)(uintptr_t) "ops",
                     .higher_is_better = true}}};
    for (int64_t i = 0; i < JOBS; i++) {
        world_init(&s->jobs[i], 2, more);
        s->list[i] = (struct qs_sides_job){.id = i + 1, .spec = s->jobs[i].spec};
    }
    for (int k = 0; k < 2; k++)
        s->runs[k] = (struct qs_arm_runs){.metrics = s->metrics, .metric_count = 3};
    s->in = (struct qs_sides_input){.selector = {"1", "2"},
                                    .runs = {&s->runs[0], &s->runs[1]},
                                    .jobs = s->list,
                                    .job_count = JOBS,
                                    .margin_ratio = NAN,
                                    .alpha = 0.05,
                                    .allow = "",
                                    .seed = 1,
                                    .views = {.at = {{QS_VIEWS_LAST, 9}}, .count = 1}};
    qs_buf_init(&s->text);
}

void sides_done(struct sides *s)
{
    for (int k = 0; k < 2; k++) {
        s->runs[k].metrics = NULL;
        size_t metrics = s->runs[k].metric_count;
        s->runs[k].metric_count = 0;
        for (size_t i = 0; i < s->runs[k].count; i++) {
            for (size_t m = 0; m < metrics; m++) {
                free(s->runs[k].at[i].values[m].at);
            }
        }
        qs_arm_runs_free(&s->runs[k]);
    }
    for (int i = 0; i < JOBS; i++)
        world_done(&s->jobs[i]);
    qs_buf_done(&s->text);
}

void sides_set(struct qs_values *values, double v)
{
    free(values->at);
    values->at = qs_malloc(2 * sizeof *values->at);
    values->at[0] = v;
    values->at[1] = v;
    values->n = 2;
}

struct qs_arm_run *sides_add(struct sides *s, int side, int64_t job, uint32_t arm, uint32_t block, double ns)
{
    struct qs_arm_runs *runs = &s->runs[side];
    runs->at = qs_grow(runs->at, runs->count, sizeof *runs->at);
    struct qs_arm_run *run = &runs->at[runs->count];
    *run = (struct qs_arm_run){.uid = {(uint8_t)side, (uint8_t)runs->count, (uint8_t)(runs->count >> 8)},
                               .job = job,
                               .session = job,
                               .env = 1,
                               .host = 1,
                               .arm = arm,
                               .block = block,
                               .pos = arm,
                               .state = QS_RUN_DONE,
                               .benchmark = qs_strdup("work"),
                               .params_json = qs_strdup("{}"),
                               .controls_json = qs_strdup("{\"affinity\":\"any\"}"),
                               .conditions_json = qs_strdup("{\"affinity\":\"any\"}"),
                               .label = qs_strdup("work"),
                               .arm_name = qs_strdup(arm == 0 ? "a" : "b"),
                               .device = qs_strdup("local"),
                               .env_json = qs_strdup(env_old),
                               .host_json =
                                   qs_strdup("{\"device\":{\"kernel\":\"x\"},\"host\":{\"kernel\":\"6\"}}"),
                               .values = qs_calloc(3, sizeof *run->values)};
    runs->count++;
    sides_set(&run->values[0], ns);
    return run;
}

void sides_name(char **text, const char *to)
{
    free(*text);
    *text = qs_strdup(to);
}

void sides_add_job(struct sides *s, int side, int64_t job, uint32_t arm, size_t blocks, double ns)
{
    static const double wobble[] = {0, 0.002, -0.001, 0.0015, -0.002, 0.001, -0.0005, 0.0008};
    for (uint32_t b = 1; b <= blocks; b++)
        sides_add(s, side, job, arm, b, ns * (1 + wobble[(b * 3 + (uint32_t)job * 5 + arm) % 8]));
}

json_t *sides_compared(struct sides *s)
{
    qs_buf_clear(&s->text);
    qs_sides_compare(&s->in, &s->text);
    return page_read(&s->text);
}

void sides_fill_metric(struct sides *s, int side, size_t metric, double value)
{
    for (size_t i = 0; i < s->runs[side].count; i++)
        sides_set(&s->runs[side].at[i].values[metric], value + (metric == 2 ? (double)(i % 3) : 0));
}

void sides_disturb(struct sides *s, int side, size_t run, double ratio)
{
    struct qs_arm_run *r = &s->runs[side].at[run];
    r->values[0].disturbed = true;
    for (size_t k = 0; k < r->values[0].n; k++)
        r->values[0].at[k] *= ratio;
}
