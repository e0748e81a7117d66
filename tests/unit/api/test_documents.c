/* What is computed from files of the request, and documents in other forms: exports, stored files. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fixture.h"

static const char sha_of_hello[] = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824";

static struct answer post(struct fixture *f, const char *target, const char *body)
{
    return fetch(f, "POST", target, NULL, body, strlen(body));
}

#define NUMBERS "\"text\":\"1 2 3 4 5 6 7\""
#define TWO     "\"files\":[{\"name\":\"a\"," NUMBERS "},{\"name\":\"b\",\"text\":\"2 4 6 8 10 12\"}]"
#define ZERO    "\xe2\x80\x8b" /* a space of no width */

/* `count` files whose names have so many bytes. */
static void analyses(struct fixture *f, size_t count, size_t name_bytes, int status)
{
    struct qs_buf body;
    qs_buf_init(&body);
    for (size_t i = 0; i < count; i++)
        qs_buf_fmt(&body, "%s{\"name\":\"%0*zu\"," NUMBERS "}", i > 0 ? "," : "{\"files\":[", (int)name_bytes,
                   i);
    qs_buf_str(&body, "]}");
    struct answer a = post(f, "/api/v1/analyze", body.data);
    assert_int_equal(a.status, status);
    answer_done(&a);
    qs_buf_done(&body);
}

static void lists_of_files_are_bounded(struct fixture *f)
{
    analyses(f, 64, 2, 200);
    analyses(f, 65, 2, 400);
    analyses(f, 1, 1000, 200);
    analyses(f, 1, 1001, 400);
}

