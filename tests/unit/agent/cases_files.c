/* Files that the host pushes: what is kept, what goes, what is refused. */
#include "cases.h"
#include "peer_files.h"
#include "script.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { TOTAL_BYTES = 3200, RESERVE_BYTES = TOTAL_BYTES / QS_CACHE_RESERVE_SHARE };

static const struct blob a = {'a', 1000, true};
static const struct blob b = {'b', 1000, false};
static const struct blob c = {'c', 1000, false};
static const struct blob d = {'d', 1000, false};

static struct script *plugged(const struct script_options *options)
{
    struct script *s = script_new(options);
    script_connect(s);
    assert_int_equal((s->peer.agent.features & QS_FEATURE_FILES) != 0, !options->no_files);
    return s;
}

static struct script *usual(void)
{
    return plugged(&(struct script_options){.disk = {.total_bytes = TOTAL_BYTES}});
}

/* How many of n are missing, and where the first of them stands. */
static uint16_t ask(struct script *s, const struct blob *blobs, size_t n, uint16_t *first)
{
    struct qs_msg_having m;
    uint16_t ignored;
    peer_have(&s->peer, 5, blobs, n);
    letter_having(script_expect(s, QS_MSG_HAVING), 5, &m);
    struct qs_iter it = qs_list_iter(&m.missing);
    (void)qs_list_u16(&it, first ? first : &ignored);
    assert_int_equal(m.most_bytes, s->agent->options.cache_most_bytes ? s->agent->options.cache_most_bytes
                                                                      : QS_CACHE_MOST_BYTES);
    return m.missing.count;
}

static bool has(struct script *s, const struct blob *blob)
{
    return ask(s, blob, 1, NULL) == 0;
}

static void expect_put_at(struct script *s, enum qs_put_status status, uint64_t offset, const char *why)
{
    struct qs_msg_put_at m;
    letter_put_at(script_expect(s, QS_MSG_PUT_AT), 6, &m);
    assert_int_equal(m.status, status);
    assert_int_equal(m.offset, offset);
    if (why && !memmem(m.why.p, m.why.n, why, strlen(why))) {
        fail_msg("'%.*s' does not say '%s'", (int)m.why.n, m.why.p, why);
    }
}

static void begin(struct script *s, const struct blob *blob)
{
    const struct qs_content content = blob_content(blob);
    peer_put(&s->peer, 6, &content);
}

static void send_data(struct script *s, const struct blob *blob, size_t from, size_t n)
{
    uint8_t bytes[DISK_FILE_BYTES];
    blob_bytes(blob, bytes);
    peer_put_data(&s->peer, 6, from, bytes + from, n);
}

static void push(struct script *s, const struct blob *blob)
{
    begin(s, blob);
    expect_put_at(s, QS_PUT_MORE, 0, NULL);
    send_data(s, blob, 0, blob->n);
    expect_put_at(s, QS_PUT_KEPT, blob->n, NULL);
}

static void clean(struct script *s, enum qs_clean_what what, uint64_t freed, uint64_t cache, uint32_t changed)
{
    struct qs_msg_cleaned m;
    peer_clean(&s->peer, 7, what);
    letter_cleaned(script_expect(s, QS_MSG_CLEANED), 7, &m);
    assert_int_equal(m.freed_bytes, freed);
    assert_int_equal(m.cache_bytes, cache);
    assert_int_equal(m.changed, changed);
}

static enum qs_staged_status stage(struct script *s, const char *name, const struct blob *blob)
{
    struct qs_msg_staged m;
    peer_stage(&s->peer, 8, 3, name, blob);
    letter_staged(script_expect(s, QS_MSG_STAGED), 8, &m);
    assert_int_equal(m.status == QS_STAGED_OK, qs_text_is(m.path, "/cache/3"));
    return m.status;
}

