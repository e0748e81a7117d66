/* JSON of the live farm for the API. */
#include <stdlib.h>

#include "base/mem.h"
#include "farm/farm_impl.h"

void qs_farm_devices_json(struct qs_farm *farm, struct qs_buf *out)
{
    qs_buf_char(out, '[');
    for (const struct qs_inventory_item *item = qs_inventory_first(farm->inventory); item;
         item = item->next) {
        if (item->prev)
            qs_buf_char(out, ',');
        qs_device_json(item->device, out);
    }
    qs_buf_char(out, ']');
}

void qs_farm_progress_json(struct qs_farm *farm, int64_t id, struct qs_buf *out)
{
    const struct qs_farm_job *job = qs_farm_find(farm, id);
    qs_buf_str(out, job && job->progress ? job->progress : "null");
}

void qs_farm_match_json(struct qs_farm *farm, const struct qs_job_spec *spec, struct qs_buf *out)
{
    size_t fitting;
    struct qs_inventory_item **fits = qs_farm_match(farm, spec, &fitting);
    struct qs_json j;
    qs_json_init(&j, out);
    qs_json_array(&j);
    for (size_t i = 0; i < fitting; i++)
        qs_json_string(&j, fits[i]->config->name);
    qs_json_array_end(&j);
    free(fits);
}