static const struct {
    const char *body, *why;
} mistakes[] = {
    {"{", "the request is not valid JSON: line 1, column 1: "},
    {"{\"file\":[]}", "the request has an unknown key `file`: did you mean `files`?"},
    {"{\"files\":{}}", "`files` is a list of 1 to 64 files"},
    {"{\"files\":[]}", "`files` is a list of 1 to 64 files"},
    {"{\"files\":[{}]}", "an element of `files` has `name` and `text`, and may have `format`"},
    {"{\"files\":[{\"name\":\"a\",\"text\":7}]}", "an element of `files` has"},
    {"{\"files\":[{\"name\":7,\"text\":\"7\"}]}", "an element of `files` has"},
    {"{\"files\":[{\"name\":\"a\",\"text\":\"7\",\"format\":7}]}", "an element of `files` has"},
    {"{\"files\":[{\"name\":\"a\",\"text\":\"7\",\"x\":7}]}", "a file has an unknown key `x`"},
    {"{\"files\":[{\"name\":\"a\",\"text\":\"7\",\"format\":\"xml\"}]}",
     "`xml` is not a format: auto, numbers"},
    {"{" TWO ",\"options\":[]}", "`options` is an object"},
    {"{" TWO ",\"options\":{\"levle\":1}}", "options has an unknown key `levle`: did you mean `level`?"},
    {"{" TWO ",\"options\":{\"tables\":\"html\"}}", "options.tables is for a comparison of two files"},
    {"{" TWO ",\"options\":{\"level\":0.49}}", "options.level is a number from 0.5 to 0.9999"},
    {"{" TWO ",\"options\":{\"level\":\"0.9\"}}", "options.level is a number"},
    {"{" TWO ",\"options\":{\"margin_ratio\":11}}", "options.margin_ratio is a number from 0 to 10"},
    {"{" TWO ",\"options\":{\"resolution\":-1}}", "options.resolution is a number from 0 to 1e+15"},
    {"{" TWO ",\"options\":{\"change_window\":1}}", "options.change_window is a number from 2 to 10000"},
    {"{" TWO ",\"options\":{\"change_p_max\":1}}", "options.change_p_max is a number from 1e-12 to 0.999"},
    {"{" TWO ",\"options\":{\"resamples\":99}}", "options.resamples is a number from 100 to 100000"},
    {"{" TWO ",\"options\":{\"resamples\":100001}}", "options.resamples is a number from 100 to 100000"},
    {"{" TWO ",\"options\":{\"seed\":7}}", "options.seed is text: a whole number from 0 to 2^64-1"},
    {"{" TWO ",\"options\":{\"seed\":\"-7\"}}", "options.seed is text"},
    {"{" TWO ",\"options\":{\"seed\":\"7x\"}}", "options.seed is text"},
    {"{" TWO ",\"options\":{\"seed\":\"\"}}", "options.seed is text"},
    {"{" TWO ",\"options\":{\"seed\":\"18446744073709551616\"}}", "options.seed is text"},
    {"{" TWO ",\"options\":{\"seed\":\":\"}}", "options.seed is text"},
    {"{" TWO ",\"options\":{\"seed\":\"/\"}}", "options.seed is text"},
    {"{" TWO ",\"options\":{\"seed\":\" 9\"}}", "options.seed is text"},
    {"{" TWO ",\"options\":{\"margin_ratio\":-0.1}}", "options.margin_ratio is a number from 0 to 10"},
    {"{" TWO ",\"options\":{\"level\":1}}", "options.level is a number from 0.5 to 0.9999"},
    {"{" TWO ",\"options\":{\"resolution\":2e15}}", "options.resolution is a number"},
    {"{" TWO ",\"options\":{\"change_window\":10001}}", "options.change_window is a number"},
    {"{" TWO ",\"options\":{\"change_p_max\":0}}", "options.change_p_max is a number"},
    {"{" TWO ",\"options\":{\"zzzzzzzz\":7}}", "options has an unknown key `zzzzzzzz`"},
    {"{" TWO ",\"options\":{\"view\":\"x\"}}", "`x` is not a view"},
    {"{" TWO ",\"options\":{\"better\":\"Lower\"}}", "options.better is `lower` or `higher`"},
    {"{" TWO ",\"options\":{\"rule\":7}}", "options.rule is text: names with commas between"},
    {"{" TWO ",\"options\":{\"rule\":\"no-such\"}}", "`no-such` is not a rule: judge,"},
    {"{" TWO ",\"options\":{\"view\":7}}", "options.view is text: views with commas between"},
    {"{" TWO ",\"options\":{\"per\":\"block\"}}", "options.per is `run` or `iteration`"},
    {"{" TWO ",\"options\":{\"better\":true}}", "options.better is `lower` or `higher`"},
    {"{" TWO ",\"options\":{\"show\":\"some\"}}", "options.show is `all` or `page`"},
};

static void each_mistake_of_an_analysis_is_told(void **state)
{
    struct fixture *f = *state;
    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
        struct answer a = post(f, "/api/v1/analyze", mistakes[i].body);
        const char *message = json_string_value(json_object_get(json_object_get(a.json, "error"), "message"));
        if (!message || strncmp(message, mistakes[i].why, strlen(mistakes[i].why)) != 0)
            fail_msg("%s: %s", mistakes[i].body, message ? message : a.body.data);
        assert_error(a, 400, "usage");
    }
    lists_of_files_are_bounded(f);
    assert_error(post(f, "/api/v1/analyze:compare", "{\"files\":[{\"name\":\"a\"," NUMBERS "}]}"), 400,
                 "usage");
    assert_error(post(f, "/api/v1/analyze:history", "{" TWO ",\"options\":{\"view\":\"last:2\"}}"), 400,
                 "usage");
    struct answer a = post(f, "/api/v1/analyze", "{\"files\":[{\"name\":\"n.txt\",\"text\":\"1\\nx\"}]}");
    assert_non_null(strstr(a.body.data, "n.txt:2:1: "));
    assert_error(a, 400, "data");
}

/* The answer says with what it was computed. */
static void computed_with(struct fixture *f, const char *target, const char *options,
                          const char *const want[3])
{
    char body[700];
    snprintf(body, sizeof body, "{%s%s}", TWO, options);
    struct answer a = post(f, target, body);
    assert_int_equal(a.status, 200);
    for (int i = 0; i < 3; i++)
        if (!strstr(a.body.data, want[i]))
            fail_msg("%s: %.600s lacks %s", target, a.body.data, want[i]);
    answer_done(&a);
}