static void a_file_comes_once(void **state)
{
    const struct blob both[] = {a, b};
    uint16_t first = 99;
    (void)state;
    struct script *s = usual();
    assert_int_equal(ask(s, NULL, 0, NULL), 0);
    assert_int_equal(ask(s, both, 2, &first), 2);
    begin(s, &a);
    expect_put_at(s, QS_PUT_MORE, 0, NULL);
    send_data(s, &a, 0, 400);
    script_expect_nothing(s);
    send_data(s, &a, 400, 600);
    expect_put_at(s, QS_PUT_KEPT, 1000, NULL);
    assert_int_equal(s->disk.files[0].used_ns, 0);
    assert_int_equal(ask(s, both, 2, &first), 1);
    assert_int_equal(first, 1);
    assert_int_equal(s->disk.files[0].used_ns, 1); /* the next life knows what was used last */
    begin(s, &a);                                  /* it is there: nothing is sent again */
    expect_put_at(s, QS_PUT_KEPT, 1000, NULL);
    assert_int_equal(s->disk.files[0].used_ns, 2);
    assert_false(has(s, &(struct blob){'a', 1000, false})); /* without the right to execute it is another */
    push(s, &(struct blob){.byte = 'e', .n = 1});
    begin(s, &(struct blob){.byte = 'e', .n = 0});
    expect_put_at(s, QS_PUT_KEPT, 0, NULL);
    assert_int_equal(stage(s, "bin/a", &a), QS_STAGED_OK);
    assert_string_equal(s->disk.last_name, "3/bin/a");
    clean(s, QS_CLEAN_SESSION, 1, 1001, 0);
    assert_int_equal(s->disk.sums, 0);
    assert_true(has(s, &a));
    clean(s, QS_CLEAN_ALL, 1001, 0, 0);
    assert_int_equal(s->disk.count, 0);
    assert_false(has(s, &a));
    script_free(s);
}

/* Of a long file the host hears each 64 KiB, and not more often. */
static void a_long_file_is_told_on_its_way(void **state)
{
    static const uint8_t piece[QS_PUT_TOLD_BYTES / 4];
    struct qs_content content = blob_content(&a);
    (void)state;
    struct script *s = plugged(&(struct script_options){.disk = {.total_bytes = 1 << 20}});
    content.bytes = 4 * QS_PUT_TOLD_BYTES;
    peer_put(&s->peer, 6, &content);
    expect_put_at(s, QS_PUT_MORE, 0, NULL);
    for (uint64_t at = 0; at < 3 * QS_PUT_TOLD_BYTES; at += sizeof piece) {
        peer_put_data(&s->peer, 6, at, piece, sizeof piece);
        if ((at + sizeof piece) % QS_PUT_TOLD_BYTES == 0) {
            expect_put_at(s, QS_PUT_MORE, at + sizeof piece, NULL);
        }
        script_expect_nothing(s);
    }
    script_free(s);
}

static void wrong_content_is_not_kept(void **state)
{
    (void)state;
    struct script *s = usual();
    begin(s, &a);
    expect_put_at(s, QS_PUT_MORE, 0, NULL);
    send_data(s, &b, 0, 1000);
    expect_put_at(s, QS_PUT_WRONG, 1000, "SHA-256");
    assert_int_equal(s->disk.count, 0);
    assert_false(s->disk.parted);
    assert_false(has(s, &a));
    send_data(s, &a, 0, 1000); /* of a PUT that is over */
    script_expect_nothing(s);
    begin(s, &a);
    expect_put_at(s, QS_PUT_MORE, 0, NULL);
    peer_put_data(&s->peer, 5, 0, "x", 1); /* of another */
    script_expect_nothing(s);
    const struct qs_content content = blob_content(&b); /* another in its place */
    peer_put(&s->peer, 9, &content);
    assert_int_equal(script_expect(s, QS_MSG_PUT_AT)->type, QS_MSG_PUT_AT);
    send_data(s, &a, 0, 1000);
    script_expect_nothing(s);
    script_free(s);
}

static void the_least_recently_used_goes(void **state)
{
    (void)state;
    struct script *s = usual();
    push(s, &a);
    push(s, &b);
    push(s, &c);
    assert_true(has(s, &a)); /* the latest now; all three are held */
    begin(s, &d);
    expect_put_at(s, QS_PUT_NO_SPACE, 0, "needs 1000 bytes; 200 are free, of which 100 stay so");
    assert_int_equal(s->disk.count, 3);
    clean(s, QS_CLEAN_SESSION, 0, 3000, 0);
    assert_true(has(s, &c));
    push(s, &d); /* b is the oldest, and not held */
    assert_false(has(s, &b));
    assert_true(has(s, &c));
    assert_true(has(s, &d));
    assert_true(has(s, &a));
    clean(s, QS_CLEAN_SESSION, 0, 3000, 0);
    push(s, &(struct blob){'f', 2000, false}); /* two go: c, then d */
    assert_int_equal(s->disk.count, 2);
    assert_true(has(s, &a));
    script_free(s);
}

