/* Every route: what it gives, and what it refuses. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/owner.h"
#include "fixture.h"

static const char sha_of_hello[] = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824";

static struct answer post(struct fixture *f, const char *target, const char *headers, const char *body)
{
    return fetch(f, "POST", target, headers, body, strlen(body));
}

static const json_t *item(const struct answer *a, const char *list, size_t i)
{
    return json_array_get(json_object_get(a->json, list), i);
}

static void health_version_and_devices(void **state)
{
    struct fixture *f = *state;
    struct answer a = get(f, "/healthz");
    assert_int_equal(a.status, 200);
    assert_string_equal(a.body.data, "{\"ok\":true}\n");
    answer_done(&a);
    a = get(f, "/api/v1/version");
    assert_string_equal(text_at(&a, "version"), "9.8.7");
    assert_int_equal(int_at(&a, "pid"), getpid());
    assert_string_equal(text_at(&a, "db"), qs_store_path(f->store));
    assert_true(int_at(&a, "uptime_ns") >= 0);
    answer_done(&a);
    a = get(f, "/api/v1/devices");
    assert_string_equal(json_string_value(json_object_get(item(&a, "devices", 0), "name")), "local");
    answer_done(&a);
    a = fetch(f, "HEAD", "/healthz", NULL, NULL, 0);
    assert_int_equal(a.status, 200);
    assert_int_equal(a.body.len, 0);
    assert_non_null(strstr(a.head.data, "Content-Length: 12"));
    answer_done(&a);
}

static void validate_says_what_a_job_needs(void **state)
{
    struct fixture *f = *state;
    struct answer a = post(f, "/api/v1/jobs:validate?name=j.yaml", NULL, job_text);
    assert_int_equal(a.status, 200);
    assert_string_equal(text_at(&a, "name"), "sleepers");
    assert_string_equal(json_string_value(item(&a, "arms", 1)), "b");
    assert_int_equal(json_array_size(json_object_get(a.json, "points")), 1);
    assert_string_equal(json_string_value(item(&a, "devices", 0)), "local");
    answer_done(&a);
    a = post(f, "/api/v1/jobs:validate", NULL,
             "quiesce: 1\nbenchmarks: [{name: x, argv: [./x], inputs: {in: ../a/b.txt}}]\n");
    assert_int_equal(a.status, 200);
    assert_string_equal(json_string_value(json_object_get(item(&a, "files", 0), "path")), "../a/b.txt");
    answer_done(&a);
}

static void validate_locates_mistakes(void **state)
{
    struct fixture *f = *state;
    struct answer a =
        post(f, "/api/v1/jobs:validate?name=my%20job.yaml", NULL, "quiesce: 1\nbenchmarcks: []\n");
    const json_t *error = json_object_get(a.json, "error");
    const json_t *problem =
        json_array_get(json_object_get(error, "problems"), 1); /* 0: `benchmarks` is missing */
    assert_int_equal(a.status, 400);
    assert_int_equal(json_integer_value(json_object_get(problem, "line")), 2);
    assert_int_equal(json_integer_value(json_object_get(problem, "column")), 1);
    assert_string_equal(json_string_value(json_object_get(problem, "quote")), "benchmarcks: []");
    assert_non_null(strstr(json_string_value(json_object_get(problem, "suggestion")), "benchmarks"));
    assert_non_null(strstr(json_string_value(json_object_get(error, "text")), "my job.yaml:2:1"));
    assert_error(a, 400, "job");
    assert_error(post(f, "/api/v1/jobs:validate", NULL, ""), 400, "job");
    assert_error(post(f, "/api/v1/jobs:validate", NULL, "a: \xff\xfe\n"), 400, "job");
}

static void files_come_by_content(void **state)
{
    struct fixture *f = *state;
    char path[128];
    struct answer a;
    snprintf(path, sizeof path, "/api/v1/files/%s", sha_of_hello);
    a = fetch(f, "HEAD", path, NULL, NULL, 0);
    assert_int_equal(a.status, 404);
    answer_done(&a);
    assert_error(fetch(f, "PUT", path, NULL, "jello", 5), 409, "conflict");
    assert_false(qs_files_has(f->files, sha_of_hello));
    a = fetch(f, "PUT", path, NULL, "hello", 5);
    assert_int_equal(a.status, 201);
    assert_string_equal(text_at(&a, "sha256"), sha_of_hello);
    answer_done(&a);
    assert_true(qs_files_has(f->files, sha_of_hello));
    a = fetch(f, "PUT", path, NULL, "hello", 5);
    assert_int_equal(a.status, 200);
    answer_done(&a);
    a = fetch(f, "HEAD", path, NULL, NULL, 0);
    assert_int_equal(a.status, 200);
    answer_done(&a);
}

