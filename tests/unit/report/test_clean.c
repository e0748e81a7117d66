/* How many windows were not clean, as a result says it. */
#include "page.h"
#include "world.h"

#include <string.h>

static json_t *document(struct world *w, struct qs_buf *text)
{
    struct qs_err err = QS_ERR_INIT;
    qs_buf_clear(text);
    assert_true(qs_report_compare(&w->in, text, &err));
    return page_read(text);
}

/* What the repeats could not mend: by how many windows, of how many. */
static void test_windows_that_are_not_clean(void **state)
{
    static const struct {
        uint32_t tainted, left;
        const char *says; /* NULL: nothing */
    } cases[] = {
        {0, 0, NULL},
        {3, 0, NULL},
        {3, 2,
         "8 of 14 windows were not clean, and for 7 of them no clean one followed (2 repeats each at most; "
         "none where the gate gave up)"}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct world w;
        QS_BUF(text);
        world_init(&w, 2, NULL);
        for (uint32_t b = 1; b <= 12; b++)
            for (uint32_t a = 0; a < 2; a++)
                world_one(&w, b, a, 2000000 + 1000 * b);
        for (size_t k = 0; k < w.measured.count; k++) {
            struct qs_measured_run *run = &w.measured.at[k];
            memset(run->windows, 0, sizeof run->windows);
            run->windows[k % 2 ? QS_SILENCE_PROVEN : QS_SILENCE_NONE] = run->block == 1 ? 3 : 1;
            run->windows_tainted = run->block == 1 ? cases[i].tainted : run->block < 7 && cases[i].left > 0;
            run->windows_left = run->block == 1 ? cases[i].left : run->block < 7 && cases[i].left > 0;
        }
        json_t *doc = document(&w, &text);
        const json_t *arm =
            json_array_get(json_object_get(json_array_get(json_object_get(doc, "results"), 0), "arms"), 1);
        assert_int_equal(json_integer_value(json_object_get(arm, "windows")), 14);
        assert_int_equal(json_integer_value(json_object_get(arm, "windows_tainted")),
                         cases[i].tainted + (cases[i].left > 0 ? 5 : 0));
        assert_int_equal(json_integer_value(json_object_get(arm, "windows_left_tainted")),
                         cases[i].left + (cases[i].left > 0 ? 5 : 0));
        if (cases[i].says ? !strstr(text.data, cases[i].says) : strstr(text.data, "not-clean") != NULL)
            fail_msg("%s", text.data);
        json_decref(doc);
        world_done(&w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_windows_that_are_not_clean)};
    return cmocka_run_group_tests_name("report clean", tests, NULL, NULL);
}
