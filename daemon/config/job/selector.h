/* Device selectors: `name == "bench1" && label.soc != "exynos" || !(link == "tcp")`. A fact is compared with
 * text in quotes by
 * == and !=; a fact alone is true where the device has it and it is neither empty nor "false". A fact that a
 * device lacks is equal to nothing. ! binds tighter than &&, && tighter than ||. */
#ifndef QS_CONFIG_JOB_SELECTOR_H
#define QS_CONFIG_JOB_SELECTOR_H

#include <stdbool.h>
#include <stddef.h>

enum { QS_SELECTOR_BYTES = 1000, QS_SELECTOR_TERMS = 64 };

struct qs_selector;

struct qs_selector_why {
    size_t offset; /* bytes into the text */
    char text[160];
    char suggestion[120]; /* or "" */
};

/* False with the place and the reason. Facts are name, link, local and label.KEY; any other is refused here.
 */
bool qs_selector_parse(const char *text, struct qs_selector **ret, struct qs_selector_why *why);
void qs_selector_free(struct qs_selector *selector); /* NULL is allowed */

/* The value of a fact ("name", "label.soc"), or NULL where the device lacks it. */
typedef const char *qs_selector_fact_fn(const char *fact, void *user);
bool qs_selector_match(const struct qs_selector *selector, qs_selector_fact_fn *fact, void *user);

#endif