static char *submission(const char *text, const char *more)
{
    json_t *string = json_string(text);
    char *quoted = json_dumps(string, JSON_ENCODE_ANY), *body = malloc(strlen(quoted) + 400);
    sprintf(body, "{\"text\":%s%s}", quoted, more);
    json_decref(string);
    free(quoted);
    return body;
}

static void submit_stores_a_job(void **state)
{
    struct fixture *f = *state;
    char owner[QS_API_NAME_BYTES],
        *body = submission(job_text, ",\"name\":\"j.yaml\",\"files\":{},\"wait\":false");
    f->farm.why = "job 1 is before it";
    f->farm.why_code = "queue";
    f->farm.position = 2;
    struct answer a = post(f, "/api/v1/jobs", NULL, body);
    assert_int_equal(a.status, 201);
    assert_int_equal(int_at(&a, "id"), 1);
    assert_int_equal(int_at(&a, "position"), 2);
    assert_string_equal(text_at(&a, "state"), "queued");
    assert_true(qs_owner_look_up(getuid(), owner));
    assert_string_equal(f->farm.owner, owner);
    answer_done(&a);
    free(body);
}

static void a_key_is_submitted_once(void **state)
{
    struct fixture *f = *state;
    char *body = submission(job_text, ""),
         *other = submission("quiesce: 1\nbenchmarks: [{name: x, argv: [x]}]\n", "");
    struct answer a = post(f, "/api/v1/jobs", "Idempotency-Key: k1\r\n", body);
    assert_int_equal(a.status, 201);
    answer_done(&a);
    a = post(f, "/api/v1/jobs", "Idempotency-Key: k1\r\n", body);
    assert_int_equal(a.status, 200);
    assert_int_equal(int_at(&a, "id"), 1);
    answer_done(&a);
    assert_error(post(f, "/api/v1/jobs", "Idempotency-Key: k1\r\n", other), 409, "conflict");
    assert_error(post(f, "/api/v1/jobs", "Idempotency-Key: a b\r\n", body), 400, "usage");
    stop_api(f);
    start_api(f); /* another life knows old numbers */
    a = post(f, "/api/v1/jobs", "Idempotency-Key: k1\r\n", body);
    assert_int_equal(a.status, 200);
    answer_done(&a);
    free(body);
    free(other);
}

static void bad_submissions(void **state)
{
    static const struct {
        const char *body, *code;
    } bad[] = {
        {"", "usage"},
        {"[]", "usage"},
        {"{\"text\":1}", "usage"},
        {"{\"text\":\"x\",\"text\":\"y\"}", "usage"},
        {"{\"text\":\"\\u0000\"}", "usage"},
        {"{\"text\":\"\xff\"}", "usage"},
        {"{\"text\":\"x\"} tail", "usage"},
        {"{\"text\":\"x\",\"nmae\":\"y\"}", "usage"},
        {"{\"text\":\"x\",\"name\":\"\"}", "usage"},
        {"{\"text\":\"x\",\"wait\":1}", "usage"},
        {"{\"text\":\"x\",\"files\":[]}", "usage"},
        {"{\"text\":\"x\",\"files\":{\"a\":\"../../../etc/passwd\"}}", "usage"},
        {"{\"text\":\"x: 1\"}", "job"},
    };
    struct fixture *f = *state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_error(post(f, "/api/v1/jobs", NULL, bad[i].body), 400, bad[i].code);
    struct answer a = get(f, "/api/v1/jobs");
    assert_int_equal(json_array_size(json_object_get(a.json, "jobs")), 0);
    answer_done(&a);
    struct qs_buf deep;
    qs_buf_init(&deep);
    for (int i = 0; i < 100000; i++)
        qs_buf_char(&deep, '[');
    assert_error(post(f, "/api/v1/jobs", NULL, deep.data), 400, "usage");
    qs_buf_done(&deep);
}

