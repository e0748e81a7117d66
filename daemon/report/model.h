/* What a device was found to be like, as JSON. */
#ifndef QS_REPORT_MODEL_H
#define QS_REPORT_MODEL_H

#include "base/json.h"
#include "store/model.h"

/* All but kind and trace: members of the object that is open. */
void qs_model_json(const struct qs_model_row *row, struct qs_json *j);

#endif
