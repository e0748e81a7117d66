/* Files on the device: pushed by content into the agent's cache, laid out in directories for the runs of a
 * session; only where QS_FEATURE_FILES is agreed, and only between runs. */
#ifndef QS_PROTO_MSG_FILES_H
#define QS_PROTO_MSG_FILES_H

#include "proto/auth.h"
#include "proto/wire.h"

enum qs_file_flag { QS_FILE_EXECUTABLE = 1, QS_FILE_FLAGS = 1 };

/* One content of the cache: the same bytes with and without the right to execute them are two. */
struct qs_content {
    uint8_t sha256[QS_SHA256_BYTES];
    uint64_t bytes; /* <= QS_FILE_MAX_BYTES */
    uint8_t flags;  /* enum qs_file_flag; other bits are refused */
};
bool qs_list_content(struct qs_iter *it, struct qs_content *out);
bool qs_build_content(struct qs_build *b, const struct qs_content *v);

/* Which of these are there? They stay, from here to the end of the session or CLEAN. None: how full is it? */
struct qs_msg_have {
    uint32_t id;          /* chosen by the host, comes back; so in all of them */
    struct qs_list files; /* of struct qs_content, <= QS_FILES_MAX */
};
bool qs_msg_encode_have(struct qs_writer *w, const struct qs_msg_have *m);
int qs_msg_decode_have(const uint8_t *p, size_t n, struct qs_msg_have *m);

struct qs_msg_having {
    uint32_t id;
    struct qs_list missing; /* of u16: indices in HAVE, < QS_FILES_MAX */
    uint64_t cache_bytes;   /* of the files that are there */
    uint64_t free_bytes;    /* of the file system, for us */
    uint64_t most_bytes;    /* that the cache will hold */
};
bool qs_msg_encode_having(struct qs_writer *w, const struct qs_msg_having *m);
int qs_msg_decode_having(const uint8_t *p, size_t n, struct qs_msg_having *m);

/* A file begins; its PUT_DATA follow when the first PUT_AT has come. It stays as HAVE says. */
struct qs_msg_put {
    uint32_t id;
    struct qs_content file;
};
bool qs_msg_encode_put(struct qs_writer *w, const struct qs_msg_put *m);
int qs_msg_decode_put(const uint8_t *p, size_t n, struct qs_msg_put *m);

struct qs_msg_put_data {
    uint32_t id;
    uint64_t offset;     /* as many bytes came before */
    struct qs_text data; /* any bytes, 1 .. QS_PUT_MAX_BYTES */
};
bool qs_msg_encode_put_data(struct qs_writer *w, const struct qs_msg_put_data *m);
int qs_msg_decode_put_data(const uint8_t *p, size_t n, struct qs_msg_put_data *m);

enum qs_put_status {
    QS_PUT_MORE = 0,     /* so far so good */
    QS_PUT_KEPT = 1,     /* whole, verified, on disk */
    QS_PUT_NO_SPACE = 2, /* nor would there be any if everything unused went */
    QS_PUT_WRONG = 3,    /* the content has another hash */
    QS_PUT_FAILED = 4    /* the device's file system */
};
struct qs_msg_put_at {
    uint32_t id;
    enum qs_put_status status; /* all but MORE end it, and nothing of it is left but of KEPT */
    uint64_t offset;           /* bytes taken */
    struct qs_text why;        /* <= QS_NOTE_MAX_BYTES */
};
bool qs_msg_encode_put_at(struct qs_writer *w, const struct qs_msg_put_at *m);
int qs_msg_decode_put_at(const uint8_t *p, size_t n, struct qs_msg_put_at *m);

/* Where a content lies for the runs. */
struct qs_place {
    struct qs_text name; /* 1 .. QS_FILE_NAME_MAX_BYTES; relative, no empty part, no "." or ".." */
    uint8_t sha256[QS_SHA256_BYTES];
    uint8_t flags;
};
bool qs_list_place(struct qs_iter *it, struct qs_place *out);
bool qs_build_place(struct qs_build *b, const struct qs_place *v);

/* Lays files out in the session's directory of this number, beside what is there; several may follow each
 * other. */
struct qs_msg_stage {
    uint32_t id;
    uint16_t dir;
    struct qs_list places; /* of struct qs_place, <= QS_FILES_MAX, <= QS_STAGE_MAX_BYTES encoded */
};
bool qs_msg_encode_stage(struct qs_writer *w, const struct qs_msg_stage *m);
int qs_msg_decode_stage(const uint8_t *p, size_t n, struct qs_msg_stage *m);

enum qs_staged_status {
    QS_STAGED_OK = 0,
    QS_STAGED_MISSING = 1,
    QS_STAGED_NO_SPACE = 2,
    QS_STAGED_FAILED = 3
};
struct qs_msg_staged {
    uint32_t id;
    enum qs_staged_status status;
    struct qs_text path; /* OK: of the directory, absolute; else empty. <= QS_PATH_MAX_BYTES */
    struct qs_text why;  /* <= QS_NOTE_MAX_BYTES */
};
bool qs_msg_encode_staged(struct qs_writer *w, const struct qs_msg_staged *m);
int qs_msg_decode_staged(const uint8_t *p, size_t n, struct qs_msg_staged *m);

enum qs_clean_what {
    QS_CLEAN_SESSION = 0, /* the session's directories; its files may go when room is needed */
    QS_CLEAN_ALL = 1      /* and every file of the cache */
};
struct qs_msg_clean {
    uint32_t id;
    enum qs_clean_what what;
};
bool qs_msg_encode_clean(struct qs_writer *w, const struct qs_msg_clean *m);
int qs_msg_decode_clean(const uint8_t *p, size_t n, struct qs_msg_clean *m);

struct qs_msg_cleaned {
    uint32_t id;
    uint64_t freed_bytes;
    uint64_t cache_bytes; /* now */
    uint32_t changed;     /* files of the session that a program has written into: they are gone */
};
bool qs_msg_encode_cleaned(struct qs_writer *w, const struct qs_msg_cleaned *m);
int qs_msg_decode_cleaned(const uint8_t *p, size_t n, struct qs_msg_cleaned *m);

#endif