static void jobs_are_listed_and_shown(void **state)
{
    struct fixture *f = *state;
    for (int i = 0; i < 3; i++)
        (void)submit(f);
    struct answer a = get(f, "/api/v1/jobs?limit=2");
    assert_int_equal(json_array_size(json_object_get(a.json, "jobs")), 2);
    assert_int_equal(json_integer_value(json_object_get(item(&a, "jobs", 0), "id")), 3);
    answer_done(&a);
    a = get(f, "/api/v1/jobs?before=2");
    assert_int_equal(json_array_size(json_object_get(a.json, "jobs")), 1);
    answer_done(&a);
    f->farm.why = "job 2 runs";
    f->farm.why_code = "queue";
    f->farm.position = 1;
    f->farm.progress = "{\"block\":7}";
    a = get(f, "/api/v1/jobs/3");
    assert_int_equal(a.status, 200);
    assert_string_equal(text_at(&a, "spec"), job_text);
    assert_string_equal(text_at(&a, "why"), "job 2 runs");
    assert_string_equal(text_at(&a, "seed"), "18446744073709551615");
    assert_string_equal(json_string_value(item(&a, "arms", 0)), "a");
    assert_int_equal(json_integer_value(json_object_get(json_object_get(a.json, "progress"), "block")), 7);
    assert_true(json_is_null(json_object_get(a.json, "started_wall_ns")));
    answer_done(&a);
    assert_error(get(f, "/api/v1/jobs/4"), 404, "not-found");
    assert_error(get(f, "/api/v1/jobs?limit=0"), 400, "usage");
    assert_error(get(f, "/api/v1/jobs?limit=1001"), 400, "usage");
    assert_error(get(f, "/api/v1/jobs?before=x"), 400, "usage");
}

static void cancel_reaches_the_farm(void **state)
{
    struct fixture *f = *state;
    f->farm.live = submit(f);
    struct answer a = post(f, "/api/v1/jobs/1:cancel", NULL, "");
    assert_int_equal(a.status, 200);
    assert_string_equal(text_at(&a, "state"), "cancelling"); /* its window has to end first */
    assert_int_equal(f->farm.cancelled, 1);
    assert_non_null(strstr(f->farm.cancel_why, "cancelled by "));
    answer_done(&a);
    f->farm.live = 0;
    set_state(f, 1, QS_JOB_CANCELLED);
    assert_error(post(f, "/api/v1/jobs/1:cancel", NULL, ""), 409, "conflict");
    assert_error(post(f, "/api/v1/jobs/2:cancel", NULL, ""), 404, "not-found");
}

static void runs_and_iterations(void **state)
{
    struct fixture *f = *state;
    int64_t job = submit(f);
    measure(f, job, 3, 5);
    struct answer a = get(f, "/api/v1/jobs/1/runs?limit=2");
    assert_int_equal(json_array_size(json_object_get(a.json, "runs")), 2);
    const json_t *run = item(&a, "runs", 1);
    assert_string_equal(json_string_value(json_object_get(run, "uid")), "01010000000000000000000000000000");
    assert_string_equal(json_string_value(json_object_get(run, "arm_name")), "b");
    assert_int_equal(json_integer_value(json_object_get(run, "n")), 5);
    assert_int_equal(json_integer_value(json_object_get(run, "n_tainted")), 1);
    assert_int_equal(json_integer_value(json_object_get(run, "windows")), 1);
    assert_true(json_is_null(json_object_get(run, "exe_path")));
    char next[64];
    snprintf(next, sizeof next, "/api/v1/jobs/1/runs?after=%lld",
             (long long)json_integer_value(json_object_get(run, "id")));
    answer_done(&a);
    a = get(f, next);
    assert_int_equal(json_array_size(json_object_get(a.json, "runs")), 1);
    answer_done(&a);
    a = get(f, "/api/v1/runs/01010000000000000000000000000000");
    assert_int_equal(json_array_size(json_object_get(a.json, "windows")), 1);
    assert_string_equal(json_string_value(json_object_get(json_object_get(a.json, "environment"), "kernel")),
                        "6.1");
    answer_done(&a);
    a = get(f, "/api/v1/runs/01010000000000000000000000000000/iterations?from=2&limit=2");
    assert_int_equal(int_at(&a, "next"), 4);
    const json_t *it = item(&a, "iterations", 0);
    assert_int_equal(json_integer_value(json_object_get(it, "seq")), 2);
    assert_int_equal(json_integer_value(json_object_get(it, "duration_ns")), 1500201);
    assert_int_equal(json_integer_value(json_object_get(it, "user_time_us")), 100);
    answer_done(&a);
    a = get(f, "/api/v1/runs/01010000000000000000000000000000/iterations?from=4");
    assert_true(json_is_null(json_object_get(a.json, "next")));
    it = json_object_get(item(&a, "iterations", 0), "taint");
    assert_string_equal(json_string_value(json_array_get(it, 0)), "exit");
    answer_done(&a);
    assert_error(get(f, "/api/v1/jobs/9/runs"), 404, "not-found");
    assert_error(get(f, "/api/v1/runs/ffffffffffffffffffffffffffffffff"), 404, "not-found");
    assert_error(get(f, "/api/v1/runs/ffffffffffffffffffffffffffffffff/iterations"), 404, "not-found");
    assert_error(get(f, "/api/v1/runs/01010000000000000000000000000000/iterations?limit=10001"), 400,
                 "usage");
}

