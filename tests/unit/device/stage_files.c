/* Files on the stage: the daemon's store of them, the session's requests, and the agent's cache. */
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "stage_impl.h"
#include "store/files.h"

void stage_bind(struct stage *s)
{
    for (size_t i = 0; i < qs_job_file_count(s->spec); i++) {
        const char *path = qs_job_file_at(s->spec, i)->path;
        char sha256[65] = {0};
        memset(sha256, path[0], 64);
        assert_true(qs_job_bind_file(s->spec, path, sha256));
    }
    s->parts.files = (struct qs_files *)(void *)s;
}

/* Every file of the job has the same bytes; the names are what counts. */
int qs_files_get(struct qs_files *files, const char sha256[65], int64_t *ret_bytes, struct qs_err *err)
{
    struct stage *s = (struct stage *)(void *)files;
    (void)sha256;
    if (s->disk.no_blob) {
        qs_fail(err, QS_E_NOT_FOUND, "no file with this content is here");
        return -1;
    }
    *ret_bytes = STAGE_FILE_BYTES;
    if (s->disk.elf) {
        const uint8_t head[20] = {0x7f, 'E', 'L', 'F', 2, 1, 1, [16] = 2, [18] = (uint8_t)s->disk.elf};
        int fd = memfd_create("elf", MFD_CLOEXEC);
        assert_int_equal(write(fd, head, sizeof head), sizeof head);
        assert_int_equal(ftruncate(fd, STAGE_FILE_BYTES), 0);
        assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
        return fd;
    }
    return open(s->disk.short_blob ? "/dev/null" : "/dev/zero", O_RDONLY | O_CLOEXEC);
}

bool qs_session_is_ready(const struct qs_session *session)
{
    return stage_of((struct qs_session *)(uintptr_t)session)->session != SESSION_DOWN;
}

static bool is_there(const struct stage *s, const struct qs_content *content)
{
    for (size_t i = 0; i < s->disk.there_n; i++) {
        const struct qs_content *there = &s->disk.there[i];
        if (memcmp(there->sha256, content->sha256, sizeof there->sha256) == 0 &&
            there->flags == content->flags)
            return true;
    }
    return false;
}

static void tell_having(struct stage *s)
{
    uint8_t memory[64];
    struct qs_build missing;
    qs_build_init(&missing, memory, sizeof memory);
    for (uint16_t i = 0; i < s->disk.asked_n; i++) {
        if (!is_there(s, &s->disk.asked[i]))
            qs_build_u16(&missing, i);
    }
    for (uint16_t i = 0; s->disk.odd && i < 2; i++)
        qs_build_u16(&missing, (uint16_t)(i * s->disk.asked_n));
    s->session = SESSION_READY;
    stage_reply(s, &(union qs_msg){.having = {.missing = qs_build_list(&missing)}});
}

bool stage_ask_have(struct stage *s, const void *message, struct qs_err *err)
{
    const struct qs_msg_have *m = message;
    struct qs_iter it = qs_list_iter(&m->files);
    if (s->disk.old_agent)
        return qs_fail(err, QS_E_AGENT, "the agent takes no files");
    if (!stage_may(s, SESSION_READY, "have", err))
        return false;
    s->disk.asked_n = 0;
    memset(s->disk.asked, 0, sizeof s->disk.asked);
    while (qs_list_content(&it, &s->disk.asked[s->disk.asked_n]))
        s->disk.asked_n++;
    s->disk.haves++;
    s->session = SESSION_FILES;
    s->operation++;
    stage_later(s, STAGE_STEP_NS, tell_having);
    return true;
}

static void tell_put_at(struct stage *s)
{
    struct stage_disk *d = &s->disk;
    struct qs_msg_put_at m = {.offset = d->sent, .why = qs_text_of("because")};
    d->told = d->sent;
    if (d->refuse_put != QS_PUT_MORE && d->sent >= STAGE_FILE_BYTES / 2) {
        m.status = d->refuse_put;
    } else if (d->sent == d->put.bytes) {
        m.status = QS_PUT_KEPT;
        d->there[d->there_n++] = d->put;
        d->kept++;
    }
    s->session = m.status == QS_PUT_MORE ? SESSION_PUTTING : SESSION_READY;
    stage_reply(s, &(union qs_msg){.put_at = m});
}

