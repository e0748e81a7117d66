/* The job file, key by key: what mode app has of its own. */
#include <stddef.h>

#include "base/mem.h"
#include "config/job/read.h"

#define MS         INT64_C(1000000)
#define APP(field) offsetof(struct qs_job_android, field)

enum { NAME_MAX_BYTES = 200, PATH_MAX_BYTES = 1024, ITERATIONS_MAX = 1000, ARGUMENTS_MAX = 64 };

static void read_arguments(struct qs_schema_reader *r, const struct qs_key *key, const struct qs_node *node,
                           void *at)
{
    struct qs_strings *out = at;
    (void)key;
    if (!qs_schema_is(r, node, QS_NODE_MAP, "a map of name to text"))
        return;
    if (node->count > ARGUMENTS_MAX) {
        qs_schema_problem(r, node, NULL, "%zu arguments are too many (at most %d)", node->count,
                          ARGUMENTS_MAX);
        return;
    }
    out->at = qs_calloc(3 * node->count + 1, sizeof *out->at);
    for (size_t i = 0; i < node->count; i++) {
        size_t mark = qs_schema_enter(r, node->keys[i].text);
        const char *text = qs_schema_text(r, &node->items[i], "text");
        out->at[out->count++] = qs_strdup("-e");
        out->at[out->count++] = qs_strdup(node->keys[i].text);
        out->at[out->count++] = qs_strdup(text ? text : "");
        qs_schema_leave(r, mark);
    }
}

static const struct qs_key android_keys[] = {
    {.name = "package",
     .type = QS_KEY_TEXT,
     .offset = APP(package),
     .min = 1,
     .max = NAME_MAX_BYTES,
     .help = "The app, by the name of its package; always needed."},
    {.name = "apk",
     .type = QS_KEY_TEXT,
     .offset = APP(apk),
     .min = 1,
     .max = PATH_MAX_BYTES,
     .help =
         "What is installed: the name of a file of the arm's `build.files`, or of `inputs`. Without it the "
         "app that is on the device is measured."},
    {.name = "activity",
     .type = QS_KEY_TEXT,
     .offset = APP(activity),
     .min = 1,
     .max = NAME_MAX_BYTES,
     .help = "Measured by `am start -W`: the activity that is started, such as .MainActivity. Either this or "
             "`test_package`."},
    {.name = "start",
     .type = QS_KEY_ENUM,
     .offset = APP(launch),
     .words = qs_launch_words,
     .fallback = "cold",
     .help = "With `activity`: `cold` ends the app before each start; `warm` keeps its process and has the "
             "activity made anew; `hot` brings it back from behind the home screen. A start that was "
             "another one, as Android says, is tainted."},
    {.name = "iterations",
     .type = QS_KEY_U32,
     .offset = APP(iterations),
     .min = 1,
     .max = ITERATIONS_MAX,
     .fallback = "10",
     .help = "With `activity`: how many starts a run has."},
    {.name = "pause",
     .type = QS_KEY_DURATION,
     .offset = APP(pause_ns),
     .min = 0,
     .max = 60000 * MS,
     .fallback = "1s",
     .help = "With `activity`: how long the device rests before each start."},
    {.name = "test_package",
     .type = QS_KEY_TEXT,
     .offset = APP(test_package),
     .min = 1,
     .max = NAME_MAX_BYTES,
     .help = "Measured by `am instrument`: the package of the test, which uses Jetpack's Macrobenchmark or "
             "Microbenchmark."},
    {.name = "test_apk",
     .type = QS_KEY_TEXT,
     .offset = APP(test_apk),
     .min = 1,
     .max = PATH_MAX_BYTES,
     .help = "With `test_package`: what is installed as it, as `apk`."},
    {.name = "runner",
     .type = QS_KEY_TEXT,
     .offset = APP(runner),
     .min = 1,
     .max = NAME_MAX_BYTES,
     .help = "With `test_package`: the instrumentation runner; without it "
             "androidx.test.runner.AndroidJUnitRunner."},
    {.name = "arguments",
     .type = QS_KEY_CUSTOM,
     .offset = APP(arguments),
     .read = read_arguments,
     .form = "a map of text",
     .help = "With `test_package`: arguments of the runner (`am instrument -e`), such as {class: "
             "com.example.StartBenchmark#cold}; `{p}` is filled in."},
    {.name = "output_dir",
     .type = QS_KEY_TEXT,
     .offset = APP(output_dir),
     .min = 2,
     .max = PATH_MAX_BYTES,
     .help = "With `test_package`: where the test leaves its benchmarkData.json (`additionalTestOutputDir`); "
             "without it "
             "/sdcard/Android/media/TEST_PACKAGE/additional_test_output."},
    {.name = "compile",
     .type = QS_KEY_TEXT,
     .offset = APP(compile),
     .min = 1,
     .max = 40,
     .help = "How the device is to compile the app, such as verify, speed-profile or speed (`cmd package "
             "compile -m`); without it nothing is compiled."},
    {.name = "allow_debuggable",
     .type = QS_KEY_BOOL,
     .offset = APP(allow_debuggable),
     .fallback = "false",
     .help = "Whether a build that may be debugged is measured all the same; else it is refused."},
    {.name = "replace",
     .type = QS_KEY_BOOL,
     .offset = APP(replace),
     .fallback = "false",
     .help =
         "Whether another content of the package that is on the device already may be uninstalled, with its "
         "data."},
    {.name = "keep",
     .type = QS_KEY_BOOL,
     .offset = APP(keep),
     .fallback = "false",
     .help = "Whether what the job has installed stays when it is over; else it is uninstalled."},
    {0}};
const struct qs_table qs_job_android_table = {.keys = android_keys};
