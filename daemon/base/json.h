/* A small canonical JSON writer: what is written twice from equal values is equal byte for byte (no spaces,
 * keys in the order given by the caller, integers exact, doubles in the fewest of 15, 16 or 17 digits that
 * read back equal). Text is escaped; bytes that are not UTF-8 become U+FFFD. Reading JSON is jansson's work,
 * in config and api. */
#ifndef QS_BASE_JSON_H
#define QS_BASE_JSON_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

enum { QS_JSON_DEPTH = 32 };

struct qs_json {
    struct qs_buf *out; /* borrowed */
    unsigned depth;
    bool first[QS_JSON_DEPTH + 1];
    bool after_key;
};

static inline struct qs_json qs_json_to(struct qs_buf *out)
{
    return (struct qs_json){.out = out, .first = {true}};
}
void qs_json_object(struct qs_json *j);
void qs_json_object_end(struct qs_json *j);
void qs_json_array(struct qs_json *j);
void qs_json_array_end(struct qs_json *j);
void qs_json_key(struct qs_json *j, const char *key);
void qs_json_string(struct qs_json *j, const char *s); /* NULL writes null */
void qs_json_string_n(struct qs_json *j, const char *s, size_t n);
void qs_json_int(struct qs_json *j, int64_t v);
void qs_json_uint(struct qs_json *j, uint64_t v);
void qs_json_double(struct qs_json *j, double v); /* NaN and infinities write null */
void qs_json_bool(struct qs_json *j, bool v);
void qs_json_null(struct qs_json *j);
void qs_json_raw(struct qs_json *j, const char *json); /* already JSON: written as it is */

/* key + value in one call */
void qs_json_kstring(struct qs_json *j, const char *key, const char *s);
void qs_json_kint(struct qs_json *j, const char *key, int64_t v);
/* What somebody else says: more than an int64_t holds is written as the most of that. */
void qs_json_kcount(struct qs_json *j, const char *key, uint64_t v);
void qs_json_kdouble(struct qs_json *j, const char *key, double v);
void qs_json_kbool(struct qs_json *j, const char *key, bool v);
void qs_json_kraw(struct qs_json *j, const char *key, const char *json);
void qs_json_kmaybe(struct qs_json *j, const char *key, bool has, int64_t v); /* null where it has none */
/* What follows, to its _end, is the key's value. */
void qs_json_karray(struct qs_json *j, const char *key);
void qs_json_kobject(struct qs_json *j, const char *key);
/* A whole document with one member. */
void qs_json_one(struct qs_buf *out, const char *key, const char *s);

#endif
