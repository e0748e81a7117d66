#include "report/model.h"

void qs_model_json(const struct qs_model_row *row, struct qs_json *j)
{
    qs_json_kstring(j, "domain", row->domain);
    qs_json_kstring(j, "sensor", row->sensor);
    qs_json_kstring(j, "says", row->says);
    qs_json_kstring(j, "why", row->why);
    qs_json_kdouble(j, "tau_s", row->tau_s);
    qs_json_kdouble(j, "tau_lo_s", row->tau_lo_s);
    qs_json_kdouble(j, "tau_hi_s", row->tau_hi_s);
    qs_json_kdouble(j, "end_mc", row->end_mc);
    qs_json_kdouble(j, "end_lo_mc", row->end_lo_mc);
    qs_json_kdouble(j, "end_hi_mc", row->end_hi_mc);
    qs_json_kdouble(j, "sd_mc", row->sd_mc);
    qs_json_kdouble(j, "low_mc", row->low_mc);
    qs_json_kdouble(j, "high_mc", row->high_mc);
    qs_json_kint(j, "khz", row->khz);
    qs_json_kint(j, "readings", row->readings);
    qs_json_kdouble(j, "span_s", row->span_s);
}
