/* `frequency: hold`: clocks that are to be at their highest while nothing of them is written. */
#include <string.h>

#include "base/mem.h"
#include "device/board/impl.h"
#include "device/board/pin.h"

static bool serves(const struct qs_board_domain *d, const char *cpus)
{
    struct qs_cpu_set wanted, own;
    if (cpus[0] == '\0' || d->cpus == NULL)
        return true;
    if (!qs_cpu_set_read(cpus, strlen(cpus), &wanted) || !qs_cpu_set_read(d->cpus, strlen(d->cpus), &own))
        return true;
    for (size_t cpu = 0; cpu < QS_BOARD_CPUS_MAX; cpu++)
        if (qs_cpu_set_has(&wanted, cpu) && qs_cpu_set_has(&own, cpu))
            return true;
    return false;
}

/* A device that begins hot has a lower limit then; the highest that was seen of it is its own. */
static size_t limit_khz(const struct qs_board_domain *d, const struct qs_board *home)
{
    const struct qs_board_domain *first = qs_board_domain(home, d->name);
    return first != NULL && first->max_khz > d->max_khz ? first->max_khz : d->max_khz;
}

static size_t raw_of(const struct qs_board_domain *d, size_t khz)
{
    return d->unit == QS_DOMAIN_HZ ? khz * 1000 : d->unit == QS_DOMAIN_MHZ ? khz / 1000 : khz;
}

static void take_point(const struct qs_board_domain *d, size_t limit, struct qs_pin_choice *c)
{
    size_t i = d->steps_khz.count - 1;
    bool capped = limit > 0 && limit < d->hw_max_khz;
    while (capped && i > 0 && d->steps_khz.at[i] > limit)
        i--;
    bool between = capped && d->range;
    c->khz = between ? limit : d->steps_khz.at[i];
    c->raw = between ? raw_of(d, limit) : d->steps_raw.at[i];
    c->limit_raw = d->limits == QS_LIMITS_FREQUENCY && d->max_file != NULL ? raw_of(d, limit) : 0;
}

static char *text_of(const struct qs_board_domain *d, size_t khz)
{
    QS_BUF(text);
    qs_buf_fmt(&text, "%s: %.10g MHz (", d->name, (double)khz / 1000);
    if (khz < d->hw_max_khz)
        qs_buf_fmt(&text, "its upper limit now, of %.10g MHz", (double)d->hw_max_khz / 1000);
    else
        qs_buf_str(&text, "its highest");
    if (d->current_khz > 0)
        qs_buf_str(&text, "; kept busy until it is there, nothing is written");
    else
        qs_buf_str(&text, "; its clock cannot be read: kept busy for a second, nothing is written");
    qs_buf_str(&text, d->residency_file != NULL ? ")" : "; what happens within a window goes unseen)");
    return qs_buf_take(&text);
}

bool qs_board_hold(const struct qs_board *board, const struct qs_board *home, const char *cpus,
                   struct qs_pins *pins, struct qs_err *err)
{
    size_t found = 0;
    for (size_t i = 0; i < board->domains.count; i++) {
        const struct qs_board_domain *d = &board->domains.at[i];
        if (d->kind != QS_DOMAIN_CPU || !serves(d, cpus))
            continue;
        found++;
        if (d->steps_khz.count == 0 || d->unit == QS_DOMAIN_RAW)
            return qs_fail(err, QS_E_NOT_FOUND,
                           "`frequency: hold`: the files of %s do not say which frequencies it has; write "
                           "`frequency: free`",
                           d->name);
        if (d->current_khz == 0 && d->residency_file == NULL)
            return qs_fail(err, QS_E_DENIED,
                           "`frequency: hold`: neither the clock of %s nor the time that it spends at each "
                           "frequency can be read by the agent's user, so nobody would know whether it is "
                           "at its highest; run the agent as root, or write `frequency: free`",
                           d->name);
        struct qs_pin_choice c = {.domain = d, .warm = true};
        size_t limit = limit_khz(d, home);
        take_point(d, limit, &c);
        qs_pins_choice(pins, d, c.khz, text_of(d, c.khz));
        c.text = pins->choices.at[pins->choices.count - 1].text;
        pins->choices.at[pins->choices.count - 1] = c;
    }
    return found > 0 || qs_fail(err, QS_E_NOT_FOUND,
                                "`frequency: hold`: no clock of this device's processors can be read; write "
                                "`frequency: free`");
}