static void options_reach_the_analysis(void **state)
{
    static const char
        ends[] = ",\"options\":{\"level\":0.9999,\"margin_ratio\":10,\"resolution\":1e15,\"seed\":"
                 "\"18446744073709551615\","
                 "\"resamples\":100,\"per\":\"iteration\",\"better\":\"higher\",\"change_window\":2,\"change_"
                 "p_max\":0.999,"
                 "\"rule\":\"skia\"}",
        other_ends[] =
            ",\"options\":{\"level\":0.5,\"margin_ratio\":0,\"resolution\":0,\"seed\":\"0\",\"per\":\"run\","
            "\"better\":\"lower\",\"resamples\":1000,\"change_window\":10000,\"change_p_max\":1e-12,\"view\":"
            "\"last:3\"}";
    static const char told
        [] = "\"options\":{\"level\":0.9999,\"margin_ratio\":10,\"resolution\":1e+15,\"seed\":"
             "\"18446744073709551615\",\"resamples\":100,\"per\":\"iteration\"}",
    other_told[] =
        "\"options\":{\"level\":0.5,\"margin_ratio\":0,\"resolution\":null,\"seed\":\"0\",\"resamples\":1000,"
        "\"per\":\"run\"}";
    struct fixture *f = *state;
    computed_with(f, "/api/v1/analyze", ends,
                  (const char *const[]){"{\"kind\":\"analysis\"", told,
                                        "\"lower_is_better\":false,\"direction_known\":true"});
    computed_with(f, "/api/v1/analyze:compare", ends,
                  (const char *const[]){"{\"kind\":\"comparison\"", told, "\"skia\""});
    computed_with(f, "/api/v1/analyze:history", ends,
                  (const char *const[]){"{\"kind\":\"history\"", told, "\"window\":2,\"p_max\":0.999"});
    computed_with(f, "/api/v1/analyze", other_ends,
                  (const char *const[]){other_told, "\"view\":\"last\"",
                                        "\"lower_is_better\":true,\"direction_known\":true"});
    computed_with(f, "/api/v1/analyze", "",
                  (const char *const[]){"\"level\":0.95", "\"per\":\"run\"", "\"direction_known\":false"});
}

static void a_stored_file_is_given_back(void **state)
{
    struct fixture *f = *state;
    char path[128];
    snprintf(path, sizeof path, "/api/v1/files/%s", sha_of_hello);
    assert_error(get(f, path), 404, "not-found");
    struct answer a = fetch(f, "PUT", path, NULL, "hello", 5);
    assert_int_equal(a.status, 201);
    answer_done(&a);
    a = get(f, path);
    assert_int_equal(a.status, 200);
    assert_non_null(strstr(a.head.data, "application/octet-stream"));
    assert_string_equal(a.body.data, "hello");
    answer_done(&a);
}

