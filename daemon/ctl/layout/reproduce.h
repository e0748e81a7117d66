/* Jobs that are done again, as text. */
#ifndef QS_CTL_LAYOUT_REPRODUCE_H
#define QS_CTL_LAYOUT_REPRODUCE_H

#include "ctl/layout/layout.h"

/* What doing a job again takes (GET jobs/{id}/reproduce), and what stands against it: a list of texts. */
void qs_layout_reproduce_plan(const struct qs_face *face, const json_t *plan, const json_t *problems,
                              bool refused, bool fatal, struct qs_buf *out);
/* The document of schema/reproduction.md. */
void qs_layout_reproduction(const struct qs_layout *layout, const json_t *doc, struct qs_buf *out);

#endif
