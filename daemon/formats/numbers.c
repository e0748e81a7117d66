/* Plain numbers: what a script prints. */
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
                                  "`%.*s` is not a number", n < 40 ? (int)n : 40, s);
        ok = qs_reader_value(r, b, v, run, 0, NULL);
        s += n;
    }
    return ok;
}
