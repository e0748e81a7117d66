/* Files pushed to a real agent: on disk, in the directory of a run, and gone. */
#include "device.h"
#include "peer_files.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static const char *const usual_env[] = {"PATH=/usr/bin:/bin", "LC_ALL=C", NULL};
static const char script[] = "#!/bin/sh\ncat data/in\necho made > made\n";
static char state_dir[] = "/tmp/qs-agent-push-XXXXXX";
static char cache[128];

static int setup(void **state)
{
    struct device *d = malloc(sizeof *d);
    strcpy(state_dir + strlen(state_dir) - 6, "XXXXXX");
    assert_non_null(mkdtemp(state_dir));
    assert_int_equal(setenv("XDG_STATE_HOME", state_dir, 1), 0);
    snprintf(cache, sizeof cache, "%s/quiesce-agent/cache/1", state_dir);
    device_start(d);
    assert_true((d->peer.agent.features & QS_FEATURE_FILES) != 0);
    *state = d;
    return 0;
}

static int teardown(void **state)
{
    char said[64];
    const char *const argv[] = {"/bin/rm", "-rf", state_dir, NULL};
    device_stop(*state);
    free(*state);
    return device_say(argv, said, sizeof said);
}

static struct qs_content content_of(const void *bytes, size_t n, bool executable)
{
    struct qs_content content = {.bytes = n, .flags = executable ? QS_FILE_EXECUTABLE : 0};
    qs_sha256(bytes, n, content.sha256);
    return content;
}

static void push_bytes(struct device *d, const char *bytes, size_t n, bool executable)
{
    const struct qs_content content = content_of(bytes, n, executable);
    struct qs_msg_put_at m = {.status = QS_PUT_MORE};
    peer_put(&d->peer, 6, &content);
    letter_put_at(device_expect(d, QS_MSG_PUT_AT), 6, &m);
    for (size_t at = 0; at < n;) {
        size_t piece = n - at < QS_PUT_MAX_BYTES ? n - at : QS_PUT_MAX_BYTES;
        peer_put_data(&d->peer, 6, at, bytes + at, piece);
        at += piece;
    }
    while (m.status == QS_PUT_MORE) {
        letter_put_at(device_expect(d, QS_MSG_PUT_AT), 6, &m);
    }
    assert_int_equal(m.status, QS_PUT_KEPT);
    assert_int_equal(m.offset, n);
}

static void stage_bytes(struct device *d, uint16_t dir, const char *name, const struct qs_content *content,
                        char path[256])
{
    uint8_t memory[512];
    struct qs_build list;
    struct qs_place place = {.name = qs_text_of(name), .flags = content->flags};
    struct qs_msg_staged m;
    memcpy(place.sha256, content->sha256, sizeof place.sha256);
    qs_build_init(&list, memory, sizeof memory);
    qs_build_place(&list, &place);
    size_t at = peer_begin(&d->peer);
    qs_msg_encode_stage(&d->peer.w,
                        &(struct qs_msg_stage){.id = 8, .dir = dir, .places = qs_build_list(&list)});
    peer_end(&d->peer, at, QS_MSG_STAGE);
    letter_staged(device_expect(d, QS_MSG_STAGED), 8, &m);
    assert_int_equal(m.status, QS_STAGED_OK);
    qs_text_copy(m.path, path, 256);
}

static uint32_t clean(struct device *d, enum qs_clean_what what, uint64_t cache_bytes)
{
    struct qs_msg_cleaned m;
    peer_clean(&d->peer, 7, what);
    letter_cleaned(device_expect(d, QS_MSG_CLEANED), 7, &m);
    assert_int_equal(m.cache_bytes, cache_bytes);
    return m.changed;
}

static bool is_there(const char *path)
{
    struct stat st;
    return lstat(path, &st) == 0;
}

static size_t missing(struct device *d, const struct blob *blob)
{
    struct qs_msg_having m;
    peer_have(&d->peer, 5, blob, 1);
    letter_having(device_expect(d, QS_MSG_HAVING), 5, &m);
    assert_true(m.free_bytes > 0);
    return m.missing.count;
}

