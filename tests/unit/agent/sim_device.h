/* A simulated device whose port is called by the test itself. */
#ifndef QS_TESTS_AGENT_SIM_DEVICE_H
#define QS_TESTS_AGENT_SIM_DEVICE_H

#include "sim/impl.h"

#define BEGAN_NS INT64_C(7000) /* the driver's time at its start; the device's clock is 5000 ns ahead */

struct device {
    struct qs_sim *sim;
    const struct qs_port *port; /* into *sim */
    size_t sent_bytes, closed;
    bool alive; /* its link takes bytes */
};

/* Without a sensor of temperature. SplitMix64 from its seed, 1234567, gives 599ed017fb08fc85,
 * 2c73f08458540fa5, 883ebce5a3f27c77, 3fbef740e9177b3f, e3b8346708cb5ecd: the published first values. */
extern const struct qs_sim_options cold;

/* In memory that was never cleared; device_done frees it. */
void device_init(struct device *d, const struct qs_sim_options *options);
void device_done(struct device *d);

#endif
