/* What mode app has of its own: what does not go with it, and the command that it stands for. */
#include "config/job/android.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "config/job/read.h"

const struct qs_word qs_launch_words[] = {
    {"cold", QS_LAUNCH_COLD}, {"warm", QS_LAUNCH_WARM}, {"hot", QS_LAUNCH_HOT}, {NULL, 0}};

/* Each start is announced by a line of its own, so that its times are found behind it, and nothing else of
 * what is written is taken for a start. Before warm and hot ones the app is started once, uncounted. */
static const char start_script[] =
    "PATH=$PATH:/system/bin\n"
    "app=$1 activity=$2 how=$3 n=$4 pause=$5 i=1\n"
    "[ $how = cold ] || am start -W -n \"$activity\" 2>&1\n"
    "while [ $i -le $n ]; do\n"
    "  if [ $how = cold ]; then am force-stop \"$app\"; else input keyevent KEYCODE_HOME; fi 2>&1\n"
    "  sleep $pause\n"
    "  echo \"quiesce: start $i\"\n"
    "  if [ $how = warm ]; then am start -W --activity-clear-task -n \"$activity\"\n"
    "  else am start -W -n \"$activity\"; fi 2>&1\n"
    "  i=$((i+1))\n"
    "done\n"
    "am force-stop \"$app\" 2>&1\n";

/* What am says, then the document that the test has left; one of an earlier run is taken away before. */
static const char instrument_script[] =
    "PATH=$PATH:/system/bin\n"
    "dir=$1\n"
    "shift\n"
    "rm -f \"$dir\"/*benchmarkData.json\n"
    "am instrument -w -r -e additionalTestOutputDir \"$dir\" \"$@\" 2>&1\n"
    "echo \"quiesce: am ended with $?\"\n"
    "for f in \"$dir\"/*benchmarkData.json; do\n"
    "  [ -f \"$f\" ] || continue\n"
    "  echo \"quiesce: file $f\"\n"
    "  cat \"$f\"\n"
    "  break\n"
    "done\n"
    "rm -f \"$dir\"/*benchmarkData.json \"$dir\"/*.perfetto-trace\n";

void qs_job_android_done(struct qs_job_android *a)
{
    char *texts[] = {a->package,  a->apk,    a->activity,   a->test_package,
                     a->test_apk, a->runner, a->output_dir, a->compile};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        free(texts[i]);
    qs_strings_done(&a->arguments);
}

static char *pause_of(const struct qs_job_android *a)
{
    return qs_asprintf("%" PRId64 ".%03d", a->pause_ns / 1000000000, (int)(a->pause_ns / 1000000 % 1000));
}

static const char *const instrument_words[] = {"am", "instrument", "-w", "-r"};
enum { INSTRUMENT_WORDS = sizeof instrument_words / sizeof *instrument_words };

/* The command as people see it and as results are told apart by it; a shell makes more of it on the device.
 */
static void make_command(struct qs_job_benchmark *b)
{
    static const char *const start_words[] = {"am", "start", "-W", "-n"};
    const struct qs_job_android *a = &b->android;
    struct qs_strings *argv = &b->argv;
    for (size_t i = 0; i < INSTRUMENT_WORDS; i++)
        qs_strings_add(argv, qs_strdup(a->activity ? start_words[i] : instrument_words[i]));
    if (a->activity) {
        QS_FREED char *pause = pause_of(a);
        qs_strings_add(argv, qs_asprintf("%s/%s", a->package, a->activity));
        qs_strings_add(argv, qs_strdup(qs_launch_words[a->launch].word));
        qs_strings_add(argv, qs_asprintf("x%" PRIu32, a->iterations));
        qs_strings_add(argv, qs_asprintf("pause=%ss", pause));
        return;
    }
    for (size_t i = 0; i < a->arguments.count; i++)
        qs_strings_add(argv, qs_strdup(a->arguments.at[i]));
    qs_strings_add(argv, qs_asprintf("%s/%s", a->test_package,
                                     a->runner ? a->runner : "androidx.test.runner.AndroidJUnitRunner"));
}

