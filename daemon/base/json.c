#include "base/json.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

/* The comma that stands before every key and every element but the first. */
static void separate(struct qs_json *j)
{
    if (j->depth > 0 && !j->first[j->depth])
        qs_buf_char(j->out, ',');
    j->first[j->depth] = false;
}

static void before_value(struct qs_json *j)
{
    if (j->after_key)
        j->after_key = false;
    else
        separate(j);
}

static void open_level(struct qs_json *j, char bracket)
{
    before_value(j);
    assert(j->depth < QS_JSON_DEPTH);
    qs_buf_char(j->out, bracket);
    j->depth++;
    j->first[j->depth] = true;
}

static void close_level(struct qs_json *j, char bracket)
{
    assert(j->depth > 0 && !j->after_key);
    j->depth--;
    qs_buf_char(j->out, bracket);
}

void qs_json_object(struct qs_json *j)
{
    open_level(j, '{');
}

void qs_json_object_end(struct qs_json *j)
{
    close_level(j, '}');
}

void qs_json_array(struct qs_json *j)
{
    open_level(j, '[');
}

void qs_json_array_end(struct qs_json *j)
{
    close_level(j, ']');
}

static void put_ascii(struct qs_buf *out, char c)
{
    static const char plain[] = "\"\\\b\f\n\r\t";
    static const char named[] = "\"\\bfnrt";
    const char *at = c ? strchr(plain, c) : NULL;
    if (at) {
        qs_buf_char(out, '\\');
        qs_buf_char(out, named[at - plain]);
    } else if ((unsigned char)c < 0x20) {
        qs_buf_fmt(out, "\\u%04x", (unsigned)c);
    } else {
        qs_buf_char(out, c);
    }
}

static void put_string(struct qs_buf *out, const char *s, size_t n)
{
    qs_buf_char(out, '"');
    for (size_t i = 0; i < n;) {
        bool valid;
        size_t plain = 0; /* of most texts all: whole stretches at once */
        while (i + plain < n && s[i + plain] >= ' ' && s[i + plain] < 0x7f && s[i + plain] != '"' &&
               s[i + plain] != '\\')
            plain++;
        qs_buf_add(out, s + i, plain);
        i += plain;
        if (i == n)
            break;
        size_t step = qs_utf8_next(s + i, n - i, &valid);
        if (!valid)
            qs_buf_str(out, "\xef\xbf\xbd");
        else if (step == 1)
            put_ascii(out, s[i]);
        else
            qs_buf_add(out, s + i, step);
        i += step;
    }
    qs_buf_char(out, '"');
}

void qs_json_key(struct qs_json *j, const char *key)
{
    assert(j->depth > 0 && !j->after_key);
    separate(j);
    put_string(j->out, key, strlen(key));
    qs_buf_char(j->out, ':');
    j->after_key = true;
}

void qs_json_string(struct qs_json *j, const char *s)
{
    if (s)
        qs_json_string_n(j, s, strlen(s));
    else
        qs_json_null(j);
}

void qs_json_string_n(struct qs_json *j, const char *s, size_t n)
{
    before_value(j);
    put_string(j->out, s, n);
}

void qs_json_int(struct qs_json *j, int64_t v)
{
    before_value(j);
    qs_buf_fmt(j->out, "%" PRId64, v);
}

void qs_json_uint(struct qs_json *j, uint64_t v)
{
    before_value(j);
    qs_buf_fmt(j->out, "%" PRIu64, v);
}

void qs_json_double(struct qs_json *j, double v)
{
    if (v - v != 0) { /* only NaN and the infinities */
        qs_json_null(j);
        return;
    }
    char text[32];
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, v);
        if (strtod(text, NULL) == v)
            break;
    }
    qs_json_raw(j, text);
}

void qs_json_bool(struct qs_json *j, bool v)
{
    qs_json_raw(j, v ? "true" : "false");
}

void qs_json_null(struct qs_json *j)
{
    qs_json_raw(j, "null");
}

void qs_json_raw(struct qs_json *j, const char *json)
{
    before_value(j);
    qs_buf_str(j->out, json);
}

void qs_json_kstring(struct qs_json *j, const char *key, const char *s)
{
    qs_json_key(j, key);
    qs_json_string(j, s);
}

void qs_json_kint(struct qs_json *j, const char *key, int64_t v)
{
    qs_json_key(j, key);
    qs_json_int(j, v);
}

void qs_json_kcount(struct qs_json *j, const char *key, uint64_t v)
{
    qs_json_kint(j, key, v > INT64_MAX ? INT64_MAX : (int64_t)v);
}

void qs_json_kdouble(struct qs_json *j, const char *key, double v)
{
    qs_json_key(j, key);
    qs_json_double(j, v);
}

void qs_json_kbool(struct qs_json *j, const char *key, bool v)
{
    qs_json_key(j, key);
    qs_json_bool(j, v);
}

void qs_json_kraw(struct qs_json *j, const char *key, const char *json)
{
    qs_json_key(j, key);
    qs_json_raw(j, json);
}

void qs_json_kmaybe(struct qs_json *j, const char *key, bool has, int64_t v)
{
    qs_json_key(j, key);
    if (has)
        qs_json_int(j, v);
    else
        qs_json_null(j);
}

void qs_json_karray(struct qs_json *j, const char *key)
{
    qs_json_key(j, key);
    qs_json_array(j);
}

void qs_json_kobject(struct qs_json *j, const char *key)
{
    qs_json_key(j, key);
    qs_json_object(j);
}

void qs_json_one(struct qs_buf *out, const char *key, const char *s)
{
    struct qs_json j = qs_json_to(out);
    qs_json_object(&j);
    qs_json_kstring(&j, key, s);
    qs_json_object_end(&j);
}
