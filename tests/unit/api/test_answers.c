/* One database, and every address that reads it, with each parameter at its bounds and beyond: the answers,
 * held whole in tests/golden/api/answers.txt. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "world.h"

#define METRICS_32 "frames,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p,q,r,s,t,u,v,w,x,y,z,0,1,2,3,4,5"

static const char *golden_dir;

static const struct request {
    const char *method, *targets[26], *body;
    bool brief; /* of its JSON: the members, and of lists and objects how many they have */
} requests[] = {
    {.method = "GET",
     .targets = {"/healthz", "/api/v1/devices", "/api/v1/devices/local", "/api/v1/devices/x",
                 "/api/v1/devices/local:profile", "/api/v1/devices/x:profile", "/healthz?x=1",
                 "/api/v1/version?"},
     .brief = true},
    {.method = "GET",
     .targets = {"/api/v1/jobs", "/api/v1/jobs?limit=1", "/api/v1/jobs?limit=1000&before=2",
                 "/api/v1/jobs?limit=0", "/api/v1/jobs?limit=1001", "/api/v1/jobs?limit=2&before=5",
                 "/api/v1/jobs?before=1", "/api/v1/jobs?before=0", "/api/v1/jobs?before=x",
                 "/api/v1/jobs?limit=", "/api/v1/jobs?after=1"}},
    {.method = "GET",
     .targets = {"/api/v1/jobs/1", "/api/v1/jobs/2", "/api/v1/jobs/3", "/api/v1/jobs/4", "/api/v1/jobs/7",
                 "/api/v1/jobs/0", "/api/v1/jobs/9223372036854775807", "/api/v1/jobs/9223372036854775808",
                 "/api/v1/jobs/1?x=1"}},
    {.method = "GET",
     .targets = {"/api/v1/jobs/1/runs?limit=1", "/api/v1/jobs/1/runs?after=30",
                 "/api/v1/jobs/2/runs?limit=1000&after=35", "/api/v1/jobs/3/runs",
                 "/api/v1/jobs/1/runs?limit=0", "/api/v1/jobs/1/runs?limit=1001",
                 "/api/v1/jobs/1/runs?after=-1", "/api/v1/jobs/7/runs"}},
    {.method = "GET",
     .targets = {"/api/v1/runs/01230000000000000000000000000000",
                 "/api/v1/runs/01330000000000000000000000000000",
                 "/api/v1/runs/0123000000000000000000000000000F",
                 "/api/v1/runs/012300000000000000000000000000",
                 "/api/v1/runs/012300000000000000000000000000000"}},
    {.method = "GET",
     .targets = {"/api/v1/runs/01230000000000000000000000000000/iterations",
                 "/api/v1/runs/01240000000000000000000000000000/iterations?from=3&limit=2",
                 "/api/v1/runs/01240000000000000000000000000000/iterations?from=4&limit=2",
                 "/api/v1/runs/01330000000000000000000000000000/iterations?limit=10000",
                 "/api/v1/runs/01290000000000000000000000000000/iterations?limit=1",
                 "/api/v1/runs/01290000000000000000000000000000/iterations?from=99",
                 "/api/v1/runs/01290000000000000000000000000000/iterations?limit=10001",
                 "/api/v1/runs/01290000000000000000000000000000/iterations?limit=0",
                 "/api/v1/runs/01290000000000000000000000000000/iterations?from=-1",
                 "/api/v1/runs/ff290000000000000000000000000000/iterations"}},
    {.method = "GET",
     .targets = {"/api/v1/jobs/1/compare", "/api/v1/jobs/1/compare?rule=judge&view=last:1&metric=frames",
                 "/api/v1/jobs/1/compare?rule=x", "/api/v1/jobs/1/compare?view=x",
                 "/api/v1/jobs/1/compare?metric=", "/api/v1/jobs/1/compare?metric=" METRICS_32,
                 "/api/v1/jobs/1/compare?metric=" METRICS_32 ",x", "/api/v1/jobs/1/compare?metric=frames,",
                 "/api/v1/jobs/3/compare", "/api/v1/jobs/6/compare", "/api/v1/jobs/4/compare",
                 "/api/v1/jobs/5/compare", "/api/v1/jobs/7/compare"},
     .brief = true},
    {.method = "GET",
     .targets =
         {"/api/v1/compare",
          "/api/v1/compare?base=1",
          "/api/v1/compare?candidate=1",
          "/api/v1/compare?base=1:base&candidate=2:base",
          "/api/v1/compare?base=2&candidate=1",
          "/api/v1/compare?base=1:base&candidate=2:v2&margin_ratio=0&alpha=0.0001&allow=all",
          "/api/v1/"
          "compare?base=1:base&candidate=build:v2&margin_ratio=10&alpha=0.49&metric=frames&view=last:1",
          "/api/v1/compare?base=1:base&candidate=1:v2&metric=user_time_us,frames&rule=all",
          "/api/v1/compare?base=1&candidate=2&margin_ratio=-0.1",
          "/api/v1/compare?base=1&candidate=2&margin_ratio=10.1",
          "/api/v1/compare?base=1&candidate=2&margin_ratio=nan",
          "/api/v1/compare?base=1&candidate=2&margin_ratio=",
          "/api/v1/compare?base=1&candidate=2&margin_ratio=1x",
          "/api/v1/compare?base=1&candidate=2&alpha=0.00009",
          "/api/v1/compare?base=1&candidate=2&alpha=0.491",
          "/api/v1/compare?base=1&candidate=2&alpha=1e-999",
          "/api/v1/compare?base=1&candidate=2&view=x",
          "/api/v1/compare?base=1&candidate=2&rule=x",
          "/api/v1/compare?base=1&candidate=2&metric=",
          "/api/v1/compare?base=6&candidate=1",
          "/api/v1/compare?base=1&candidate=9",
          "/api/v1/compare?base=5&candidate=1",
          "/api/v1/compare?base=1&candidate=night:1970-01-09",
          "/api/v1/compare?base=1&candidate=build:v3",
          "/api/v1/compare?base=1,5&candidate=2,1:v2"},
     .brief = true},
    {.method = "GET",
     .targets = {"/api/v1/jobs/1/report", "/api/v1/jobs/1/report?full=false&view=last:1&metric=frames",
                 "/api/v1/jobs/2/report?full=true", "/api/v1/jobs/1/report?full=1",
                 "/api/v1/jobs/1/report?view=x", "/api/v1/jobs/1/report?metric=",
                 "/api/v1/jobs/1/report?metric=x", "/api/v1/jobs/6/report", "/api/v1/jobs/4/report",
                 "/api/v1/jobs/7/report", "/api/v1/runs/01290000000000000000000000000000/report",
                 "/api/v1/runs/01290000000000000000000000000000/report?full=true&view=fenced&metric=frames",
                 "/api/v1/runs/01290000000000000000000000000000/report?metric=x",
                 "/api/v1/runs/ff290000000000000000000000000000/report"},
     .brief = true},
    {.method = "GET",
     .targets = {"/api/v1/jobs/1/reproduce", "/api/v1/jobs/2/reproduce", "/api/v1/jobs/3/reproduce",
                 "/api/v1/jobs/4/reproduce", "/api/v1/jobs/5/reproduce", "/api/v1/jobs/7/reproduce"}},
    {.method = "GET",
     .targets = {"/api/v1/jobs/2/reproduction",
                 "/api/v1/jobs/2/reproduction?run=01290000000000000000000000000000",
                 "/api/v1/jobs/2/reproduction?run=02690000000000000000000000000000",
                 "/api/v1/jobs/2/reproduction?run=x", "/api/v1/jobs/1/reproduction",
                 "/api/v1/jobs/4/reproduction", "/api/v1/jobs/6/reproduction",
                 "/api/v1/jobs/7/reproduction"}},
    {.method = "GET",
     .targets = {"/api/v1/builds", "/api/v1/builds?limit=1", "/api/v1/builds?limit=1000&text=w",
                 "/api/v1/builds?limit=0", "/api/v1/builds?limit=1001", "/api/v1/builds?since=-1",
                 "/api/v1/builds?until=-1", "/api/v1/builds?since=86400000000000&until=86400000000000",
                 "/api/v1/builds?since=86400000000001&until=172799999999999",
                 "/api/v1/builds?text=V&benchmark=BLUR&device=bench", "/api/v1/builds?text=w",
                 "/api/v1/builds?benchmark=q", "/api/v1/builds?device=sim"}},
    {.method = "GET",
     .targets = {"/api/v1/history",
                 "/api/v1/history?limit=2",
                 "/api/v1/history?limit=1000&device=sim&arm=base",
                 "/api/v1/history?limit=0",
                 "/api/v1/history?limit=1001",
                 "/api/v1/history?metric=frames&arm=v2",
                 "/api/v1/history?metric=none",
                 "/api/v1/history?device=sim",
                 "/api/v1/history?text=q&arm=base",
                 "/api/v1/history?build=v2",
                 "/api/v1/history?arm=base&since=86400000000000&until=172800000000000",
                 "/api/v1/history?arm=base&device=bench&since=86400000000001",
                 "/api/v1/history?arm=base&device=bench&until=172799999999999",
                 "/api/v1/history?since=86400000000001&until=172799999999999",
                 "/api/v1/history?arm=base&device=bench&since=86400000000000&until=86400000000000&level=0.5",
                 "/api/v1/history?level=0.9999&device=bench&arm=base",
                 "/api/v1/history?level=0.49",
                 "/api/v1/history?level=1",
                 "/api/v1/history?since=-1",
                 "/api/v1/history?until=-1",
                 "/api/v1/history?window=2"}},
    {.method = "GET",
     .targets = {HISTORY_OF_BASE, HISTORY_OF_BASE "?metric=frames&build=v2", HISTORY_OF_BASE "?build=none",
                 HISTORY_OF_BASE
                 "?since=86400000000001&until=172800000000000&level=0.5&margin_ratio=0&p_max=1e-12&window=2",
                 HISTORY_OF_BASE
                 "?until=172799999999999&level=0.9999&margin_ratio=10&p_max=0.999&window=10000",
                 HISTORY_OF_BASE "?metric=none", HISTORY_OF_BASE "?level=0.4999",
                 HISTORY_OF_BASE "?level=0.99991", HISTORY_OF_BASE "?margin_ratio=-1",
                 HISTORY_OF_BASE "?margin_ratio=11", HISTORY_OF_BASE "?p_max=0", HISTORY_OF_BASE "?p_max=1",
                 HISTORY_OF_BASE "?window=1", HISTORY_OF_BASE "?window=10001", HISTORY_OF_BASE "?since=x",
                 HISTORY_OF_BASE "?limit=1",
                 "/api/v1/history/0000000000000000000000000000000000000000000000000000000000000000"},
     .brief = true},
    {.method = "GET",
     .targets = {"/api/v1/jobs/1/export",
                 "/api/v1/jobs/2/export?format=json",
                 "/api/v1/jobs/1/export?format=csv",
                 "/api/v1/jobs/1/export?format=markdown",
                 "/api/v1/jobs/1/export?format=asciidoc&metric=frames",
                 "/api/v1/jobs/1/export?format=orgmode&view=discard-first:1,last:2",
                 "/api/v1/jobs/4/export?format=csv",
                 "/api/v1/jobs/5/export?format=csv",
                 "/api/v1/jobs/5/export?format=markdown",
                 "/api/v1/jobs/5/export",
                 "/api/v1/jobs/6/export?format=csv",
                 "/api/v1/jobs/7/export?format=csv",
                 "/api/v1/jobs/7/export?format=markdown",
                 "/api/v1/jobs/1/export?view=last:1",
                 "/api/v1/jobs/1/export?metric=frames",
                 "/api/v1/jobs/1/export?format=csv&view=last:1",
                 "/api/v1/jobs/1/export?format=json&metric=frames",
                 "/api/v1/jobs/1/export?format=markdown&view=x",
                 "/api/v1/jobs/1/export?format=markdown&metric=x",
                 "/api/v1/jobs/1/export?format=x",
                 "/api/v1/jobs/1/export?format=x&view=last:1",
                 "/api/v1/jobs/1/export?format=",
                 "/api/v1/jobs/1/compare?tables=html",
                 "/api/v1/compare?base=1:base&candidate=1:v2&tables="}},
    {.method = "GET",
     .targets = {"/api/v1/jobs/1/events", "/api/v1/jobs/1/events?after=2", "/api/v1/jobs/2/events?after=5",
                 "/api/v1/jobs/4/events", "/api/v1/jobs/5/events", "/api/v1/jobs/1/events?after=-1",
                 "/api/v1/jobs/7/events"}},
    {.method = "GET",
     .targets = {"/api/v1/files/" SHA_OF_HELLO, "/api/v1/files/" SHA_OF_ARM, "/api/v1/files/ab"}},
    {.method = "HEAD",
     .targets = {"/healthz", "/api/v1/jobs/7", "/api/v1/files/" SHA_OF_HELLO, "/api/v1/files/" SHA_OF_ARM}},
    {.method = "PUT", .targets = {"/api/v1/files/" SHA_OF_HELLO}, .body = "hello"},
    {.method = "PUT", .targets = {"/api/v1/files/" SHA_OF_ARM}, .body = "hello"},
    {.method = "DELETE",
     .targets = {"/api/v1/files/" SHA_OF_HELLO, "/api/v1/jobs/1", "/api/v1/jobs/x", "/api/v1/nothing"}},
    {.method = "OPTIONS", .targets = {"/healthz", "/api/v1/jobs", "/api/v1/events"}},
    {.method = "POST",
     .targets = {"/healthz", "/api/v1/jobs/1:cancel", "/api/v1/jobs/3:cancel", "/api/v1/jobs/7:cancel"}},
    {.method = "POST",
     .targets = {"/api/v1/devices/local:clean", "/api/v1/devices/local:clean", "/api/v1/devices/:clean",
                 "/api/v1/devices/abcdefghijabcdefghijabcdefghijabcdefghijabcdefghijabcdefghijabc:clean",
                 "/api/v1/devices/abcdefghijabcdefghijabcdefghijabcdefghijabcdefghijabcdefghijabcd:clean",
                 "/api/v1/devices/"
                 "abcdefghijabcdefghijabcdefghijabcdefghijabcdefghijabcdefghijabcde:clean",
                 "/api/v1/devices/local:cleam", "/api/v1/devices/local:clean?x"}},
    {.method = "POST",
     .targets = {"/api/v1/jobs:validate", "/api/v1/jobs:validate?name=a.yaml", "/api/v1/jobs:validate?name="},
     .body = "quiesce: 1\nbenchmark: []\n"},
    {.method = "POST",
     .targets = {"/api/v1/jobs:validate"},
     .body = "quiesce: 1\nbenchmarks: [{name: x, argv: [./x], inputs: {in: ../b.txt}}]\n"
             "arms: {a: {argv: [./y], conditions: cold}, b: {build: {label: r1}}}\n"
             "condition_sets: {cold: {stop: {fixed: 5}}}\nplan: {stop: {all: [{fixed: 9}, {fixed: "
             "7}]}, caps: {time: 5s, iterations: 11}}\n"},
};

