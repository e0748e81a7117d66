/* A job's files where an agent on this machine finds them: WORK/job-N/ARM/NAME, read-only copies of what was
 * uploaded. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/text.h"
#include "farm/farm_impl.h"
#include "proto/auth.h"
#include "store/files.h"

static bool place(struct qs_farm_job *job, const struct qs_job_file *file, const char *dir,
                  struct qs_err *err)
{
    char *dest = qs_asprintf("%s/%s", dir, file->name);
    bool ok = qs_files_place(job->farm->p.files, file->sha256, dest, file->executable, err);
    free(dest);
    return ok;
}

static size_t inputs_of(const struct qs_job_spec *spec)
{
    size_t n = 0;
    for (size_t b = 0; b < spec->benchmark_count; b++)
        n += spec->benchmarks[b].input_count;
    return n;
}

bool qs_farm_place_files(struct qs_farm_job *job, struct qs_err *err)
{
    const struct qs_job_spec *spec = job->spec;
    if (job->arm_dirs)
        return true;
    job->arm_dirs = qs_calloc(spec->arm_count, sizeof(char *));
    size_t inputs = inputs_of(spec);
    for (size_t a = 0; a < spec->arm_count; a++) {
        if (inputs + spec->arms[a].file_count == 0)
            continue;
        job->arm_dirs[a] = qs_asprintf("%s/job-%lld/arm-%zu", job->farm->p.work_dir, (long long)job->id, a);
        for (size_t b = 0; b < spec->benchmark_count; b++) {
            for (size_t i = 0; i < spec->benchmarks[b].input_count; i++) {
                if (!place(job, &spec->benchmarks[b].inputs[i], job->arm_dirs[a], err))
                    return false;
            }
        }
        for (size_t i = 0; i < spec->arms[a].file_count; i++) {
            if (!place(job, &spec->arms[a].files[i], job->arm_dirs[a], err))
                return false;
        }
    }
    return true;
}

/* Removes the file and the directories above it that are empty now, down to the job's own. What the benchmark
 * itself left there stays. */
static void remove_one(const char *dir, const char *name)
{
    char *path = qs_asprintf("%s/%s", dir, name);
    size_t floor_bytes = strlen(dir);
    (void)unlink(path);
    for (char *slash = strrchr(path, '/'); slash && (size_t)(slash - path) >= floor_bytes;
         slash = strrchr(path, '/')) {
        *slash = '\0';
        if (rmdir(path) != 0)
            break;
    }
    free(path);
}

void qs_farm_remove_files(struct qs_farm_job *job)
{
    const struct qs_job_spec *spec = job->spec;
    bool any = false;
    for (size_t a = 0; job->arm_dirs && a < spec->arm_count; a++) {
        if (!job->arm_dirs[a])
            continue;
        any = true;
        for (size_t b = 0; b < spec->benchmark_count; b++) {
            for (size_t i = 0; i < spec->benchmarks[b].input_count; i++)
                remove_one(job->arm_dirs[a], spec->benchmarks[b].inputs[i].name);
        }
        for (size_t i = 0; i < spec->arms[a].file_count; i++)
            remove_one(job->arm_dirs[a], spec->arms[a].files[i].name);
    }
    if (any) {
        char *dir = qs_asprintf("%s/job-%lld", job->farm->p.work_dir, (long long)job->id);
        (void)rmdir(dir);
        free(dir);
    }
}

static int by_name(const void *a, const void *b)
{
    const struct qs_job_file *const *x = a, *const *y = b;
    return strcmp((*x)->name, (*y)->name);
}

void qs_farm_build_content(const struct qs_job_arm *arm, struct qs_buf *out)
{
    const struct qs_job_file **sorted = qs_calloc(arm->file_count + 1, sizeof(const struct qs_job_file *));
    struct qs_buf text;
    uint8_t sha[QS_SHA256_BYTES];
    char hex[2 * QS_SHA256_BYTES + 1];
    qs_buf_init(&text);
    for (size_t i = 0; i < arm->file_count; i++)
        sorted[i] = &arm->files[i];
    qsort(sorted, arm->file_count, sizeof *sorted, by_name);
    for (size_t i = 0; i < arm->file_count; i++)
        qs_buf_fmt(&text, "%s\n%s\n%s\n", sorted[i]->name, sorted[i]->executable ? "0500" : "0400",
                   sorted[i]->sha256);
    qs_sha256(text.data, text.len, sha);
    qs_hex(sha, sizeof sha, hex);
    qs_buf_str(out, hex);
    qs_buf_done(&text);
    free(sorted);
}
