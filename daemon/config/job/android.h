/* The part of a benchmark that is of mode app alone: an Android app, how it is brought to the device, and
 * what starts it there. Owned by the job's spec (job.h). */
#ifndef QS_CONFIG_JOB_ANDROID_H
#define QS_CONFIG_JOB_ANDROID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "config/document/string_list.h"

struct qs_job_spec;
struct qs_job_file;

enum qs_launch { QS_LAUNCH_COLD, QS_LAUNCH_WARM, QS_LAUNCH_HOT };

struct qs_job_android {
    char *package;
    char *apk; /* name of a file of the build or of the inputs; NULL: the app is there already */
    /* `am start -W`. */
    char *activity;      /* or NULL: it is instrumented */
    unsigned launch;     /* enum qs_launch */
    uint32_t iterations; /* starts of a run */
    int64_t pause_ns;    /* before each of them */
    /* `am instrument`. */
    char *test_package;          /* or NULL: it is started */
    char *test_apk;              /* as apk */
    char *runner;                /* or NULL: AndroidX's */
    struct qs_strings arguments; /* "-e", name and value of each; "{p}" is a parameter */
    char *output_dir;            /* or NULL: the test package's folder for media */
    /* What becomes of it. */
    char *compile; /* the compiler's filter, or NULL: as it is */
    bool allow_debuggable, replace, keep;
};

void qs_job_android_done(struct qs_job_android *android);
/* The argument vector of the process that (arm, point) starts on the device: that of the job, but for mode
 * app, where a shell script does what it stands for. Owned by the caller. */
void qs_job_process_argv(const struct qs_job_spec *spec, size_t arm, size_t point, struct qs_strings *ret);
/* What of an arm and a benchmark is installed: the app, then the test; NULL: nothing. */
const struct qs_job_file *qs_job_apk(const struct qs_job_spec *spec, size_t arm, size_t benchmark, bool test);

#endif