/* What can never fit evicts nothing. */
static void room_is_looked_for_first(void **state)
{
    (void)state;
    struct script *s = usual();
    push(s, &a);
    clean(s, QS_CLEAN_SESSION, 0, 1000, 0);
    begin(s, &(struct blob){'f', TOTAL_BYTES - RESERVE_BYTES + 1, false});
    expect_put_at(s, QS_PUT_NO_SPACE, 0, "3101");
    assert_true(has(s, &a));
    clean(s, QS_CLEAN_SESSION, 0, 1000, 0);
    struct qs_content huge = blob_content(&b);
    huge.bytes = QS_FILE_MAX_BYTES;
    peer_put(&s->peer, 6, &huge);
    expect_put_at(s, QS_PUT_NO_SPACE, 0, NULL);
    s->disk.no_space_known = true; /* who does not know his room has none */
    begin(s, &b);
    expect_put_at(s, QS_PUT_NO_SPACE, 0, NULL);
    script_free(s);
    s = plugged(&(struct script_options){.disk = {.total_bytes = 1 << 20}, .cache_most_bytes = 1500});
    push(s, &a);
    begin(s, &b);
    expect_put_at(s, QS_PUT_NO_SPACE, 0, "the cache has 1000 of at most 1500, and 1000 of these are in use");
    clean(s, QS_CLEAN_SESSION, 0, 1000, 0);
    push(s, &b);
    assert_false(has(s, &a));
    script_free(s);
    s = plugged(&(struct script_options){.disk = {.total_bytes = 1 << 20}, .cache_most_bytes = 2500});
    push(s, &a);
    clean(s, QS_CLEAN_SESSION, 0, 1000, 0);
    push(s, &b);
    begin(s, &(struct blob){'f', 2000, false});
    expect_put_at(s, QS_PUT_NO_SPACE, 0, "the cache has 2000 of at most 2500, and 1000 of these are in use");
    assert_true(has(s, &a));
    script_free(s);
}

static void a_full_table_is_a_full_cache(void **state)
{
    (void)state;
    struct qs_cache *cache = malloc(sizeof *cache);
    const struct qs_cache_room room = qs_cache_room_of(1 << 20, 1 << 20, 0);
    struct qs_port_key key = {.executable = false};
    qs_cache_init(cache);
    for (size_t i = 0; i < QS_CACHE_FILES_MAX; i++) {
        memcpy(key.sha256, &i, sizeof i);
        assert_non_null(qs_cache_add(cache, &key, 1));
    }
    assert_null(qs_cache_add(cache, &key, 1));
    assert_false(qs_cache_fits(cache, &room, 1));
    assert_true(qs_cache_could_fit(cache, &room, 1));
    for (size_t i = 0; i < QS_CACHE_FILES_MAX; i++) {
        qs_cache_hold(cache, &cache->items[i]);
    }
    assert_false(qs_cache_could_fit(cache, &room, 1));
    assert_null(qs_cache_victim(cache));
    qs_cache_init(cache);
    const struct qs_cache_room edge = {.free_bytes = 100, .reserve_bytes = 100, .most_bytes = 10};
    assert_true(qs_cache_fits(cache, &edge, 0));
    assert_false(qs_cache_fits(cache, &edge, 1));
    assert_non_null(qs_cache_add(cache, &key, edge.most_bytes)); /* as full as it may be, then fuller */
    assert_true(qs_cache_fits(cache, &edge, 0));
    assert_non_null(qs_cache_add(cache, &key, 1));
    assert_false(qs_cache_fits(cache, &edge, 0));
    free(cache);
}

static struct qs_port_key key_of(const struct blob *blob)
{
    const struct qs_content content = blob_content(blob);
    struct qs_port_key key = {.executable = blob->executable};
    memcpy(key.sha256, content.sha256, sizeof key.sha256);
    return key;
}

