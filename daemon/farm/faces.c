/* What the API shows of the live farm. */
#include <stdlib.h>

#include "base/loop.h"
#include "base/mem.h"
#include "device/ambient.h"
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

bool qs_farm_refresh_ambient(struct qs_farm *farm, const char *device, void (*done)(void *user), void *user)
{
    const struct qs_farm_ambient *of = qs_farm_ambient(farm->p.config, device);
    return of && !qs_loop_is_virtual(farm->p.loop) && qs_ambients_is_due(farm->ambients, of) &&
           qs_ambients_ask(farm->ambients, of, done, user);
}

const struct qs_ambient_reading *qs_farm_ambient_last(const struct qs_farm *farm, const char *device,
                                                      const char **ret_name, int64_t *ret_age_ns)
{
    const struct qs_farm_ambient *of = qs_farm_ambient(farm->p.config, device);
    const struct qs_ambient_reading *last = of ? qs_ambients_last(farm->ambients, of) : NULL;
    *ret_name = of ? of->name : NULL;
    *ret_age_ns = last ? qs_loop_now_ns(farm->p.loop) - last->at_ns : 0;
    return last;
}
