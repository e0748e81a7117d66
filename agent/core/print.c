#include "core/print.h"

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { DIGITS_MAX = 20 };

struct paper {
    char *to;
    size_t cap, used;
    va_list args;
};

struct form { /* of one value */
    bool left, zeros;
    size_t width, precision;
    char size; /* of a number: '\0', 'l', 'L' (ll) or 'z' */
};

static void put(struct paper *paper, const char *text, size_t n)
{
    for (size_t i = 0; i < n; i++, paper->used++) {
        if (paper->used + 1 < paper->cap) {
            paper->to[paper->used] = text[i];
        }
    }
}

static void fill(struct paper *paper, char c, size_t n, size_t width)
{
    for (; n < width; n++) {
        put(paper, &c, 1);
    }
}

static void put_text(struct paper *paper, const struct form *form, const char *text, size_t n)
{
    fill(paper, ' ', form->left ? form->width : n, form->width);
    put(paper, text, n);
    fill(paper, ' ', form->left ? n : form->width, form->width);
}

static void put_number(struct paper *paper, const struct form *form, uint64_t value, unsigned base,
                       bool minus)
{
    char digits[DIGITS_MAX];
    size_t at = sizeof digits;
    do {
        digits[--at] = "0123456789abcdef"[value % base];
        value /= base;
    } while (value > 0);
    size_t n = sizeof digits - at + minus;
    fill(paper, ' ', form->left || form->zeros ? form->width : n, form->width);
    put(paper, "-", minus);
    fill(paper, '0', form->zeros ? n : form->width, form->width);
    put(paper, digits + at, sizeof digits - at);
    fill(paper, ' ', form->left ? n : form->width, form->width);
}

static size_t read_count(const char **p)
{
    size_t n = 0;
    for (; **p >= '0' && **p <= '9'; (*p)++) {
        n = 10 * n + (size_t)(**p - '0');
    }
    return n;
}

/* What stands between the % and the letter, at which p is left. */
static struct form read_form(struct paper *paper, const char **p)
{
    struct form form = {.precision = SIZE_MAX};
    for (; **p == '-' || **p == '0'; (*p)++) {
        form.left = form.left || **p == '-';
        form.zeros = form.zeros || **p == '0';
    }
    form.width = read_count(p);
    if (**p == '.') {
        (*p)++;
        form.precision = **p == '*' ? (size_t)va_arg(paper->args, int) : read_count(p);
        *p += **p == '*';
    }
    for (; **p == 'l' || **p == 'z'; (*p)++) {
        form.size = **p == form.size ? 'L' : **p;
    }
    return form;
}

static uint64_t next_number(struct paper *paper, char size, bool is_signed)
{
    if (size == '\0') {
        int value = va_arg(paper->args, int);
        return is_signed ? (uint64_t)value : (unsigned)value;
    }
    if (size == 'L') {
        return (uint64_t)va_arg(paper->args, long long);
    }
    long value = va_arg(paper->args, long); /* a size_t is as wide */
    return is_signed ? (uint64_t)value : (unsigned long)value;
}

static void put_value(struct paper *paper, const struct form *form, char kind)
{
    if (kind == 's') {
        const char *text = va_arg(paper->args, const char *);
        put_text(paper, form, text, strnlen(text, form->precision));
    } else if (kind == 'c') {
        const char c = (char)va_arg(paper->args, int);
        put_text(paper, form, &c, 1);
    } else {
        assert(kind == 'd' || kind == 'u' || kind == 'x');
        uint64_t value = next_number(paper, form->size, kind == 'd');
        bool minus = kind == 'd' && (int64_t)value < 0;
        put_number(paper, form, minus ? 0 - value : value, kind == 'x' ? 16 : 10, minus);
    }
}

int qs_vprint(char *to, size_t cap, const char *form, va_list args)
{
    struct paper paper = {.to = to, .cap = cap};
    va_copy(paper.args, args);
    for (; *form != '\0'; form++) {
        if (form[0] != '%' || form[1] == '%') {
            put(&paper, form, 1);
            form += form[0] == '%';
            continue;
        }
        form++;
        struct form value = read_form(&paper, &form);
        put_value(&paper, &value, *form);
    }
    va_end(paper.args);
    if (cap > 0) {
        to[paper.used < cap ? paper.used : cap - 1] = '\0';
    }
    return (int)paper.used;
}

int qs_print(char *to, size_t cap, const char *form, ...)
{
    va_list args;
    va_start(args, form);
    int n = qs_vprint(to, cap, form, args);
    va_end(args);
    return n;
}
