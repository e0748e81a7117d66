/* Sensors of the host's making: a file of sysfs, scaled and bounded. Inside the probe. */
#ifndef QS_LINUX_BOUND_H
#define QS_LINUX_BOUND_H

#include "linux/probe.h"

/* Status and value (0 unless OK) of a source that is QS_PROBE_BOUND. */
uint8_t qs_probe_read_bound(struct qs_probe *probe, struct qs_source *s, int64_t *value);
/* Is it a counter of the kernel's? What one missed since it was last read makes it unreadable, once. */
bool qs_probe_is_counter(const struct qs_probe *probe, const struct qs_source *s);
/* The number of a hexadecimal text's mask, after blanks; false: there is none. */
bool qs_bound_bits(const char *text, int64_t mask, int64_t *bits);
/* (raw * mul + part) / div; false: it is not plausible. */
bool qs_bound_scale(const struct qs_bound_file *b, int64_t raw, int64_t part, int64_t *value);
/* Whether its row of evidence is held, and where. */
void qs_probe_bound_row(const struct qs_probe *probe, const struct qs_source *s,
                        struct qs_port_evidence *row);

#endif