static void stage_program(struct device *d, char path[256])
{
    const struct qs_content program = content_of(script, sizeof script - 1, true);
    const struct qs_content data = content_of("hello\n", 6, false);
    push_bytes(d, script, sizeof script - 1, true);
    push_bytes(d, "hello\n", 6, false);
    stage_bytes(d, 2, "run", &program, path);
    stage_bytes(d, 2, "data/in", &data, path);
}

static void a_build_runs_beside_its_data(void **state)
{
    struct device *d = *state;
    struct closed closed;
    char path[256];
    char made[300];
    stage_program(d, path);
    device_measure(d,
                   &(struct run_spec){.argv = (const char *const[]){"./run", NULL},
                                      .env = usual_env,
                                      .cwd = path,
                                      .user = geteuid() == 0 ? "nobody" : NULL,
                                      .capture = true,
                                      .output_max_bytes = 100},
                   1, &closed);
    assert_int_equal(closed.row[0].status, 0);
    assert_true(qs_text_is(closed.m.output, "hello\n"));
    snprintf(made, sizeof made, "%s/made", path);
    assert_true(is_there(made));
    assert_int_equal(clean(d, QS_CLEAN_SESSION, sizeof script - 1 + 6), 0);
    assert_false(is_there(path));
    assert_int_equal(clean(d, QS_CLEAN_ALL, 0), 0);
}

static void start_again(struct device *d)
{
    close(d->in_fd);
    close(d->out_fd);
    peer_done(&d->peer);
    device_start(d);
}

/* SIGKILL in the middle of a push: what was whole before is there, what was half is not. */
static void half_a_file_has_no_name(void **state)
{
    struct device *d = *state;
    const struct blob whole = {'w', 70000, false};
    const struct blob half = {'h', 100000, false};
    const struct qs_content content = blob_content(&half);
    uint8_t *bytes = malloc(half.n);
    char path[256];
    blob_bytes(&whole, bytes);
    push_bytes(d, (const char *)bytes, whole.n, false);
    peer_put(&d->peer, 6, &content);
    device_expect(d, QS_MSG_PUT_AT);
    blob_bytes(&half, bytes);
    for (uint64_t at = 0; at < 3 * (uint64_t)QS_PUT_MAX_BYTES; at += QS_PUT_MAX_BYTES) {
        peer_put_data(&d->peer, 6, at, bytes + at, QS_PUT_MAX_BYTES);
    }
    device_expect(d, QS_MSG_PUT_AT); /* some of it is on disk */
    assert_int_equal(kill(d->agent, SIGKILL), 0);
    assert_int_equal(waitpid(d->pid, NULL, 0), d->pid);
    snprintf(path, sizeof path, "%s/files/part", cache);
    assert_true(is_there(path));
    start_again(d);
    assert_false(is_there(path));
    assert_int_equal(missing(d, &whole), 0);
    assert_int_equal(missing(d, &half), 1);
    push_bytes(d, (const char *)bytes, half.n, false);
    assert_int_equal(missing(d, &half), 0);
    free(bytes);
}

static void damaged_files_are_found(void **state)
{
    struct device *d = *state;
    const struct blob blob = {'x', 10, false};
    const struct qs_content content = blob_content(&blob);
    char path[256];
    char name[300];
    push_bytes(d, "xxxxxxxxxx", 10, false);
    stage_bytes(d, 0, "x", &content, path);
    snprintf(name, sizeof name, "%s/x", path);
    assert_int_equal(chmod(name, 0600), 0);
    FILE *f = fopen(name, "r+"); /* through the second name, as a program could */
    assert_non_null(f);
    assert_int_equal(fputs("y", f) >= 0, 1);
    assert_int_equal(fclose(f), 0);
    assert_int_equal(clean(d, QS_CLEAN_SESSION, 0), 1);
    assert_int_equal(missing(d, &blob), 1);
    push_bytes(d, "xxxxxxxxxx", 10, false);
    device_stop(d);
    snprintf(name, sizeof name, "%s/files", cache);
    char said[1024]; /* all of it: who writes into a closed pipe fails */
    const char *const argv[] = {
        "/bin/sh", "-c", "cd \"$0\" && chmod u+w * && printf z | dd of=\"$(ls)\" conv=notrunc", name, NULL};
    assert_int_equal(device_say(argv, said, sizeof said), 0);
    device_start(d);
    assert_int_equal(missing(d, &blob), 1);
}

