/* Documents that are kept whole: every field, by its value. */
#ifndef QS_TEST_REPORT_GOLDEN_H
#define QS_TEST_REPORT_GOLDEN_H

#include <jansson.h>

/* Compares with golden_dir/NAME.json, numbers to nine digits (or 1e-13), without the version; where they
 * differ, says the first place, writes NAME.json.got into the working directory and fails. */
void golden_document(const char *name, const json_t *got);

#endif