/* What an earlier life has left is summed up once; what is not what it is called goes. */
static void a_new_life_verifies(void **state)
{
    const struct qs_port_key key_a = key_of(&a);
    const struct qs_port_key key_b = key_of(&b);
    const struct qs_port_key key_c = key_of(&c);
    (void)state;
    struct script_options options = {.disk = {.total_bytes = 4000}};
    disk_leave(&options.disk, &key_a, 'a', 1000, 30);
    disk_leave(&options.disk, &key_b, 'B', 1000, 10);
    disk_leave(&options.disk, &key_c, 'c', 1000, 20);
    struct script *s = plugged(&options);
    assert_true(has(s, &a));
    assert_true(has(s, &a));
    assert_int_equal(s->disk.sums, 1);
    assert_false(has(s, &b));
    assert_int_equal(s->disk.count, 2);
    clean(s, QS_CLEAN_SESSION, 0, 2000, 0);
    push(s,
         &(struct blob){'f', 2000, false}); /* the order of the earlier life holds: c, then a is the latest */
    assert_int_equal(s->disk.count, 2);
    assert_true(has(s, &a));
    script_free(s);
}

/* A file that was shorter than it is called comes whole, and counts once. */
static void a_cut_file_is_replaced(void **state)
{
    const struct qs_port_key key = key_of(&a);
    struct script_options options = {.disk = {.total_bytes = 4000}};
    (void)state;
    disk_leave(&options.disk, &key, 'a', 500, 30);
    struct script *s = plugged(&options);
    assert_int_equal(s->agent->files.cache.bytes, 500);
    push(s, &a);
    assert_int_equal(s->agent->files.cache.count, 1);
    clean(s, QS_CLEAN_SESSION, 0, 1000, 0);
    script_free(s);
}

/* A program of the session has written into a file. */
static void what_was_written_into_goes(void **state)
{
    (void)state;
    struct script *s = usual();
    push(s, &a);
    push(s, &b);
    s->disk.files[0].stamp++; /* touched, and still right */
    assert_true(has(s, &a));
    assert_int_equal(s->disk.sums, 1);
    s->disk.files[1].bytes[7] = 'x';
    s->disk.files[1].stamp++;
    clean(s, QS_CLEAN_SESSION, 1000, 1000, 1);
    assert_true(has(s, &a));
    assert_false(has(s, &b));
    script_free(s);
}

static void a_lost_link_leaves_nothing_half(void **state)
{
    (void)state;
    struct script *s = usual();
    push(s, &b);
    assert_int_equal(stage(s, "b", &b), QS_STAGED_OK);
    begin(s, &a);
    expect_put_at(s, QS_PUT_MORE, 0, NULL);
    send_data(s, &a, 0, 10);
    script_unplug(s);
    assert_false(s->disk.parted);
    assert_int_equal(s->disk.placed, 0);
    script_connect(s);
    assert_true(has(s, &b));
    assert_false(has(s, &a));
    push(s, &a);
    assert_int_equal(stage(s, "b", &b), QS_STAGED_OK);
    script_run(s, &(struct run_spec){0}); /* the link is lost in a run */
    assert_int_equal(s->disk.placed, 1);
    script_unplug(s);
    assert_int_equal(s->disk.placed, 0);
    script_free(s);
}

static void the_disk_may_refuse(void **state)
{
    (void)state;
    struct script *s = usual();
    s->disk.refuse = EIO;
    begin(s, &a);
    expect_put_at(s, QS_PUT_FAILED, 0, "errno 5");
    begin(s, &a);
    expect_put_at(s, QS_PUT_MORE, 0, NULL);
    s->disk.refuse = ENOSPC;
    send_data(s, &a, 0, 10);
    expect_put_at(s, QS_PUT_NO_SPACE, 0, "errno 28");
    begin(s, &a);
    expect_put_at(s, QS_PUT_MORE, 0, NULL);
    send_data(s, &a, 0, 999);
    s->disk.refuse = EROFS;
    send_data(s, &a, 999, 1);
    expect_put_at(s, QS_PUT_FAILED, 999, "errno 30");
    begin(s, &a);
    expect_put_at(s, QS_PUT_MORE, 0, NULL);
    s->disk.refuse_keep = EDQUOT;
    send_data(s, &a, 0, 1000);
    expect_put_at(s, QS_PUT_FAILED, 1000, "errno");
    assert_int_equal(s->disk.count, 0);
    push(s, &a);
    assert_int_equal(stage(s, "b", &b), QS_STAGED_MISSING);
    s->disk.refuse = EIO;
    assert_int_equal(stage(s, "a", &a), QS_STAGED_FAILED);
    s->disk.refuse = ENOSPC;
    assert_int_equal(stage(s, "a", &a), QS_STAGED_NO_SPACE);
    clean(s, QS_CLEAN_SESSION, 0, 1000, 0);
    assert_int_equal(stage(s, "a", &a), QS_STAGED_MISSING); /* it is there, and nobody asked for it */
    script_free(s);
}

