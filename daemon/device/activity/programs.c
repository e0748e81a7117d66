/* A job's programs, before they are sent and when they do not start: by the first bytes of each file in the
 * store. */
#include "device/activity/programs.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "device/board/program.h"
#include "store/files.h"

/* The fact of this name; "" where the agent tells none. */
static void copy_machine(const struct qs_job_run *job, char *ret, size_t cap)
{
    static const char key[] = "\"machine\":\"";
    const char *at = job->facts_json ? strstr(job->facts_json, key) : NULL;
    snprintf(ret, cap, "%.*s", at ? (int)strcspn(at + sizeof key - 1, "\"") : 0,
             at ? at + sizeof key - 1 : "");
}

static size_t read_head(const struct qs_job_run *job, const struct qs_job_file *file,
                        uint8_t head[QS_PROGRAM_HEAD_BYTES])
{
    struct qs_err err = QS_ERR_INIT;
    int64_t bytes = 0;
    int fd = job->p.files ? qs_files_get(job->p.files, file->sha256, &bytes, &err) : -1;
    ssize_t n = fd >= 0 ? pread(fd, head, QS_PROGRAM_HEAD_BYTES, 0) : 0;
    if (fd >= 0)
        close(fd);
    return n > 0 ? (size_t)n : 0;
}

static bool fits(const struct qs_job_run *job, size_t arm, const struct qs_job_file *file,
                 const char *machine, struct qs_err *err)
{
    uint8_t head[QS_PROGRAM_HEAD_BYTES];
    const char *arch = qs_program_arch(head, read_head(job, file, head));
    QS_BUF(needs);
    if (!arch || qs_program_fits(arch, machine, &needs))
        return true;
    return qs_fail(err, QS_E_JOB, "arm %s: `%s` is a program for %s; %s needs %s",
                   job->p.spec->arms[arm].name, file->path, arch, job->p.device, needs.data);
}

bool qs_programs_fit(const struct qs_job_run *job, struct qs_err *err)
{
    char machine[64];
    const struct qs_job_spec *spec = job->p.spec;
    copy_machine(job, machine, sizeof machine);
    for (size_t a = 0; a < spec->arm_count && machine[0] != '\0'; a++)
        for (size_t i = 0; i < spec->arms[a].file_count; i++)
            if (!fits(job, a, &spec->arms[a].files[i], machine, err))
                return false;
    return true;
}

/* The agent starts a program by its name as the arm has it: below the run's directory. */
static const struct qs_job_file *file_of(const struct qs_job_run *job, size_t arm, const char *why)
{
    const struct qs_job_arm *of = &job->p.spec->arms[arm];
    for (size_t i = 0; i < of->file_count; i++) {
        QS_BUF(plain);
        QS_BUF(dotted);
        qs_buf_fmt(&plain, "'%s'", of->files[i].name);
        qs_buf_fmt(&dotted, "'./%s'", of->files[i].name);
        if (strstr(why, plain.data) || strstr(why, dotted.data))
            return &of->files[i];
    }
    return NULL;
}

void qs_programs_explain(const struct qs_job_run *job, size_t arm, struct qs_text why, struct qs_buf *out)
{
    static const char missing[] = "its interpreter is missing"; /* ENOENT, in the agent's words */
    uint8_t head[QS_PROGRAM_HEAD_BYTES];
    QS_BUF(said);
    QS_BUF(path);
    QS_BUF(shown);
    qs_text_escape(&said, why.n ? why.p : "", why.n);
    const struct qs_job_file *file = strstr(said.data, missing) ? file_of(job, arm, said.data) : NULL;
    if (!file || !qs_program_interpreter(head, read_head(job, file, head), &path))
        return;
    qs_text_escape(&shown, path.data, path.len);
    qs_buf_fmt(out, "; it asks for %s, which %s lacks: %s", shown.data, job->p.device,
               head[0] == '#' ? "name an interpreter that is there" : "link it with -static");
}
