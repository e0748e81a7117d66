#include "studies/minimum/delay_model.h"

#include <math.h>

/* How often a factor triggers in n k instructions. */
static double triggers(const struct delay_factor *f, size_t instructions, struct qs_rng *rng)
{
    double count = 0;
    if (f->p >= 1 && f->fading <= 0)
        return (double)instructions;
    for (size_t i = 1; i <= instructions; i++) {
        double p = f->fading > 0 ? f->p / pow((double)i, f->fading) : f->p;
        count += qs_rng_unit(rng) < p ? 1 : 0;
    }
    return count;
}

double delay_model_measure_ns(const struct delay_model *m, size_t n, struct qs_rng *rng)
{
    double t_ns = (double)n * m->t0_ns;
    for (size_t j = 0; j < m->factor_count; j++)
        t_ns += triggers(&m->factors[j], n * m->k, rng) * m->factors[j].tau_ns;
    return t_ns + m->acc_ns * (2 * qs_rng_unit(rng) - 1);
}

double delay_model_limit_ns(const struct delay_model *m)
{
    double limit_ns = m->t0_ns;
    for (size_t j = 0; j < m->factor_count; j++) {
        const struct delay_factor *f = &m->factors[j];
        limit_ns += f->fading > 0 ? 0 : (double)m->k * (f->p < 1 ? f->p : 1) * f->tau_ns;
    }
    return limit_ns;
}