void qs_job_process_argv(const struct qs_job_spec *spec, size_t arm, size_t point, struct qs_strings *ret)
{
    const struct qs_job_benchmark *b = &spec->benchmarks[spec->points[point].benchmark];
    const struct qs_job_android *a = &b->android;
    struct qs_strings shown = {0};
    qs_job_argv(spec, arm, point, &shown);
    *ret = shown;
    if (b->mode != QS_MODE_APP)
        return;
    *ret = (struct qs_strings){0};
    qs_strings_add(ret, qs_strdup("/bin/sh"));
    qs_strings_add(ret, qs_strdup("-c"));
    qs_strings_add(ret, qs_strdup(a->activity ? start_script : instrument_script));
    qs_strings_add(ret, qs_strdup("quiesce"));
    if (a->activity) {
        qs_strings_add(ret, qs_strdup(a->package));
        qs_strings_add(ret, qs_asprintf("%s/%s", a->package, a->activity));
        qs_strings_add(ret, qs_strdup(qs_launch_words[a->launch].word));
        qs_strings_add(ret, qs_asprintf("%" PRIu32, a->iterations));
        qs_strings_add(ret, pause_of(a));
    } else {
        qs_strings_add(ret, a->output_dir ? qs_strdup(a->output_dir)
                                          : qs_asprintf("/sdcard/Android/media/%s/additional_test_output",
                                                        a->test_package));
        for (size_t i = INSTRUMENT_WORDS; i < shown.count; i++)
            qs_strings_add(ret, qs_strdup(shown.at[i]));
    }
    qs_strings_done(&shown);
}

/* Names go into commands on the device: nothing of them may mean something else there. */
static void check_name(struct qs_schema_reader *r, const struct qs_node *app, const char *key,
                       const char *text, const char *signs, const char *such_as)
{
    if (text == NULL || (qs_text_is_word(text, signs) && text[0] != '-'))
        return;
    size_t mark = qs_schema_enter(r, key);
    qs_schema_problem(r, qs_node_get(app, key, NULL), such_as,
                      "`%s` has a character that is not allowed in this name", qs_show(text).text);
    qs_schema_leave(r, mark);
}

static void check_names(struct qs_schema_reader *r, const struct qs_node *app, const struct qs_job_android *a)
{
    static const char package[] = "a package is written like com.example.shop";
    check_name(r, app, "package", a->package, "._", package);
    check_name(r, app, "test_package", a->test_package, "._", package);
    check_name(r, app, "activity", a->activity, "._$", "an activity is written like .MainActivity");
    check_name(r, app, "runner", a->runner, "._$", "a runner is written like com.example.test.Runner");
    check_name(r, app, "compile", a->compile, "-", "such as verify, speed-profile or speed");
    check_name(r, app, "output_dir", a->output_dir, "/._-", "an absolute path");
    if (a->output_dir && a->output_dir[0] != '/') {
        size_t mark = qs_schema_enter(r, "output_dir");
        qs_schema_problem(r, qs_node_get(app, "output_dir", NULL), NULL, "expected an absolute path");
        qs_schema_leave(r, mark);
    }
}

/* One of the two ways, and only its own keys. */
static void check_way(struct qs_schema_reader *r, const struct qs_node *app, const struct qs_job_android *a)
{
    static const char *const of_start[] = {"start", "iterations", "pause"};
    static const char *const of_test[] = {"test_apk", "runner", "arguments", "output_dir"};
    if (a->activity == NULL && a->test_package == NULL)
        qs_schema_problem(r, app, "add activity: .MainActivity, or test_package: com.example.shop.test",
                          "nothing says what is measured: starts of an activity, or a test");
    else if (a->activity != NULL && a->test_package != NULL)
        qs_schema_refuse(r, app, "test_package", "keep one of the two; make two benchmarks for both",
                         "`activity` measures by `am start`, without a");
    for (size_t i = 0; a->activity == NULL && i < sizeof of_start / sizeof *of_start; i++)
        qs_schema_refuse(r, app, of_start[i], "the test itself says what it starts, and how often",
                         "only with `activity` there is");
    for (size_t i = 0; a->test_package == NULL && i < sizeof of_test / sizeof *of_test; i++)
        qs_schema_refuse(r, app, of_test[i], "add test_package: the package of the test",
                         "only with `test_package` there is");
}