/* By the form: what has a meaning there is escaped, and nothing else. */
static const char *const exported[][2] = {
    {"markdown",
     "## a\\|b\n"
     "\n"
     "### \\*x\\* on bench\n"
     "\n"
     "| Command | Median | Interval | Min | Max | Ratio | Verdict | Notes |\n"
     "|:---|---:|---:|---:|---:|---:|:---|:---|\n"
     "| a\\_\\[1\\] (build base\\|1): echo '\\`\\~\\\\x07' | 1.00 ms | 1.00 ms – 1.00 ms | 1.00 ms | 1.00 ms "
     "| "
     "1 | baseline |  |\n"
     "| v#<!-- -->2: `sleep 'p\\|q'` | 1.50 ms | 1.50 ms – 1.50 ms | 1.50 ms | 1.50 ms | 1.500 (1.500–1.500) "
     "| "
     "**regression** | v#<!-- -->2 takes longer than a\\_\\[1\\] in 100 % of pairs (76–100 %); noise ±0.00 % "
     "|\n"
     "\n"
     "- v#<!-- -->2 takes 49.9893–49.9898 % longer than a\\_\\[1\\]\n"
     "- view of a\\_\\[1\\]: last 3 leaves 36 of 48 iterations\n"
     "- view of v#<!-- -->2: last 3 leaves 36 of 48 iterations\n"
     "\n"
     "| Metric | Arm | Median | Interval | Ratio | Verdict | Notes |\n"
     "|:---|:---|---:|---:|---:|:---|:---|\n"
     "| user\\_time\\_us (us) | a\\_\\[1\\] | 100 | 100 – 100 |  |  |  |\n"
     "| user\\_time\\_us (us) | v#<!-- -->2 | 100 | 100 – 100 | 1.000 (1.000–1.000) | equivalent (no-spread) "
     "| "
     "noise ±0.00 % |\n"
     ""},
    {"asciidoc",
     "== a&#124;b\n"
     "\n"
     "=== &#42;x&#42; on bench\n"
     "\n"
     "[cols=\"<,>,>,>,>,>,<,<\",options=\"header\"]\n"
     "|===\n"
     "| Command | Median | Interval | Min | Max | Ratio | Verdict | Notes\n"
     "\n"
     "| a&#95;&#91;1&#93; (build base&#124;1): `echo '&#96;&#126;&#92;x07'` | 1.00 ms | 1.00 ms – 1.00 ms | "
     "1.00 ms | 1.00 ms | 1 | baseline | \n"
     "| v&#35;2: `sleep 'p&#124;q'` | 1.50 ms | 1.50 ms – 1.50 ms | 1.50 ms | 1.50 ms | 1.500 (1.500–1.500) "
     "| *regression* | v&#35;2 takes longer than a&#95;&#91;1&#93; in 100 % of pairs (76–100 %); noise ±0.00 "
     "%\n"
     "|===\n"
     "\n"
     "- v&#35;2 takes 49.9893–49.9898 % longer than a&#95;&#91;1&#93;\n"
     "- view of a&#95;&#91;1&#93;: last 3 leaves 36 of 48 iterations\n"
     "- view of v&#35;2: last 3 leaves 36 of 48 iterations\n"
     "\n"
     "[cols=\"<,<,>,>,>,<,<\",options=\"header\"]\n"
     "|===\n"
     "| Metric | Arm | Median | Interval | Ratio | Verdict | Notes\n"
     "\n"
     "| user&#95;time&#95;us (us) | a&#95;&#91;1&#93; | 100 | 100 – 100 |  |  | \n"
     "| user&#95;time&#95;us (us) | v&#35;2 | 100 | 100 – 100 | 1.000 (1.000–1.000) | equivalent (no-spread) "
     "| noise ±0.00 %\n"
     "|===\n"
     ""},
    {"orgmode",
     "* a\\vert{}b\n"
     "\n"
     "** \\ast{}x\\ast{} on bench\n"
     "\n"
     "| Command | Median | Interval | Min | Max | Ratio | Verdict | Notes |\n"
     "|---+---+---+---+---+---+---+---|\n"
     "| <l> | <r> | <r> | <r> | <r> | <r> | <l> | <l> |\n"
     "| a\\under{}[" ZERO "1] (build base\\vert{}1): echo '`\\tilde{}\\" ZERO
     "x07' | 1.00 ms | 1.00 ms – 1.00 ms | 1.00 ms | 1.00 ms | 1 | "
     "baseline |  |\n"
     "| v#2: sleep 'p\\vert{}q' | 1.50 ms | 1.50 ms – 1.50 ms | 1.50 ms | 1.50 ms | 1.500 (1.500–1.500) | "
     "*regression* | v#2 takes longer than a\\under{}[" ZERO
     "1] in 100 % of pairs (76–100 %); noise ±0.00 % |\n"
     "\n"
     "- v#2 takes 49.9893–49.9898 % longer than a\\under{}[" ZERO "1]\n"
     "- view of a\\under{}[" ZERO "1]: last 3 leaves 36 of 48 iterations\n"
     "- view of v#2: last 3 leaves 36 of 48 iterations\n"
     "\n"
     "| Metric | Arm | Median | Interval | Ratio | Verdict | Notes |\n"
     "|---+---+---+---+---+---+---|\n"
     "| <l> | <l> | <r> | <r> | <r> | <l> | <l> |\n"
     "| user\\under{}time\\under{}us (us) | a\\under{}[" ZERO "1] | 100 | 100 – 100 |  |  |  |\n"
     "| user\\under{}time\\under{}us (us) | v#2 | 100 | 100 – 100 | 1.000 (1.000–1.000) | equivalent "
     "(no-spread) | noise ±0.00 % |\n"},
};

