/* Which device `--on WORD` means. Pure. */
#ifndef QS_CTL_RUN_PICK_H
#define QS_CTL_RUN_PICK_H

#include <jansson.h>

#include "base/buf.h"

/* Those of a list of devices (GET /api/v1/devices) that are meant, a list (owned): the one of this name; else
 * all whose name, or label serial or model, the word is in any case (a blank counts as `_`); else all that
 * have it as a part of one. word NULL: all. This machine is meant by its whole name alone. */
json_t *qs_pick_devices(const json_t *devices, const char *word);

/* The value of its label, or NULL. Borrowed. */
const char *qs_pick_label(const json_t *device, const char *key);
/* Appends "0A1B (Pixel_6, ready)" for each, with commas. */
void qs_pick_list(const json_t *devices, struct qs_buf *out);

#endif
