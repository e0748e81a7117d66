/* The line that is drawn again never breaks: where it did, each drawing would leave one behind. */
#include "cm.h"

#include <stdlib.h>
#include <string.h>

#include "ctl/line.h"

static void it_fits_in_one_row(void **state)
{
    static const char text[] = "waiting for \xc3\xa4 phone with a long name: 12 of 60 s (Ctrl-C ends it)";
    (void)state;
    for (size_t width = QS_FACE_LEAST; width <= 100; width++) {
        for (int utf8 = 0; utf8 < 2; utf8++) {
            const struct qs_face face = {.width = width, .utf8 = utf8 == 1};
            QS_BUF(line);
            QS_BUF(whole);
            qs_face_text(&face, &whole, text);
            qs_line_make(&face, text, &line);
            size_t cells = qs_face_cells(line.data);
            assert_true(cells < width);
            assert_true(cells >= 2 + strlen("waiting") && strncmp(line.data, "  waiting", 9) == 0);
            assert_int_not_equal(line.data[line.len - 1], ' ');
            assert_int_equal(strcmp(line.data + 2, whole.data) == 0, qs_face_cells(whole.data) + 2 < width);
        }
    }
}

static void what_moves_the_cursor_is_shown(void **state)
{
    const struct qs_face face = {.width = 80, .utf8 = true};
    (void)state;
    QS_BUF(line);
    qs_line_make(&face, "a\n\x1b[2Jb", &line);
    assert_string_equal(line.data, "  a\\x0a\\x1b[2Jb");
}

static void it_is_taken_away_once(void **state)
{
    char *text = NULL;
    size_t n = 0;
    bool shown = true;
    (void)state;
    FILE *to = open_memstream(&text, &n);
    qs_line_clear(to, &shown);
    assert_false(shown);
    qs_line_clear(to, &shown);
    fclose(to);
    assert_string_equal(text, "\r\033[K");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_fits_in_one_row),
        cmocka_unit_test(what_moves_the_cursor_is_shown),
        cmocka_unit_test(it_is_taken_away_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