static void exports_are_complete(void **state)
{
    struct fixture *f = *state;
    static const char text[] = "quiesce: 1\nname: a|b\nbenchmarks: [{name: '*x*', argv: [sleep, 'p|q']}]\n"
                               "arms: {'a_[1]': {argv: [echo, \"`~\\a\"], build: {label: 'base|1'}}, 'v#2': "
                               "{build: {label: v#2}}}\n";
    json_t *json = json_pack("{s:s}", "text", text);
    char *body = json_dumps(json, 0), target[128];
    struct answer a = post(f, "/api/v1/jobs", body);
    assert_int_equal(a.status, 201);
    int64_t job = int_at(&a, "id");
    answer_done(&a);
    free(body);
    json_decref(json);
    measure(f, job, 24, 5);
    set_state(f, job, QS_JOB_DONE);
    for (size_t i = 0; i < 3; i++) {
        snprintf(target, sizeof target, "/api/v1/jobs/1/export?format=%s&metric=user_time_us&view=last:3",
                 exported[i][0]);
        a = get(f, target);
        assert_string_equal(a.body.data, exported[i][1]);
        answer_done(&a);
    }
}

/* The answer's text with ' for ", T for times of this day, O for who submitted. */
static char *masked(const struct answer *a)
{
    static const char owner[] = "\"owner\":\"";
    struct qs_buf out;
    qs_buf_init(&out);
    for (const char *s = a->body.data; *s;) {
        size_t digits = strspn(s, "0123456789"), step = digits > 0 ? digits : 1;
        if (strncmp(s, owner, sizeof owner - 1) == 0) {
            step = sizeof owner - 1 + strcspn(s + sizeof owner - 1, "\"");
            qs_buf_str(&out, "'owner':'O");
        } else if (digits == 19) {
            qs_buf_char(&out, 'T');
        } else if (*s == '"') {
            qs_buf_char(&out, '\'');
        } else {
            qs_buf_add(&out, s, step);
        }
        s += step;
    }
    return qs_buf_take(&out);
}

#define SHA "abababababababababababababababababababababababababababababababab"