static void data_must_fit_its_file(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++) {
        struct script *s = usual();
        begin(s, &a);
        expect_put_at(s, QS_PUT_MORE, 0, NULL);
        if (i == 3) {
            send_data(s, &a, 0, 400);
            uint8_t rest[601] = {0};
            peer_put_data(&s->peer, 6, 400, rest, sizeof rest);
        } else if (i == 0) {
            send_data(s, &a, 1, 10); /* a gap */
        } else if (i == 1) {
            uint8_t many[1001] = {0};
            peer_put_data(&s->peer, 6, 0, many, sizeof many);
        } else {
            peer_bytes(&s->peer, QS_MSG_PUT_DATA, "\6\0\0\0", 4); /* cut */
        }
        script_expect_fatal(s);
        assert_false(s->disk.parted);
        script_free(s);
    }
}

/* Names that lead elsewhere end the link, like everything else that no host says. */
static void hostile_names(void **state)
{
    static const char *const names[] = {"",     "/etc/passwd", "..",  "../x", "a/../../x",
                                        "a//b", "./a",         "a/.", "a/"};
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        struct script *s = usual();
        uint8_t payload[128] = {8, 0, 0, 0, 3, 0, 1, 0};
        size_t n = strlen(names[i]);
        push(s, &a);
        payload[8] = (uint8_t)n;
        memcpy(payload + 10, names[i], n);
        peer_bytes(&s->peer, QS_MSG_STAGE, payload, 10 + n + QS_SHA256_BYTES + 1);
        script_expect_fatal(s);
        assert_int_equal(s->disk.placed, 0);
        script_free(s);
    }
}

static void without_files(void **state)
{
    static const uint8_t types[] = {QS_MSG_HAVE, QS_MSG_PUT, QS_MSG_STAGE, QS_MSG_CLEAN};
    (void)state;
    for (size_t i = 0; i < sizeof types; i++) {
        struct script *s = plugged(&(struct script_options){.no_files = true});
        const struct qs_content content = blob_content(&a);
        switch (types[i]) {
        case QS_MSG_HAVE:
            peer_have(&s->peer, 5, &a, 1);
            break;
        case QS_MSG_PUT:
            peer_put(&s->peer, 5, &content);
            break;
        case QS_MSG_STAGE:
            peer_stage(&s->peer, 5, 0, "a", &a);
            break;
        default:
            peer_clean(&s->peer, 5, QS_CLEAN_ALL);
        }
        script_expect_fatal(s);
        script_free(s);
    }
}

const struct CMUnitTest cases_files[] = {
    cmocka_unit_test(a_file_comes_once),
    cmocka_unit_test(a_long_file_is_told_on_its_way),
    cmocka_unit_test(wrong_content_is_not_kept),
    cmocka_unit_test(the_least_recently_used_goes),
    cmocka_unit_test(room_is_looked_for_first),
    cmocka_unit_test(a_full_table_is_a_full_cache),
    cmocka_unit_test(a_new_life_verifies),
    cmocka_unit_test(a_cut_file_is_replaced),
    cmocka_unit_test(what_was_written_into_goes),
    cmocka_unit_test(a_lost_link_leaves_nothing_half),
    cmocka_unit_test(the_disk_may_refuse),
    cmocka_unit_test(data_must_fit_its_file),
    cmocka_unit_test(hostile_names),
    cmocka_unit_test(without_files),
};
const size_t cases_files_count = sizeof cases_files / sizeof cases_files[0];