bool stage_ask_put(struct stage *s, const void *message, struct qs_err *err)
{
    const struct qs_msg_put *m = message;
    if (!stage_may(s, SESSION_READY, "put", err))
        return false;
    assert_int_equal(m->file.bytes, STAGE_FILE_BYTES);
    assert_int_equal(s->tokens, 1);
    s->disk.put = m->file;
    s->disk.sent = s->disk.told = 0;
    s->disk.puts++;
    s->session = SESSION_PUTTING;
    s->operation++;
    stage_later(s, STAGE_STEP_NS, tell_put_at);
    return true;
}

size_t qs_session_push_room(const struct qs_session *session)
{
    const struct stage *s = stage_of((struct qs_session *)(uintptr_t)session);
    uint64_t left = s->disk.put.bytes - s->disk.sent;
    if (s->session != SESSION_PUTTING || s->disk.sent - s->disk.told >= QS_PUT_AHEAD_BYTES)
        return 0;
    return left < QS_PUT_MAX_BYTES ? (size_t)left : QS_PUT_MAX_BYTES;
}

bool qs_session_push_data(struct qs_session *session, const void *bytes, size_t n, struct qs_err *err)
{
    struct stage *s = stage_of(session);
    if (!stage_may(s, SESSION_PUTTING, "put_data", err))
        return false;
    assert_in_range(n, 1, qs_session_push_room(session));
    assert_int_equal(((const char *)bytes)[n - 1], 0);
    assert_int_equal(s->tokens, 1);
    bool told = s->disk.sent / QS_PUT_TOLD_BYTES != (s->disk.sent + n) / QS_PUT_TOLD_BYTES;
    s->disk.sent += n;
    if (told || s->disk.sent == s->disk.put.bytes) {
        s->operation++;
        stage_later(s, STAGE_STEP_NS, tell_put_at);
    }
    return true;
}

static void tell_staged(struct stage *s)
{
    char path[32];
    snprintf(path, sizeof path, "/cache/%04x", s->disk.dir);
    struct qs_msg_staged m = {.status = s->disk.refuse_stage, .why = qs_text_of("because")};
    m.path = qs_text_of(m.status == QS_STAGED_OK ? path : "");
    s->session = SESSION_READY;
    stage_reply(s, &(union qs_msg){.staged = m});
}

bool stage_ask_stage(struct stage *s, const void *message, struct qs_err *err)
{
    const struct qs_msg_stage *m = message;
    struct qs_iter it = qs_list_iter(&m->places);
    struct qs_place place;
    if (!stage_may(s, SESSION_READY, "stage", err))
        return false;
    while (qs_list_place(&it, &place))
        qs_buf_fmt(&s->disk.places, "%u %.*s%s\n", (unsigned)m->dir, (int)place.name.n, place.name.p,
                   place.flags & QS_FILE_EXECUTABLE ? "*" : "");
    s->disk.stages++;
    s->disk.dir = m->dir;
    s->session = SESSION_FILES;
    s->operation++;
    stage_later(s, STAGE_STEP_NS, tell_staged);
    return true;
}

static void tell_cleaned(struct stage *s)
{
    s->session = SESSION_READY;
    stage_reply(s, &(union qs_msg){.cleaned = {.changed = s->disk.changed}});
}

bool stage_ask_clean(struct stage *s, const void *message, struct qs_err *err)
{
    const struct qs_msg_clean *m = message;
    assert_int_equal(m->what, QS_CLEAN_SESSION);
    s->disk.given_up += s->session == SESSION_PUTTING;
    if (s->session != SESSION_PUTTING && !stage_may(s, SESSION_READY, "clean", err))
        return false;
    s->disk.cleans++;
    s->session = SESSION_FILES;
    s->operation++;
    stage_later(s, STAGE_STEP_NS, tell_cleaned);
    return true;
}