static void comparison_only_when_ended(void **state)
{
    struct fixture *f = *state;
    int64_t job = submit(f);
    measure(f, job, 24, 5);
    assert_error(get(f, "/api/v1/jobs/1/compare"), 409, "conflict");
    assert_error(get(f, "/api/v1/jobs/1/export?format=csv"), 409, "conflict");
    assert_error(get(f, "/api/v1/jobs/1/export?format=json"), 409, "conflict");
    set_state(f, job, QS_JOB_RUNNING);
    assert_error(get(f, "/api/v1/jobs/1/compare"), 409, "conflict");
    set_state(f, job, QS_JOB_DONE);
    struct answer a = get(f, "/api/v1/jobs/1/compare");
    assert_int_equal(a.status, 200);
    const json_t *c = json_array_get(json_object_get(item(&a, "results", 0), "comparisons"), 0);
    assert_string_equal(json_string_value(json_object_get(c, "candidate_arm")), "b");
    double ratio = json_number_value(json_object_get(c, "ratio"));
    assert_true(ratio > 1.45 && ratio < 1.55);
    answer_done(&a);
    assert_error(get(f, "/api/v1/jobs/2/compare"), 404, "not-found");
}

static void sides_are_compared(void **state)
{
    struct fixture *f = *state;
    int64_t job = submit(f);
    measure(f, job, 24, 5);
    assert_error(get(f, "/api/v1/compare?base=1:a&candidate=1:b"), 409, "conflict");
    set_state(f, job, QS_JOB_DONE);
    struct answer a = get(f, "/api/v1/compare?base=1:a&candidate=1:b&margin_ratio=0.05&alpha=0.1&rule=judge");
    assert_int_equal(a.status, 200);
    const json_t *device = json_array_get(json_object_get(item(&a, "results", 0), "devices"), 0);
    const json_t *c = json_array_get(json_object_get(device, "comparisons"), 0);
    assert_string_equal(json_string_value(json_object_get(c, "verdict")), "regression");
    assert_string_equal(json_string_value(json_object_get(c, "units_of")), "blocks");
    assert_int_equal(json_array_size(json_object_get(c, "opinions")), 1);
    assert_true(json_number_value(json_object_get(a.json, "margin_ratio")) == 0.05);
    answer_done(&a);
    assert_error(get(f, "/api/v1/compare?base=1"), 400, "usage");
    assert_error(get(f, "/api/v1/compare?base=1&candidate=x"), 400, "usage");
    assert_error(get(f, "/api/v1/compare?base=1&candidate=1:c"), 404, "not-found");
    assert_error(get(f, "/api/v1/compare?base=1&candidate=build:v2"), 404, "not-found");
    assert_error(get(f, "/api/v1/compare?base=1&candidate=night:2001-01-01"), 404, "not-found");
    assert_error(get(f, "/api/v1/compare?base=1:a&candidate=1:b&alpha=0.6"), 400, "usage");
    assert_error(get(f, "/api/v1/compare?base=1:a&candidate=1:b&margin_ratio=2%25"), 400, "usage");
    assert_error(get(f, "/api/v1/compare?base=1:a&candidate=1:b&metric=,"), 400, "usage");
    assert_error(get(f, "/api/v1/compare?base=1:a&candidate=1:b&metric=cycles"), 404, "not-found");
    assert_error(get(f, "/api/v1/compare?base=1:a&candidate=1:b&rule=x"), 400, "usage");
}

