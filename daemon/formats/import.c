/* Which format, and from the text to the series. */
#include "formats/import.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "formats/reader.h"

const char *const qs_format_names[] = {"auto", "numbers",   "csv", "google-benchmark", "androidx", "pyperf",
                                       "go",   "hyperfine", NULL};

/* NULL: JSON */
static qs_import_text_fn *const readers[QS_FORMAT_COUNT] = {[QS_FORMAT_NUMBERS] = qs_import_numbers,
                                                            [QS_FORMAT_CSV] = qs_import_csv,
                                                            [QS_FORMAT_GOBENCH] = qs_import_gobench};

bool qs_format_find(const char *word, enum qs_format *ret)
{
    for (size_t i = 0; i < QS_FORMAT_COUNT; i++) {
        if (strcmp(qs_format_names[i], word) == 0) {
            *ret = (enum qs_format)i;
            return true;
        }
    }
    return false;
}

const char *const qs_drop_names[] = {"warm-up", "aggregate", "failed", "not-finite",
                                     "empty",   "tainted",   "view",   NULL};

enum qs_direction qs_direction_of_unit(const char *unit)
{
    static const char *const less[] = {"ns",    "us",   "µs",   "ms",        "s",     "sec", "second",
                                       "ns/op", "B/op", "B",    "allocs/op", "bytes", "KiB", "MiB",
                                       "KB",    "MB",   "byte", "us/op",     "ms/op", "s/op"};
    size_t n = strlen(unit);
    for (size_t i = 0; i < sizeof less / sizeof *less; i++)
        if (strcmp(unit, less[i]) == 0)
            return QS_DIRECTION_LOWER;
    if ((n > 2 && strcmp(unit + n - 2, "/s") == 0) || (n > 4 && strcmp(unit + n - 4, "/sec") == 0))
        return QS_DIRECTION_HIGHER;
    return QS_DIRECTION_UNKNOWN;
}

/* Not a cell of CSV: no comma ends its first word. */
static bool line_starts_with(const char *text, const char *word)
{
    for (const char *s = text; *s != '\0';) {
        if (strncmp(s, word, strlen(word)) == 0 && s[strcspn(s, " \t,;\n")] != ',')
            return true;
        s += strcspn(s, "\n");
        s += *s == '\n';
    }
    return false;
}

/* The first line that is neither empty nor a comment holds numbers alone, *count of them. */
static bool is_numbers(const char *s, size_t *count)
{
    double v;
    *count = 0;
    while (*s != '\0' && (*s == '#' || strchr(" \t\r\n", *s))) {
        size_t skip = *s == '#' ? strcspn(s, "\n") : 1;
        s += skip;
    }
    const char *stop = s + strcspn(s, "\n#");
    while (s < stop) {
        s += strspn(s, " \t\r,;");
        size_t n = strcspn(s, " \t\r\n,;#");
        if (n > 0 && qs_reader_number(s, n, &v) == QS_NUMBER_NO)
            return false;
        *count += n > 0;
        s += n;
    }
    return true;
}

/* Rows of numbers in a file that is called CSV lack their header: as plain numbers, the numbers of runs would
 * be among the values. */
static enum qs_format detect_text(const struct qs_reader *r)
{
    if (line_starts_with(r->text, "Benchmark"))
        return QS_FORMAT_GOBENCH;
    size_t count, n = strlen(r->name);
    bool numbers = is_numbers(r->text, &count);
    bool named_csv = n > 4 && strcmp(r->name + n - 4, ".csv") == 0;
    return numbers && !(named_csv && count > 1) ? QS_FORMAT_NUMBERS : QS_FORMAT_CSV;
}

bool qs_reader_check_text(struct qs_reader *r)
{
    const char *nul = memchr(r->text, '\0', (size_t)(r->end - r->text));
    if (r->end - r->text > QS_IMPORT_BYTES)
        return qs_reader_fail(r, NULL, "give it in several files", "longer than %d MiB",
                              QS_IMPORT_BYTES / 1024 / 1024);
    if (nul)
        return qs_reader_fail(r, nul, NULL, "a NUL byte: this is not text");
    if (r->text[strspn(r->text, " \t\r\n")] == '\0')
        return qs_reader_fail(r, NULL, "check the program that should have written it", "the file is empty");
    for (const char *s = r->text; *s != '\0';) {
        bool valid;
        size_t step = qs_utf8_next(s, (size_t)(r->end - s), &valid);
        if (!valid)
            return qs_reader_fail(r, s, "save it as UTF-8", "the byte 0x%02x is not UTF-8",
                                  (unsigned char)*s);
        s += step;
    }
    return true;
}

bool qs_import_read(const char *name, const char *text, size_t len, enum qs_format format,
                    struct qs_import *ret, struct qs_problems *problems)
{
    struct qs_reader r;
    qs_reader_begin(&r, name, text, len, problems);
    *ret = (struct qs_import){0};
    bool ok = qs_reader_check_text(&r);
    if (ok) {
        char first = r.text[strspn(r.text, " \t\r\n")];
        bool list = first == '[', json = list || first == '{';
        ret->format = format != QS_FORMAT_AUTO || json ? format : detect_text(&r);
        bool as_text = readers[ret->format] && !(list && format == QS_FORMAT_NUMBERS);
        ok = as_text ? readers[ret->format](&r) : qs_import_json(&r, &ret->format);
    }
    ok = ok && qs_reader_finish(&r, ret);
    if (!ok)
        qs_import_done(ret);
    qs_reader_done(&r);
    return ok;
}

void qs_import_done(struct qs_import *import)
{
    for (size_t i = 0; i < import->count; i++) {
        struct qs_import_series *s = &import->series[i];
        for (size_t k = 0; s->labels && k < s->n; k++)
            free(s->labels[k]);
        free(s->labels);
        free(s->benchmark);
        free(s->metric);
        free(s->unit);
        free(s->v);
        free(s->off);
    }
    free(import->series);
    *import = (struct qs_import){0};
}