static const char *const documents[][2] = {
    {"/api/v1/jobs",
     "{'jobs':[{'id':1,'name':'sleepers','owner':'O','state':'done','reason':'blocks','verdict':null,"
     "'seed':'18446744073709551615','submitted_wall_ns':10,'started_wall_ns':null,'ended_wall_ns':T,"
     "'runs':3,'runs_tainted':1,'iterations':9,'why':null,'why_code':null}],'notice':null}\n"},
    {"/api/v1/jobs/1",
     "{'id':1,'name':'sleepers','owner':'O','state':'done','reason':'blocks','verdict':null,"
     "'seed':'18446744073709551615','submitted_wall_ns':10,'started_wall_ns':null,'ended_wall_ns':T,"
     "'runs':3,'runs_tainted':1,'iterations':9,"
     "'spec':'quiesce: 1\\nname: sleepers\\nbenchmarks:\\n  - {name: sleep, argv: [sleep,"
     " \\'{s}\\']}\\narms:\\n  a: {params: {s: 0}}\\n  b: {params: {s: 0.01}}\\n','arms':['a','b'],"
     "'builds':[null,null],'conditions':[null,null],'condition_sets':{'default':{'name':'default','controls':"
     "{'affinity':'any','frequency':'free'},'gate':[{'sensor':'cpu.busy_ratio_ppm','below':100000,'dwell_ns':"
     "0,"
     "'timeout_ns':5000000000,'on_timeout':'taint','backoff':true,'unreadable_ok':false}],'patience_ns':"
     "20000000000,'bounds':{'cpu.steal_ticks':2,'sched.involuntary_switches':1000},'repeat_tainted':2,'stop':"
     "null,'cap_time_ns':300000000000,'cap_iterations':10000}},'points':['sleep'],'why':null,'why_code':null,"
     "'position':null,'progress':null,'"
     "evaluations':[]}"
     "\n"},
    {"/api/v1/jobs/1/runs?limit=2",
     "{'runs':[{'id':1,'uid':'01000000000000000000000000000000','job':1,'arm':0,'arm_name':'a','build':null,'"
     "point':0,"
     "'device':'bench','simulated':false,'block':1,'pos':0,'attempt':0,'state':'failed','taint':['exit'],"
     "'n':3,'n_tainted':1,'warmup_n':1,'stop_reason':'error','error':{'code':'exec',"
     "'message':'it is gone'},'exe_path':'/bin/a',"
     "'exe_sha256':'abababababababababababababababababababababababababababababababab',"
     "'harness':{'layout':'fixed'},'started_wall_ns':30,'windows':1},{'id':2,"
     "'uid':'01010000000000000000000000000000','job':1,'arm':1,'arm_name':'b','build':null,'point':0,'device'"
     ":'bench',"
     "'simulated':false,'block':1,'pos':1,'attempt':0,'state':'done','taint':[],'n':3,'n_tainted':1,"
     "'warmup_n':0,'stop_reason':'fixed','error':null,'exe_path':'/bin/b',"
     "'exe_sha256':'abababababababababababababababababababababababababababababababab',"
     "'started_wall_ns':30,'windows':1}]}\n"},
    {"/api/v1/runs/01000000000000000000000000000000",
     "{'id':1,'uid':'01000000000000000000000000000000','job':1,'arm':0,'arm_name':'a','build':null,'point':0,"
     "'device':'bench','simulated':false,'block':1,'pos':0,'attempt':0,'state':'failed','taint':['exit'],"
     "'n':3,'n_tainted':1,'warmup_n':1,'stop_reason':'error','error':{'code':'exec',"
     "'message':'it is gone'},'exe_path':'/bin/a',"
     "'exe_sha256':'abababababababababababababababababababababababababababababababab',"
     "'harness':{'layout':'fixed'},'started_wall_ns':30,'windows':[{'window':0,'attempt':0,"
     "'phase':'measure','first_seq':0,'n':3,'opened_ns':1000,'closed_ns':2000,'evals':1,'silence':'none',"
     "'taint':0,'taint_names':'','how':'done','failure':null,'output':null,'output_bytes':0,'gate':null,"
     "'evidence':[],'taints':[{'i':2,'code':'exit','value':3,'bound':0}]}],'artifacts':[],"
     "'environment':{'kernel':'6.1'}}\n"},
    {"/api/v1/runs/01010000000000000000000000000000/iterations?from=1",
     "{'metrics':['user_time_us','system_time_us','max_rss_bytes','minor_faults','major_faults',"
     "'voluntary_switches','involuntary_switches','block_in','block_out'],'iterations':[{'seq':1,"
     "'window':0,'phase':'measure','start_ns':1002,'duration_ns':1500101,'evals':1,'status':0,'taint':[],"
     "'user_time_us':100,'system_time_us':20,'max_rss_bytes':null,'minor_faults':null,'major_faults':null,"
     "'voluntary_switches':null,'involuntary_switches':null,'block_in':null,'block_out':null},{'seq':2,"
     "'window':0,'phase':'measure','start_ns':1003,'duration_ns':1500201,'evals':1,'status':3,"
     "'taint':['exit'],'user_time_us':100,'system_time_us':20,'max_rss_bytes':null,'minor_faults':null,"
     "'major_faults':null,'voluntary_switches':null,'involuntary_switches':null,'block_in':null,"
     "'block_out':null}],'next':null}\n"},
    {"/api/v1/jobs/1/export?format=csv",
     "run,arm,build,point,label,device,block,pos,seq,duration_ns,evals,taint,status,phase,conditions,user_"
     "time_us,"
     "system_time_us,max_rss_bytes,minor_faults,major_faults,voluntary_switches,involuntary_switches,"
     "block_in,block_out\n"
     "01000000000000000000000000000000,a,,0,sleep,bench,1,0,0,1000000,1,,0,measure,default,100,20,,,,,,,\n"
     "01000000000000000000000000000000,a,,0,sleep,bench,1,0,1,1000100,1,,0,measure,default,100,20,,,,,,,\n"
     "01000000000000000000000000000000,a,,0,sleep,bench,1,0,2,1000200,1,exit,3,measure,default,100,20,,,,,,,"
     "\n"
     "01010000000000000000000000000000,b,,0,sleep,bench,1,1,0,1500001,1,,0,measure,default,100,20,,,,,,,\n"
     "01010000000000000000000000000000,b,,0,sleep,bench,1,1,1,1500101,1,,0,measure,default,100,20,,,,,,,\n"
     "01010000000000000000000000000000,b,,0,sleep,bench,1,1,2,1500201,1,exit,3,measure,default,100,20,,,,,,,"
     "\n"
     "01020000000000000000000000000000,a,,0,sleep,bench,2,0,0,1000002,1,,0,measure,default,100,20,,,,,,,\n"
     "01020000000000000000000000000000,a,,0,sleep,bench,2,0,1,1000102,1,,0,measure,default,100,20,,,,,,,\n"
     "01020000000000000000000000000000,a,,0,sleep,bench,2,0,2,1000202,1,exit,3,measure,default,100,20,,,,,,,"
     "\n"},
    {"/api/v1/jobs/1/reproduce",
     "{'job':1,'name':'sleepers','seed':'18446744073709551615','where':'name == \\'bench\\'','files':[],"
     "'executables':[{'arm':'a','device':'bench','path':'/bin/a',"
     "'sha256':'abababababababababababababababababababababababababababababababab','of_job':false},"
     "{'arm':'b','device':'bench','path':'/bin/b',"
     "'sha256':'abababababababababababababababababababababababababababababababab','of_job':false}]}\n"},
    {"/api/v1/devices",
     "{'devices':[{'name':'local','link':'unix','state':'ready','local':true,'simulated':false,'agent':'"
     "agent 1',"
     "'boot_id':'b-1','labels':['fast'],'held':null,'note':null,'tags':{},'cache':{'bytes':7,'most_bytes':8,'"
     "free_bytes':9},"
     "'clock_rtt_ns':100,'facts':{'os':'linux'},'why':null}],'disk':null,'notice':null}\n"},
};