/* Reals to nine digits: the last ones depend on the compiler. */
static json_t *rounded(const json_t *value)
{
    char text[40];
    size_t i;
    const char *key;
    json_t *copy, *member;
    if (json_is_real(value)) {
        snprintf(text, sizeof text, "%.9g", json_real_value(value));
        return json_real(strtod(text, NULL));
    }
    copy = json_is_array(value)    ? json_array()
           : json_is_object(value) ? json_object()
                                   : json_deep_copy(value);
    json_array_foreach(value, i, member) json_array_append_new(copy, rounded(member));
    json_object_foreach((json_t *)(uintptr_t)value, key, member)
        json_object_set_new(copy, key, rounded(member));
    return copy;
}

/* A small object without others in it. */
static bool is_flat(const json_t *value)
{
    const char *key;
    json_t *member;
    bool flat = json_is_object(value) && json_object_size(value) <= 6;
    json_object_foreach((json_t *)(uintptr_t)value, key, member) flat =
        flat && !json_is_array(member) && !json_is_object(member);
    return flat;
}

/* In place of what a list or an object has: how many. */
static void shorten(json_t *object)
{
    const char *key;
    json_t *value;
    void *next;
    json_object_foreach_safe(object, next, key, value)
    {
        size_t n = json_is_array(value) ? json_array_size(value) : json_object_size(value);
        if (json_is_array(value) || (json_is_object(value) && !is_flat(value)))
            json_object_set_new(object, key, json_sprintf("%zu in it", n));
    }
}

