/* Private to config: the ambient sensors of a farm file. */
#ifndef QS_CONFIG_FARM_AMBIENT_H
#define QS_CONFIG_FARM_AMBIENT_H

#include "config/document/schema.h"
#include "config/farm/farm.h"

extern const struct qs_table qs_farm_ambient_table;
void qs_farm_ambients_done(struct qs_farm_ambient *ambients, size_t count);
/* Whether each device names one that there is. root: the farm's map. */
void qs_farm_check_ambients(struct qs_schema_reader *r, const struct qs_node *root,
                            const struct qs_farm_config *farm);

#endif
