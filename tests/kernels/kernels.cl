/* The arithmetic of gauss.c and zhang_suen.c, one work item per pixel. */

kernel void blur_x(global const uchar *from, global ushort *to, constant uint *weights, int radius, int width)
{
    int x = get_global_id(0), y = get_global_id(1);
    uint sum = 0;
    for (int tap = -radius; tap <= radius; tap++)
        sum += weights[tap + radius] * from[y * width + clamp(x + tap, 0, width - 1)];
    to[y * width + x] = (ushort)(sum >> 8);
}

kernel void blur_y(global const ushort *from, global uchar *to, constant uint *weights, int radius, int width, int height)
{
    int x = get_global_id(0), y = get_global_id(1);
    uint sum = 0;
    for (int tap = -radius; tap <= radius; tap++)
        sum += weights[tap + radius] * from[clamp(y + tap, 0, height - 1) * width + x];
    to[y * width + x] = (uchar)((sum + (1u << 23)) >> 24);
}

/* Half a pass. `changed` becomes 1 where anything was deleted. */
kernel void thin(global const uchar *from, global uchar *to, constant uchar *deletes, int width, int height, global int *changed)
{
    int x = get_global_id(0), y = get_global_id(1), at = y * width + x;
    uchar pixel = from[at];
    if (pixel && x > 0 && y > 0 && x < width - 1 && y < height - 1) {
        int set = from[at - width] | from[at - width + 1] << 1 | from[at + 1] << 2 | from[at + width + 1] << 3 |
                  from[at + width] << 4 | from[at + width - 1] << 5 | from[at - 1] << 6 | from[at - width - 1] << 7;
        if (deletes[set]) {
            pixel = 0;
            *changed = 1;
        }
    }
    to[at] = pixel;
}
