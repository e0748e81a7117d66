/* What a survey brought: rows by path, by pattern, and as values. */
#include "device/board/survey.h"

#include <ctype.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "device/board/impl.h"

enum { TEXT_BYTES = 200, WORDS_MAX = 64, WORD_BYTES = 64 };
#define NUMBER_MAX INT64_C(1000000000000000)

static bool is_path(const char *path)
{
    size_t n = strlen(path);
    for (size_t i = 0; i < n; i++)
        if ((unsigned char)path[i] <= 0x20 || (unsigned char)path[i] >= 0x7f)
            return false;
    /* A name becomes part of patterns: wildcards in it would stand for others. */
    return n > 0 && n <= QS_BOARD_PATH_MAX && path[0] != '/' && strstr(path, "..") == NULL &&
           strpbrk(path, "*?[") == NULL;
}

void qs_survey_add(struct qs_survey *survey, const char *path, unsigned access, enum qs_reading_status status,
                   int32_t error, const void *value, size_t value_bytes)
{
    if (survey->count == QS_BOARD_ROWS_MAX || !is_path(path)) {
        survey->refused++;
        return;
    }
    size_t n = value_bytes < QS_BOARD_VALUE_MAX ? value_bytes : QS_BOARD_VALUE_MAX;
    survey->rows = qs_grow(survey->rows, survey->count, sizeof *survey->rows);
    struct qs_survey_row *row = &survey->rows[survey->count++];
    *row = (struct qs_survey_row){
        .path = qs_strdup(path), .access = access, .status = status, .error = error, .value_bytes = n};
    row->value = qs_malloc(n + 1);
    if (n > 0)
        memcpy(row->value, value, n);
    row->value[n] = '\0';
}

void qs_survey_done(struct qs_survey *survey)
{
    for (size_t i = 0; i < survey->count; i++) {
        free(survey->rows[i].path);
        free(survey->rows[i].value);
    }
    free(survey->rows);
    *survey = (struct qs_survey){0};
}

void qs_survey_match(const struct qs_survey *survey, const char *pattern,
                     const struct qs_survey_row **ret_first, const struct qs_survey_row **ret_other)
{
    *ret_first = *ret_other = NULL;
    for (size_t i = 0; i < survey->count && *ret_other == NULL; i++) {
        const struct qs_survey_row *row = &survey->rows[i];
        if (row->status == QS_READING_MISSING || !qs_glob(pattern, row->path))
            continue;
        if (*ret_first == NULL)
            *ret_first = row;
        else if (strcmp(row->path, (*ret_first)->path) != 0)
            *ret_other = row;
    }
}

bool qs_survey_number(const struct qs_survey_row *row, int64_t *ret)
{
    return qs_row_whole(row, ret);
}

bool qs_survey_decimal(const struct qs_survey_row *row, int64_t *ret)
{
    const char *at = row->value + strspn(row->value, " \t");
    char *end = NULL;
    errno = 0;
    *ret = isdigit((unsigned char)at[*at == '-']) ? strtoll(at, &end, 10) : 0;
    return end != NULL && errno == 0;
}

bool qs_glob(const char *pattern, const char *path)
{
    return fnmatch(pattern, path, FNM_PATHNAME | FNM_NOESCAPE) == 0;
}

bool qs_glob_type(const char *pattern, const char *text)
{
    return fnmatch(pattern, text, FNM_CASEFOLD | FNM_NOESCAPE) == 0;
}

bool qs_strings_have(const struct qs_strings *s, const char *text)
{
    for (size_t i = 0; i < s->count; i++)
        if (strcmp(s->at[i], text) == 0)
            return true;
    return false;
}