void qs_job_check_android(struct qs_schema_reader *r, const struct qs_node *node, struct qs_job_benchmark *b)
{
    static const char *const none[] = {"argv",     "shell",  "stdin", "output", "exit",    "prepare",
                                       "conclude", "format", "unit",  "better", "pattern", "layout"};
    static const char *const of_document[] = {"metric", "benchmark"};
    const struct qs_node *app = qs_node_get(node, "app", NULL);
    if (b->mode != QS_MODE_APP) {
        qs_schema_refuse(r, node, "app", "add `mode: app`", "only mode `app` has");
        return;
    }
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        qs_schema_refuse(r, node, none[i],
                         "the command is made of `app`; `actions` and `setup` do what else is needed",
                         "mode `app` has no");
    if (app == NULL)
        qs_schema_problem(r, node, "add app: {package: com.example.shop, activity: .MainActivity}",
                          "mode `app` needs the app");
    if (app == NULL || app->kind != QS_NODE_MAP)
        return;
    size_t mark = qs_schema_enter(r, "app");
    size_t before = r->count;
    if (qs_node_get(app, "package", NULL) == NULL)
        qs_schema_problem(r, app, "add package: com.example.shop", "the app has no `package`");
    check_names(r, app, &b->android);
    check_way(r, app, &b->android);
    qs_schema_leave(r, mark);
    for (size_t i = 0; b->android.activity != NULL && i < sizeof of_document / sizeof *of_document; i++)
        qs_schema_refuse(r, node, of_document[i], "`am start` tells one time of each start",
                         "mode `app` with `activity` has no");
    if (b->android.package == NULL || r->count > before)
        return;
    b->output = QS_OUTPUT_STDOUT;
    b->stream.format = b->android.activity ? QS_FORM_AM_START : QS_FORM_ANDROIDX;
    make_command(b);
}

/* ---- its files ---- */

static const struct qs_job_file *find(const struct qs_job_file *files, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(files[i].name, name) == 0)
            return &files[i];
    return NULL;
}

static const struct qs_job_file *find_of(const struct qs_job_arm *arm, const struct qs_job_benchmark *b,
                                         const char *name)
{
    const struct qs_job_file *file = arm ? find(arm->files, arm->file_count, name) : NULL;
    return file ? file : find(b->inputs, b->input_count, name);
}

const struct qs_job_file *qs_job_apk(const struct qs_job_spec *spec, size_t arm, size_t benchmark, bool test)
{
    const struct qs_job_benchmark *b = &spec->benchmarks[benchmark];
    const char *name = test ? b->android.test_apk : b->android.apk;
    return name ? find_of(&spec->arms[arm], b, name) : NULL;
}

static void check_file(struct qs_schema_reader *r, const struct qs_node *app, const struct qs_job_spec *spec,
                       const struct qs_job_benchmark *b, const char *key, const char *name)
{
    size_t mark = qs_schema_enter(r, key);
    for (size_t i = 0; name != NULL && i < (spec->arm_count ? spec->arm_count : 1); i++) {
        const struct qs_job_arm *arm = spec->arm_count ? &spec->arms[i] : NULL;
        if (find_of(arm, b, name))
            continue;
        qs_schema_problem(r, qs_node_get(app, key, NULL),
                          "it is the name of a file there: files: {app.apk: out/app-release.apk}",
                          arm ? "`%s` is neither among the files of the build of arm `%s` nor among `inputs`"
                              : "`%s` is not among `inputs`%.0s",
                          qs_show(name).text, arm ? arm->name : "");
        break;
    }
    qs_schema_leave(r, mark);
}

static void check_arms(struct qs_schema_reader *r, const struct qs_node *arms)
{
    static const char *const none[] = {"argv", "shell", "prepare", "conclude"};
    size_t mark = qs_schema_enter(r, "arms");
    for (size_t a = 0; arms != NULL && arms->kind == QS_NODE_MAP && a < arms->count; a++) {
        size_t inner = qs_schema_enter(r, arms->keys[a].text);
        for (size_t i = 0; i < sizeof none / sizeof *none; i++)
            qs_schema_refuse(r, &arms->items[a], none[i], "arms differ by build, params, env or conditions",
                             "a job with mode `app` has no");
        qs_schema_leave(r, inner);
    }
    qs_schema_leave(r, mark);
}

void qs_job_check_android_job(struct qs_schema_reader *r, const struct qs_node *root,
                              const struct qs_job_spec *spec)
{
    const struct qs_node *list = qs_node_get(root, "benchmarks", NULL);
    bool any = false;
    for (size_t i = 0; i < spec->benchmark_count; i++) {
        const struct qs_job_benchmark *b = &spec->benchmarks[i];
        if (b->mode != QS_MODE_APP || list == NULL)
            continue;
        any = true;
        size_t mark = qs_schema_enter(r, "benchmarks");
        qs_schema_enter_index(r, i);
        qs_schema_enter(r, "app");
        const struct qs_node *app = qs_node_get(&list->items[i], "app", NULL);
        check_file(r, app, spec, b, "apk", b->android.apk);
        check_file(r, app, spec, b, "test_apk", b->android.test_apk);
        qs_schema_leave(r, mark);
    }
    if (any)
        check_arms(r, qs_node_get(root, "arms", NULL));
}
