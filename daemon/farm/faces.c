/* JSON of the live farm for the API. */
#include <stdlib.h>

#include "base/mem.h"
#include "farm/farm_impl.h"

void qs_farm_devices_json(struct qs_farm *farm, struct qs_buf *out)
{
    qs_buf_char(out, '[');
    for (size_t d = 0; d < farm->p.config->device_count; d++) {
        if (d > 0)
            qs_buf_char(out, ',');
        qs_device_json(farm->devices[d], out);
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
    bool *matches = qs_calloc(farm->p.config->device_count + 1, sizeof *matches);
    struct qs_json j;
    qs_farm_match(farm, spec, matches);
    qs_json_init(&j, out);
    qs_json_array(&j);
    for (size_t d = 0; d < farm->p.config->device_count; d++) {
        if (matches[d])
            qs_json_string(&j, farm->p.config->devices[d].name);
    }
    qs_json_array_end(&j);
    free(matches);
}
