/* What the API shows of the live farm. */
#include <stdlib.h>

#include "base/mem.h"
#include "farm/farm_impl.h"

void qs_farm_devices(const struct qs_farm *farm, void (*fn)(const struct qs_device_info *device, void *user),
                     void *user)
{
    for (const struct qs_inventory_item *item = qs_inventory_first(farm->inventory); item;
         item = item->next) {
        const struct qs_device_info info = qs_device_info(item->device);
        fn(&info, user);
    }
}

const struct qs_profiles *qs_farm_profiles(const struct qs_farm *farm)
{
    return &farm->p.config->profiles;
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
