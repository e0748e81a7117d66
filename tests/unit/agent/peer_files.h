/* Pushing files, as the tests' host says it. */
#ifndef QS_TESTS_AGENT_PEER_FILES_H
#define QS_TESTS_AGENT_PEER_FILES_H

#include "peer.h"

/* A content of n bytes, each of them `byte`. */
struct blob {
    uint8_t byte;
    size_t n;
    bool executable;
};
struct qs_content blob_content(const struct blob *blob);
void blob_bytes(const struct blob *blob, uint8_t *bytes);

void peer_have(struct peer *p, uint32_t id, const struct blob *blobs, size_t n);
void peer_put(struct peer *p, uint32_t id, const struct qs_content *content);
void peer_put_data(struct peer *p, uint32_t id, uint64_t offset, const void *bytes, size_t n);
void peer_stage(struct peer *p, uint32_t id, uint16_t dir, const char *name, const struct blob *blob);
void peer_clean(struct peer *p, uint32_t id, enum qs_clean_what what);
void peer_read(struct peer *p, uint32_t id);

/* What an answer says; each asserts that it decodes and answers `id`. */
void letter_having(const struct letter *l, uint32_t id, struct qs_msg_having *m);
void letter_put_at(const struct letter *l, uint32_t id, struct qs_msg_put_at *m);
void letter_staged(const struct letter *l, uint32_t id, struct qs_msg_staged *m);
void letter_cleaned(const struct letter *l, uint32_t id, struct qs_msg_cleaned *m);
void letter_readings(const struct letter *l, uint32_t id, struct qs_msg_readings *m);

#endif
