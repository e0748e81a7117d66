#include "peer_files.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

void blob_bytes(const struct blob *blob, uint8_t *bytes)
{
    memset(bytes, blob->byte, blob->n);
}

struct qs_content blob_content(const struct blob *blob)
{
    struct qs_content content = {.bytes = blob->n, .flags = blob->executable ? QS_FILE_EXECUTABLE : 0};
    uint8_t *bytes = malloc(blob->n + 1);
    blob_bytes(blob, bytes);
    qs_sha256(bytes, blob->n, content.sha256);
    free(bytes);
    return content;
}

void peer_have(struct peer *p, uint32_t id, const struct blob *blobs, size_t n)
{
    uint8_t memory[QS_FILES_MAX * 48];
    struct qs_build list;
    qs_build_init(&list, memory, sizeof memory);
    for (size_t i = 0; i < n; i++) {
        const struct qs_content content = blob_content(&blobs[i]);
        assert_true(qs_build_content(&list, &content));
    }
    size_t at = peer_begin(p);
    assert_true(qs_msg_encode_have(&p->w, &(struct qs_msg_have){.id = id, .files = qs_build_list(&list)}));
    peer_end(p, at, QS_MSG_HAVE);
}

void peer_put(struct peer *p, uint32_t id, const struct qs_content *content)
{
    size_t at = peer_begin(p);
    assert_true(qs_msg_encode_put(&p->w, &(struct qs_msg_put){.id = id, .file = *content}));
    peer_end(p, at, QS_MSG_PUT);
}

void peer_put_data(struct peer *p, uint32_t id, uint64_t offset, const void *bytes, size_t n)
{
    const struct qs_msg_put_data m = {.id = id, .offset = offset, .data = {.p = bytes, .n = (uint16_t)n}};
    size_t at = peer_begin(p);
    assert_true(qs_msg_encode_put_data(&p->w, &m));
    peer_end(p, at, QS_MSG_PUT_DATA);
}

void peer_stage(struct peer *p, uint32_t id, uint16_t dir, const char *name, const struct blob *blob)
{
    uint8_t memory[2048 + 64];
    struct qs_build list;
    const struct qs_content content = blob_content(blob);
    struct qs_place place = {.name = qs_text_of(name), .flags = content.flags};
    memcpy(place.sha256, content.sha256, sizeof place.sha256);
    qs_build_init(&list, memory, sizeof memory);
    assert_true(qs_build_place(&list, &place));
    size_t at = peer_begin(p);
    assert_true(qs_msg_encode_stage(
        &p->w, &(struct qs_msg_stage){.id = id, .dir = dir, .places = qs_build_list(&list)}));
    peer_end(p, at, QS_MSG_STAGE);
}

void peer_clean(struct peer *p, uint32_t id, enum qs_clean_what what)
{
    size_t at = peer_begin(p);
    assert_true(qs_msg_encode_clean(&p->w, &(struct qs_msg_clean){.id = id, .what = what}));
    peer_end(p, at, QS_MSG_CLEAN);
}

void peer_read(struct peer *p, uint32_t id)
{
    size_t at = peer_begin(p);
    assert_true(qs_msg_encode_read(&p->w, &(struct qs_msg_read){.id = id}));
    peer_end(p, at, QS_MSG_READ);
}

#define LETTER(shape)                                                                                        \
    void letter_##shape(const struct letter *l, uint32_t id, struct qs_msg_##shape *m)                       \
    {                                                                                                        \
        assert_int_equal(qs_msg_decode_##shape(l->payload, l->n, m), 0);                                     \
        assert_int_equal(m->id, id);                                                                         \
    }
LETTER(having)
LETTER(put_at)
LETTER(staged)
LETTER(cleaned)
LETTER(readings)