/* Whatever a program leaves in its directory goes with it, and nothing else does. */
static void directories_are_emptied(void **state)
{
    struct device *d = *state;
    struct closed closed;
    char path[256];
    char kept[256];
    snprintf(kept, sizeof kept, "%s/kept", state_dir);
    assert_int_equal(mkdir(kept, 0777), 0);
    snprintf(kept, sizeof kept, "%s/kept/file", state_dir);
    FILE *f = fopen(kept, "w");
    assert_non_null(f);
    fclose(f);
    stage_program(d, path);
    static const char mess[] =
        "i=0; while [ $i -lt 300 ]; do mkdir deep && cd deep && : > file; i=$((i + 1)); done; cd \"$1\";"
        "ln -s \"$0\" link; mkfifo pipe; mkdir -p locked/in && : > locked/in/x && chmod 0 locked/in locked";
    snprintf(kept, sizeof kept, "%s/kept", state_dir);
    device_measure(d,
                   &(struct run_spec){.argv = (const char *const[]){"/bin/sh", "-c", mess, kept, path, NULL},
                                      .env = usual_env,
                                      .cwd = path},
                   1, &closed);
    assert_int_equal(closed.row[0].status, 0);
    clean(d, QS_CLEAN_SESSION, sizeof script - 1 + 6);
    snprintf(path, sizeof path, "%s/dirs", cache);
    assert_int_equal(rmdir(path), 0); /* it is empty */
    assert_int_equal(mkdir(path, 0700), 0);
    snprintf(kept, sizeof kept, "%s/kept/file", state_dir);
    assert_true(is_there(kept));
}

static void agents_have_places_of_their_own(void **state)
{
    struct device *d = *state;
    struct device other;
    const struct blob blob = {'x', 10, false};
    char path[256];
    push_bytes(d, "xxxxxxxxxx", 10, false);
    device_start(&other);
    assert_int_equal(missing(&other, &blob), 1);
    push_bytes(&other, "xxxxxxxxxx", 10, false);
    snprintf(path, sizeof path, "%s/quiesce-agent/cache/2/lock", state_dir);
    assert_true(is_there(path));
    device_stop(&other);
    assert_int_equal(missing(d, &blob), 0);
}

static void says_what_is_wrong_with_a_cache(void **state)
{
    char said[512];
    (void)state;
    const char *agent = getenv("QS_AGENT");
    const char *const bad[] = {agent, "--stdio", "--cache", "/proc/none", NULL};
    assert_int_equal(device_say(bad, said, sizeof said), 3);
    assert_non_null(strstr(said, "no cache for files in '/proc/none'"));
    static const char *const fine[] = {"1", "1K", "9", "0512M", "2G"};
    for (size_t i = 0; i < sizeof fine / sizeof fine[0]; i++) {
        const char *const most[] = {agent, "--stdio", "--cache", "/proc/none", "--cache-max", fine[i], NULL};
        assert_int_equal(device_say(most, said, sizeof said), 3);
        assert_non_null(strstr(said, "no cache for files in '/proc/none'"));
    }
    static const char *const sizes[] = {"", "0", "M", " 5M", "5X", "1MM", "-3", "99999999999999999999G"};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        const char *const most[] = {agent, "--stdio", "--cache-max", sizes[i], NULL};
        assert_int_equal(device_say(most, said, sizeof said), 3);
        assert_non_null(strstr(said, "such as 512M"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_build_runs_beside_its_data, setup, teardown),
        cmocka_unit_test_setup_teardown(half_a_file_has_no_name, setup, teardown),
        cmocka_unit_test_setup_teardown(damaged_files_are_found, setup, teardown),
        cmocka_unit_test_setup_teardown(directories_are_emptied, setup, teardown),
        cmocka_unit_test_setup_teardown(agents_have_places_of_their_own, setup, teardown),
        cmocka_unit_test(says_what_is_wrong_with_a_cache),
    };
    return cmocka_run_group_tests_name("agent-push", tests, NULL, NULL);
}
