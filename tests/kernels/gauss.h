/* Gaussian blur in whole numbers, so that every compiler and device gives the same picture. */
#ifndef QS_KERNELS_GAUSS_H
#define QS_KERNELS_GAUSS_H

#include "kernels/picture.h"

enum { GAUSS_RADIUS_MAX = 32, GAUSS_TAPS_MAX = 2 * GAUSS_RADIUS_MAX + 1 };

/* Weights of 2 radius + 1 taps, sigma = radius/2, that add up to exactly 65536. radius 1 .. GAUSS_RADIUS_MAX.
 */
void gauss_weights(int radius, uint32_t *weights);

/* Memory of a blur. */
struct gauss {
    int radius;
    uint32_t weights[GAUSS_TAPS_MAX];
    uint16_t *middle; /* rows blurred along x, 8 fractional bits */
    uint32_t *sums;   /* one row */
    uint8_t *row;     /* one row, its ends repeated */
};
bool gauss_init(struct gauss *g, const struct picture *like, int radius);
void gauss_done(struct gauss *g);

/* Along x, then along y; pixels beyond an edge are those on it. `to` is as large as `from`. */
void gauss_blur(struct gauss *g, const struct picture *from, struct picture *to);

#endif