/* The report on a job is shown when it has ended, and so is that on any of its runs. */
static void reports_only_when_ended(void **state)
{
    struct fixture *f = *state;
    int64_t job = submit(f);
    measure(f, job, 24, 5);
    assert_error(get(f, "/api/v1/jobs/1/report"), 409, "conflict");
    assert_error(get(f, "/api/v1/runs/01010000000000000000000000000000/report"), 409, "conflict");
    set_state(f, job, QS_JOB_DONE);
    struct answer a = get(f, "/api/v1/jobs/1/report?view=discard-first:1,fenced");
    assert_int_equal(a.status, 200);
    const json_t *arm = json_array_get(json_object_get(item(&a, "results", 0), "arms"), 1);
    assert_string_equal(json_string_value(json_object_get(arm, "name")), "b");
    const json_t *duration = json_array_get(json_object_get(arm, "metrics"), 0);
    assert_int_equal(json_array_size(json_object_get(duration, "views")), 2);
    assert_non_null(json_object_get(json_object_get(duration, "sample"), "describe"));
    assert_null(json_object_get(json_object_get(duration, "sample"), "bootstrap_mean"));
    answer_done(&a);
    a = get(f, "/api/v1/runs/01010000000000000000000000000000/report?full=true");
    assert_int_equal(a.status, 200);
    assert_non_null(json_object_get(json_object_get(item(&a, "metrics", 0), "sample"), "bootstrap_mean"));
    answer_done(&a);
    a = get(f, "/api/v1/jobs/1/compare?view=last:2");
    assert_int_equal(json_array_size(json_object_get(a.json, "views")), 1);
    answer_done(&a);
    assert_error(get(f, "/api/v1/jobs/1/report?view=first:1"), 400, "usage");
    assert_error(get(f, "/api/v1/jobs/1/compare?view=last"), 400, "usage");
    assert_error(get(f, "/api/v1/runs/01010000000000000000000000000000/report?full=yes"), 400, "usage");
    assert_error(get(f, "/api/v1/jobs/2/report"), 404, "not-found");
    assert_error(get(f, "/api/v1/runs/ffffffffffffffffffffffffffffffff/report"), 404, "not-found");
}

static void exports(void **state)
{
    struct fixture *f = *state;
    int64_t job = submit(f);
    measure(f, job, 24, 5);
    set_state(f, job, QS_JOB_DONE);
    struct answer a = get(f, "/api/v1/jobs/1/export?format=json");
    assert_int_equal(json_array_size(json_object_get(a.json, "results")), 2);
    const json_t *b = item(&a, "results", 1);
    assert_string_equal(json_string_value(json_object_get(b, "command")), "sleep 0.01");
    assert_int_equal(json_array_size(json_object_get(b, "times")), 12 * 4);
    assert_int_equal(json_array_size(json_object_get(b, "exit_codes")), 12 * 4);
    assert_true(json_number_value(json_array_get(json_object_get(b, "times"), 0)) == 0.001500001);
    assert_true(json_number_value(json_object_get(b, "user")) > 0.000099);
    assert_true(json_is_object(json_object_get(a.json, "quiesce")));
    answer_done(&a);
    a = get(f, "/api/v1/jobs/1/export?format=markdown");
    assert_non_null(strstr(a.head.data, "text/markdown"));
    assert_non_null(strstr(a.body.data, "| b: `sleep 0.01` | 1.50 ms |"));
    answer_done(&a);
    a = get(f, "/api/v1/jobs/1/export?format=asciidoc");
    assert_non_null(strstr(a.body.data, "\n| b: `sleep 0.01` | 1.50 ms |"));
    answer_done(&a);
    a = get(f, "/api/v1/jobs/1/export?format=orgmode");
    assert_non_null(strstr(a.body.data, "| b: ~sleep 0.01~ | 1.50 ms |"));
    answer_done(&a);
    assert_error(get(f, "/api/v1/jobs/1/export?format=xml"), 400, "usage");
}

/* More than one page of a run: every iteration once, in order, with its build and its point by their labels.
 */
