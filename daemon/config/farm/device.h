/* Private to config: one device of a farm file. */
#ifndef QS_CONFIG_FARM_DEVICE_H
#define QS_CONFIG_FARM_DEVICE_H

#include "config/document/schema.h"
#include "config/farm/farm.h"

extern const struct qs_table qs_farm_device_table; /* of struct qs_farm_device */
extern const struct qs_word qs_farm_probe_words[]; /* of enum qs_farm_probe */
/* Whether the word is of a kind of link whose devices can be looked for. */
bool qs_farm_may_discover(const char *word);

#endif
