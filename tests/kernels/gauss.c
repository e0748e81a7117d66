#include "kernels/gauss.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void gauss_weights(int radius, uint32_t *weights)
{
    double sigma = radius / 2.0, shape[GAUSS_TAPS_MAX], total = 0;
    uint32_t sum = 0;
    for (int i = 0; i <= 2 * radius; i++) {
        double d = (i - radius) / sigma;
        shape[i] = exp(-d * d / 2);
        total += shape[i];
    }
    for (int i = 0; i <= 2 * radius; i++) {
        weights[i] = (uint32_t)(shape[i] / total * 65536);
        sum += weights[i];
    }
    weights[radius] += 65536 - sum;
}

bool gauss_init(struct gauss *g, const struct picture *like, int radius)
{
    *g = (struct gauss){.radius = radius};
    gauss_weights(radius, g->weights);
    g->middle = calloc(like->width * like->height, sizeof *g->middle);
    g->sums = calloc(like->width, sizeof *g->sums);
    g->row = calloc(like->width + 2 * (size_t)radius, 1);
    return g->middle && g->sums && g->row;
}

void gauss_done(struct gauss *g)
{
    free(g->middle);
    free(g->sums);
    free(g->row);
    *g = (struct gauss){.radius = 0};
}

static void along_x(struct gauss *g, const uint8_t *from, uint16_t *to, size_t width)
{
    size_t radius = (size_t)g->radius;
    uint32_t *restrict sums = g->sums;
    memset(g->row, from[0], radius);
    memcpy(g->row + radius, from, width);
    memset(g->row + radius + width, from[width - 1], radius);
    memset(sums, 0, width * sizeof *sums);
    for (size_t tap = 0; tap <= 2 * radius; tap++) {
        const uint8_t *restrict row = g->row + tap;
        uint32_t weight = g->weights[tap];
        for (size_t x = 0; x < width; x++) {
            sums[x] += weight * row[x];
        }
    }
    for (size_t x = 0; x < width; x++) {
        to[x] = (uint16_t)(sums[x] >> 8);
    }
}

static void along_y(struct gauss *g, size_t y, uint8_t *to, size_t width, size_t height)
{
    uint32_t *restrict sums = g->sums;
    memset(sums, 0, width * sizeof *sums);
    for (int tap = 0; tap <= 2 * g->radius; tap++) {
        ptrdiff_t at = (ptrdiff_t)y + tap - g->radius;
        size_t row_at = at < 0 ? 0 : (size_t)at >= height ? height - 1 : (size_t)at;
        const uint16_t *restrict row = g->middle + row_at * width;
        uint32_t weight = g->weights[tap];
        for (size_t x = 0; x < width; x++) {
            sums[x] += weight * row[x];
        }
    }
    for (size_t x = 0; x < width; x++) {
        to[x] = (uint8_t)((sums[x] + (1u << 23)) >> 24);
    }
}

void gauss_blur(struct gauss *g, const struct picture *from, struct picture *to)
{
    for (size_t y = 0; y < from->height; y++) {
        along_x(g, from->pixels + y * from->width, g->middle + y * from->width, from->width);
    }
    for (size_t y = 0; y < from->height; y++) {
        along_y(g, y, to->pixels + y * from->width, from->width, from->height);
    }
}