/* A line for each element of a list. */
static void put_json(struct qs_buf *out, const json_t *value)
{
    char *text = json_dumps(value, JSON_COMPACT | JSON_REAL_PRECISION(9));
    for (const char *s = text; *s; s++)
        qs_buf_fmt(out, strncmp(s, "},{", 3) == 0 ? "%c\n " : "%c", *s);
    free(text);
    qs_buf_char(out, '\n');
}

/* Code and message; the advice belongs to the code. */
static void put_error(struct qs_buf *out, const json_t *error)
{
    const char *text = json_string_value(json_object_get(error, "text"));
    qs_buf_fmt(out, "%s: %s\n%s", json_string_value(json_object_get(error, "code")),
               json_string_value(json_object_get(error, "message")), text ? text : "");
    if (json_object_get(error, "routes"))
        qs_buf_fmt(out, "and the %zu routes\n", json_array_size(json_object_get(error, "routes")));
}

static void put_head(struct qs_buf *out, const struct answer *a)
{
    static const char *const told[] = {"\r\nContent-Type: ", "\r\nAllow: "};
    qs_buf_fmt(out, "%d", a->status);
    for (size_t i = 0; i < 2; i++) {
        const char *value = strstr(a->head.data, told[i]);
        if (value)
            qs_buf_fmt(out, " %.*s", (int)strcspn(value + strlen(told[i]), "\r"), value + strlen(told[i]));
    }
    qs_buf_char(out, '\n');
    assert_non_null(strstr(a->head.data, "\r\nCache-Control: no-store\r\n"));
    assert_non_null(strstr(a->head.data, "\r\nX-Content-Type-Options: nosniff\r\n"));
}