/* The first row at or behind the path. */
static size_t first_at(const struct qs_work *w, const char *path, size_t n)
{
    size_t lo = 0, hi = w->row_count;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (strncmp(w->rows[mid]->path, path, n) < 0)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

const struct qs_survey_row *qs_work_find(const struct qs_work *w, const char *path)
{
    size_t i = first_at(w, path, strlen(path) + 1);
    return i < w->row_count && strcmp(w->rows[i]->path, path) == 0 ? w->rows[i] : NULL;
}

const struct qs_survey_row *qs_work_in(const struct qs_work *w, const char *folder, const char *file)
{
    if (file == NULL)
        return NULL;
    QS_FREED char *path = qs_asprintf("%s/%s", folder, file);
    return qs_work_find(w, path);
}

static int by_number(const void *a, const void *b)
{
    return strverscmp(*(char *const *)a, *(char *const *)b);
}

static void sort(struct qs_strings *s)
{
    if (s->count > 1)
        qsort(s->at, s->count, sizeof *s->at, by_number);
}

void qs_work_files(const struct qs_work *w, const char *pattern, struct qs_strings *ret)
{
    size_t n = strcspn(pattern, "*?[");
    for (size_t i = first_at(w, pattern, n); i < w->row_count && strncmp(w->rows[i]->path, pattern, n) == 0;
         i++)
        if (qs_glob(pattern, w->rows[i]->path))
            qs_strings_add(ret, qs_strdup(w->rows[i]->path));
    sort(ret);
}

/* How long the first so many parts of a path are; 0 where nothing follows them. */
static size_t front(const char *path, size_t slashes)
{
    const char *at = path;
    for (size_t i = 0; i <= slashes; i++) {
        at = strchr(i == 0 ? at : at + 1, '/');
        if (at == NULL)
            return 0;
    }
    return (size_t)(at - path);
}

static void add_folders(const struct qs_work *w, const char *pattern, struct qs_strings *ret)
{
    size_t n = strcspn(pattern, "*?["), slashes = 0;
    for (const char *at = pattern; *at != '\0'; at++)
        slashes += *at == '/';
    QS_FREED char *last = NULL; /* rows of a folder stand together */
    for (size_t i = first_at(w, pattern, n); i < w->row_count && strncmp(w->rows[i]->path, pattern, n) == 0;
         i++) {
        size_t len = front(w->rows[i]->path, slashes);
        if (len == 0 || (last != NULL && strlen(last) == len && strncmp(last, w->rows[i]->path, len) == 0))
            continue;
        free(last);
        last = qs_strndup(w->rows[i]->path, len);
        if (qs_glob(pattern, last))
            qs_strings_add(ret, qs_strdup(last));
    }
}

void qs_work_folders(const struct qs_work *w, const struct qs_strings *each, struct qs_strings *ret)
{
    for (size_t i = 0; i < each->count; i++)
        add_folders(w, each->at[i], ret);
    sort(ret);
    size_t kept = 0; /* of several patterns */
    for (size_t i = 0; i < ret->count; i++) {
        if (kept > 0 && strcmp(ret->at[kept - 1], ret->at[i]) == 0)
            free(ret->at[i]);
        else
            ret->at[kept++] = ret->at[i];
    }
    ret->count = kept;
}

/* A number at the front of what is left, with a blank or nothing behind it. */
static bool take_whole(const char **at, const char *end, int64_t *ret)
{
    const char *p = *at;
    bool negative = p < end && *p == '-';
    int64_t v = 0;
    p += negative;
    if (p == end || !isdigit((unsigned char)*p))
        return false;
    for (; p < end && isdigit((unsigned char)*p); p++) {
        if (v > NUMBER_MAX)
            return false;
        v = v * 10 + (*p - '0');
    }
    if (v > NUMBER_MAX || (p < end && !isspace((unsigned char)*p)))
        return false;
    *ret = negative ? -v : v;
    *at = p;
    return true;
}

static const char *skip_blanks(const char *at, const char *end)
{
    while (at < end && isspace((unsigned char)*at))
        at++;
    return at;
}

bool qs_row_whole(const struct qs_survey_row *row, int64_t *ret)
{
    if (row == NULL || row->status != QS_READING_OK)
        return false;
    const char *end = row->value + row->value_bytes;
    const char *at = skip_blanks(row->value, end);
    return take_whole(&at, end, ret) && skip_blanks(at, end) == end;
}

static char *printable(const char *text, size_t n)
{
    char *out = qs_strndup(text, n);
    for (char *c = out; *c != '\0'; c++)
        if ((unsigned char)*c < 0x20 || (unsigned char)*c >= 0x7f)
            *c = '_';
    return out;
}

char *qs_row_text(const struct qs_survey_row *row)
{
    if (row == NULL || row->status != QS_READING_OK)
        return NULL;
    const char *end = row->value + strcspn(row->value, "\n"); /* a NUL ends it */
    const char *at = skip_blanks(row->value, end);
    while (end > at && isspace((unsigned char)end[-1]))
        end--;
    size_t n = (size_t)(end - at);
    return n > 0 ? printable(at, n < TEXT_BYTES ? n : TEXT_BYTES) : NULL;
}

void qs_row_numbers(const struct qs_survey_row *row, struct qs_board_counts *ret)
{
    if (row == NULL || row->status != QS_READING_OK)
        return;
    const char *end = row->value + row->value_bytes;
    const char *line = memchr(row->value, '\n', row->value_bytes);
    bool lines = line != NULL && skip_blanks(line, end) < end;
    bool cut = row->value_bytes == QS_BOARD_VALUE_MAX;
    for (const char *at = skip_blanks(row->value, end); at < end && ret->count < QS_BOARD_STEPS_MAX;
         at = skip_blanks(at, end)) {
        int64_t v = 0;
        bool number = take_whole(&at, end, &v);
        while (at < end && (lines ? *at != '\n' : !isspace((unsigned char)*at)))
            at++;
        if (!number || v <= 0 || (cut && at == end))
            continue;
        ret->at = qs_grow(ret->at, ret->count, sizeof *ret->at);
        ret->at[ret->count++] = (size_t)v;
    }
}

static int by_size(const void *a, const void *b)
{
    size_t x = *(const size_t *)a, y = *(const size_t *)b;
    return (x > y) - (x < y);
}

void qs_counts_sort(struct qs_board_counts *counts, bool repeats)
{
    size_t kept = 0;
    if (counts->count == 0)
        return;
    qsort(counts->at, counts->count, sizeof *counts->at, by_size);
    if (repeats)
        return;
    for (size_t i = 1; i < counts->count; i++)
        if (counts->at[i] != counts->at[kept])
            counts->at[++kept] = counts->at[i];
    counts->count = kept + 1;
}

void qs_row_words(const struct qs_survey_row *row, struct qs_strings *ret, char **ret_chosen)
{
    *ret_chosen = NULL;
    if (row == NULL || row->status != QS_READING_OK)
        return;
    const char *blanks = " \t\r\n";
    for (const char *at = row->value + strspn(row->value, blanks); *at != '\0' && ret->count < WORDS_MAX;) {
        size_t n = strcspn(at, blanks);
        bool chosen = n > 2 && at[0] == '[' && at[n - 1] == ']';
        if (n <= WORD_BYTES) {
            char *word = printable(at + chosen, n - (chosen ? 2 : 0));
            if (chosen && *ret_chosen == NULL)
                *ret_chosen = qs_strdup(word);
            qs_strings_add(ret, word);
        }
        at += n;
        at += strspn(at, blanks);
    }
}