static void documents_are_whole(void **state)
{
    struct fixture *f = *state;
    static const struct qs_run_end_row ends[] = {
        {.uid = {1, 0},
         .state = QS_RUN_FAILED,
         .stop_reason = "error",
         .warmup_n = 1,
         .taint = QS_TAINT_EXIT,
         .error_slug = "exec",
         .error_text = "it is gone",
         .exe_path = "/bin/a",
         .exe_sha256 = SHA,
         .harness_json = "{\"layout\":\"fixed\"}"},
        {.uid = {1, 1}, .state = QS_RUN_DONE, .exe_path = "/bin/b", .exe_sha256 = SHA},
        {.uid = {1, 2}, .state = QS_RUN_INTERRUPTED, .exe_path = "/bin/a", .exe_sha256 = SHA}};
    int64_t job = submit(f);
    measure(f, job, 3, 3);
    for (size_t i = 0; i < 3; i++)
        qs_store_run_end(f->store, &ends[i], NULL, NULL);
    set_state(f, job, QS_JOB_DONE);
    for (size_t i = 0; i < sizeof documents / sizeof *documents; i++) {
        struct answer a = get(f, documents[i][0]);
        char *text = masked(&a);
        assert_string_equal(text, documents[i][1]);
        free(text);
        answer_done(&a);
    }
}