static void put_answer(struct fixture *f, const struct request *request, const char *target,
                       struct qs_buf *out)
{
    struct answer a =
        fetch(f, request->method, target, NULL, request->body, request->body ? strlen(request->body) : 0);
    qs_buf_fmt(out, "\n%s %s\n", request->method, target);
    put_head(out, &a);
    if (a.status >= 400 && a.json) {
        put_error(out, json_object_get(a.json, "error"));
    } else if (a.json) {
        json_t *copy = rounded(a.json);
        (void)json_object_del(copy, "quiesce"); /* the comparison stands by itself */
        (void)json_object_del(copy, "db");
        (void)json_object_del(copy, "pid");
        (void)json_object_del(copy, "uptime_ns");
        if (request->brief)
            shorten(copy);
        put_json(out, copy);
        json_decref(copy);
    } else {
        qs_buf_add(out, a.body.data, a.body.len);
    }
    answer_done(&a);
}

static char *read_golden(const char *path)
{
    char block[4096];
    struct qs_buf text;
    FILE *in = fopen(path, "rb");
    qs_buf_init(&text);
    for (size_t n; in && (n = fread(block, 1, sizeof block, in)) > 0;)
        qs_buf_add(&text, block, n);
    if (in)
        fclose(in);
    return qs_buf_take(&text);
}

