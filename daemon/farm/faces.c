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

const char *qs_farm_progress(const struct qs_farm *farm, int64_t id)
{
    const struct qs_farm_job *job = qs_farm_find(farm, id);
    return job ? job->progress : NULL;
}

const char **qs_farm_fitting(const struct qs_farm *farm, const struct qs_job_spec *spec, size_t *ret_count)
{
    QS_FREED struct qs_inventory_item **fits = qs_farm_match(farm, spec, ret_count);
    const char **names = qs_calloc(*ret_count + 1, sizeof *names);
    for (size_t i = 0; i < *ret_count; i++)
        names[i] = fits[i]->config->name;
    return names;
}