static void csv_has_every_iteration(void **state)
{
    static const char text[] = "quiesce: 1\nbenchmarks: [{name: \"sleep, twice\", argv: [sleep]}]\n"
                               "arms: {a: {argv: [sleep]}, b: {build: {label: v2}}}\n";
    struct fixture *f = *state;
    char *body = submission(text, ",\"name\":\"j.yaml\",\"files\":{}");
    struct answer made = post(f, "/api/v1/jobs", NULL, body);
    assert_int_equal(made.status, 201);
    int64_t job = int_at(&made, "id");
    answer_done(&made);
    free(body);
    measure(f, job, 3, 2500);
    set_state(f, job, QS_JOB_DONE);
    struct answer a = get(f, "/api/v1/jobs/1/export?format=csv");
    static const char head[] = "run,arm,build,point,label,device,block,pos,seq,duration_ns,evals,taint,"
                               "status,phase,conditions,user_time_us";
    assert_memory_equal(a.body.data, head, sizeof head - 1);
    size_t lines = 0;
    const char *line = strchr(a.body.data, '\n') + 1;
    for (; *line; line = strchr(line, '\n') + 1, lines++) {
        static const char *const what[] = {",a,,0,\"sleep, twice\",", ",b,v2,0,\"sleep, twice\","};
        const char *known = what[lines / 2500 % 2];
        char device[8], taint[8] = "";
        unsigned block, pos, seq;
        long long ns;
        assert_memory_equal(line + 32, known, strlen(known));
        assert_true(sscanf(line + 32 + strlen(known), "%7[a-z],%u,%u,%u,%lld,1,%7[a-z]", device, &block, &pos,
                           &seq, &ns, taint) >= 5);
        assert_int_equal(seq, lines % 2500);
        assert_int_equal(pos, lines / 2500 % 2);
        assert_int_equal(ns, 1000000 + 500000 * pos + seq % 7 * 100 + lines / 2500);
        assert_string_equal(taint, seq == 2499 ? "exit" : "");
    }
    assert_int_equal(lines, 7500);
    answer_done(&a);
    a = get(f, "/api/v1/jobs/1/export?format=markdown");
    assert_non_null(strstr(a.body.data, "| a: `sleep` |"));
    assert_non_null(strstr(a.body.data, "| b (build v2): `sleep` |"));
    answer_done(&a);
}

static void wait_answers_at_the_end(void **state)
{
    struct fixture *f = *state;
    char *body = submission(job_text, ",\"wait\":true");
    struct client *c = client_open(f);
    struct qs_buf request;
    qs_buf_init(&request);
    qs_buf_fmt(&request,
               "POST /api/v1/jobs HTTP/1.1\r\nHost: q\r\nConnection: close\r\nContent-Length: %zu\r\n\r\n%s",
               strlen(body), body);
    client_send(c, request.data, request.len);
    settle(f);
    set_state(f, 1, QS_JOB_RUNNING);
    happen(f, 1, "job.state", "{\"state\":\"running\"}");
    settle(f);
    assert_int_equal(c->in.len, 0);
    set_state(f, 1, QS_JOB_DONE);
    happen(f, 1, "job.state", "{\"state\":\"done\"}");
    client_until(c, NULL);
    struct answer a = parse(&c->in);
    assert_int_equal(a.status, 201);
    assert_string_equal(text_at(&a, "state"), "done");
    answer_done(&a);
    client_close(c);
    c = client_open(f); /* another that waits, and leaves */
    client_send(c, request.data, request.len);
    settle(f);
    assert_int_equal(f->clients, 1);
    client_close(c);
    while (f->clients > 0)
        qs_loop_run(f->loop);
    qs_buf_done(&request);
    free(body);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(health_version_and_devices, setup, teardown),
        cmocka_unit_test_setup_teardown(validate_says_what_a_job_needs, setup, teardown),
        cmocka_unit_test_setup_teardown(validate_locates_mistakes, setup, teardown),
        cmocka_unit_test_setup_teardown(files_come_by_content, setup, teardown),
        cmocka_unit_test_setup_teardown(submit_stores_a_job, setup, teardown),
        cmocka_unit_test_setup_teardown(a_key_is_submitted_once, setup, teardown),
        cmocka_unit_test_setup_teardown(bad_submissions, setup, teardown),
        cmocka_unit_test_setup_teardown(jobs_are_listed_and_shown, setup, teardown),
        cmocka_unit_test_setup_teardown(cancel_reaches_the_farm, setup, teardown),
        cmocka_unit_test_setup_teardown(runs_and_iterations, setup, teardown),
        cmocka_unit_test_setup_teardown(comparison_only_when_ended, setup, teardown),
        cmocka_unit_test_setup_teardown(sides_are_compared, setup, teardown),
        cmocka_unit_test_setup_teardown(reports_only_when_ended, setup, teardown),
        cmocka_unit_test_setup_teardown(exports, setup, teardown),
        cmocka_unit_test_setup_teardown(csv_has_every_iteration, setup, teardown),
        cmocka_unit_test_setup_teardown(wait_answers_at_the_end, setup, teardown),
    };
    return cmocka_run_group_tests_name("routes", tests, NULL, NULL);
}
