/* Plain numbers: what a script prints, or a JSON list of them. */
#include <string.h>

#include "formats/reader.h"

/* Skips to the next word; counts the empty lines on the way. */
static const char *next_word(const char *s, size_t *empty_lines)
{
    bool line_has_text = true; /* the line on which the search begins */
    for (; *s != '\0'; s++) {
        if (*s == '#') {
            s += strcspn(s, "\n");
            line_has_text = true;
        }
        if (*s == '\n') {
            *empty_lines += !line_has_text;
            line_has_text = false;
        } else if (*s == '\0' || !strchr(" \t\r,;", *s)) {
            break;
        }
    }
    return s;
}

/* Whether all after the first of the numbers between commas look like thousands: 1,234,567.8 */
static bool is_grouped(const char *s, size_t n)
{
    for (const char *comma = memchr(s, ',', n); comma;
         comma = memchr(comma + 1, ',', n - (size_t)(comma + 1 - s)))
        if (strspn(comma + 1, "0123456789") != 3)
            return false;
    return true;
}

/* 12,5 can be one number or two, and 1,234.5 as well; 1,2,3 and 0,10.5 are lists. Says so. */
static bool is_ambiguous(struct qs_reader *r, const char *s, size_t n)
{
    size_t all = strcspn(s, " \t\r\n;#");
    if (s > r->text && s[-1] == ',') /* judged with what stands before it */
        return false;
    while (all > n && s[all - 1] == ',')
        all--;
    if (all <= n)
        return false;
    const char *second = memchr(s + n + 1, ',', all - n - 1);
    if ((second || memchr(s, '.', all)) && !is_grouped(s, all))
        return false;
    (void)qs_reader_fail(r, s, "write 12.5 for one number, and a space after the comma between two",
                         "`%.*s` can be one number or several", qs_reader_shown(all), s);
    return true;
}

bool qs_import_numbers(struct qs_reader *r)
{
    const struct qs_import_key key = {.benchmark = "", .metric = "value", .unit = ""};
    struct qs_import_build *b = qs_reader_series(r, &key, NULL);
    uint64_t run = 0;
    bool ok = b != NULL, begun = false;
    for (const char *s = r->text; ok;) {
        size_t empty_lines = 0;
        double v;
        s = next_word(s, &empty_lines);
        run += begun && empty_lines > 0;
        begun = true;
        size_t n = strcspn(s, " \t\r\n,;#");
        if (n == 0)
            break;
        enum qs_number kind = qs_reader_number(s, n, &v);
        if (kind == QS_NUMBER_NO)
            return qs_reader_fail(r, s, "write one number a line, with a point: 12.5; # begins a comment",
                                  "`%.*s` is not a number", qs_reader_shown(n), s);
        ok = !is_ambiguous(r, s, n) && qs_reader_value(r, b, v, run, 0, NULL);
        s += n;
    }
    return ok;
}

/* A list of numbers is a run; in a list of lists each is. */
bool qs_import_json_numbers(struct qs_reader *r, const json_t *doc)
{
    const struct qs_import_key key = {.benchmark = "", .metric = "value", .unit = ""};
    const struct qs_json_at at = {.r = r};
    struct qs_import_build *b = qs_reader_series(r, &key, NULL);
    size_t i;
    const json_t *list;
    if (!b)
        return false;
    if (!json_is_array(json_array_get(doc, 0)))
        return qs_json_numbers(&at, b, doc, 0);
    json_array_foreach(doc, i, list)
    {
        struct qs_json_at here = qs_json_at_index(&at, i);
        if (!json_is_array(list))
            return qs_json_fail(&here, "a list for each run",
                                "expected a list of numbers, like those before");
        if (!qs_json_numbers(&here, b, list, i))
            return false;
    }
    return true;
}
