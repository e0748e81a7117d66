/* Many verdicts in a line: how many of each, and the geometric mean of the ratios of each metric. */
#include "ctl/client/api.h"
#include "ctl/layout/finding.h"

void qs_layout_tally(const struct qs_layout *layout, const json_t *doc, struct qs_buf *out)
{
    const char *words = qs_json_get_text(json_object_get(doc, "tally"), "sentence", "");
    if (words[0] == '\0')
        return;
    qs_buf_char(out, '\n');
    qs_face_wrap(&layout->face, out, "  ", words, QS_INK_BOLD);
}