/* Where they differ first: the request above and the line. */
static void is_golden(const char *got)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/answers.txt", golden_dir);
    char *want = read_golden(path);
    if (strcmp(want, got) != 0) {
        size_t n = 0;
        while (want[n] && want[n] == got[n])
            n++;
        while (n > 0 && strncmp(got + n - 1, "\n\n", 2) != 0)
            n--;
        FILE *out = fopen("answers.txt.got", "wb");
        assert_true(out && fputs(got, out) >= 0 && fclose(out) == 0);
        fail_msg("%s differs from answers.txt.got at:%.1500s", path, got + n);
    }
    free(want);
}

static void every_answer_is_as_it_was(void **state)
{
    struct fixture *f = *state;
    struct qs_buf out;
    world_make(f);
    stop_api(f);
    start_api(f); /* what was stored above was in a former life of it */
    f->farm.progress = "{\"block\":7}";
    f->farm.live = 3;
    qs_buf_init(&out);
    for (size_t i = 0; i < sizeof requests / sizeof *requests; i++)
        for (size_t k = 0; requests[i].targets[k]; k++)
            put_answer(f, &requests[i], requests[i].targets[k], &out);
    is_golden(out.data);
    qs_buf_done(&out);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_answer_is_as_it_was, setup, teardown),
    };
    golden_dir = argc > 1 ? argv[1] : "tests/golden/api";
    setenv("TZ", "UTC", 1); /* nights are days here */
    return cmocka_run_group_tests_name("answers", tests, NULL, NULL);
}