static void on_stored(const struct qs_err *err, int64_t id, void *user)
{
    (void)id;
    (void)user;
    if (err)
        fail_msg("%s", err->text);
}

static double number_at(const json_t *of, const char *key)
{
    assert_true(json_is_number(json_object_get(of, key)));
    return json_number_value(json_object_get(of, key));
}

static void assert_same(const json_t *one, const char *key, const json_t *arm, const char *its)
{
    double want = number_at(arm, its) / (strstr(its, "_us") ? 1e6 : 1e9);
    assert_true(fabs(number_at(one, key) - want) <= 1e-12 * want);
}

/* Two iterations of each run are warm-up, and the run of b in the last block was cut short. */
static void measure_with_warmup(struct fixture *f)
{
    int64_t job = submit(f);
    measure(f, job, 24, 5);
    for (uint8_t i = 0; i < 24; i++) {
        const struct qs_run_end_row end = {.uid = {1, i},
                                           .state = i < 23 ? QS_RUN_DONE : QS_RUN_INTERRUPTED,
                                           .warmup_n = 2,
                                           .ended_wall_ns = 41};
        qs_store_run_end(f->store, &end, on_stored, NULL);
    }
    set_state(f, job, QS_JOB_DONE);
}

/* Of the iterations that the comparison counts: neither warm-up nor a block that lacks an arm. */
static void an_export_says_what_the_comparison_says(void **state)
{
    struct fixture *f = *state;
    measure_with_warmup(f);
    struct answer export = get(f, "/api/v1/jobs/1/export?format=json"), a = get(f, "/api/v1/jobs/1/compare");
    const json_t *result = json_array_get(json_object_get(a.json, "results"), 0);
    for (size_t i = 0; i < 2; i++) {
        const json_t *one = json_array_get(json_object_get(export.json, "results"), i);
        const json_t *arm = json_array_get(json_object_get(result, "arms"), i);
        const json_t *times = json_object_get(one, "times");
        assert_int_equal(json_array_size(times), 11 * 2);
        assert_int_equal(json_array_size(json_object_get(one, "exit_codes")), 11 * 2);
        assert_true(fabs(json_number_value(json_array_get(times, 3)) - (i ? 1500303e-9 : 1000302e-9)) <
                    1e-15);
        const json_t *duration = json_array_get(json_object_get(result, "metrics"), 0);
        const json_t *ns = json_array_get(json_object_get(duration, "arms"), i);
        assert_same(one, "mean", ns, "mean");
        assert_same(one, "stddev", ns, "sd");
        assert_same(one, "median", ns, "median");
        assert_same(one, "min", ns, "min");
        assert_same(one, "max", ns, "max");
        assert_same(one, "user", arm, "user_us");
        assert_same(one, "system", arm, "system_us");
    }
    answer_done(&export);
    answer_done(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(each_mistake_of_an_analysis_is_told, setup, teardown),
        cmocka_unit_test_setup_teardown(options_reach_the_analysis, setup, teardown),
        cmocka_unit_test_setup_teardown(a_stored_file_is_given_back, setup, teardown),
        cmocka_unit_test_setup_teardown(documents_are_whole, setup, teardown),
        cmocka_unit_test_setup_teardown(exports_are_complete, setup, teardown),
        cmocka_unit_test_setup_teardown(an_export_says_what_the_comparison_says, setup, teardown),
    };
    return cmocka_run_group_tests_name("documents", tests, NULL, NULL);
}
