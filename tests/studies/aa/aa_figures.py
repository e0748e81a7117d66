"""The few statistics of the study, in plain Python: it must not judge Quiesce by Quiesce's own library."""
import functools
import math


def _beta_fraction(a, b, x):
    """Continued fraction of the incomplete beta function by Lentz's method (Numerical Recipes, 6.4)."""
    tiny = 1e-300
    c, d = 1.0, 1.0 - (a + b) * x / (a + 1)
    d = 1 / (d if abs(d) > tiny else tiny)
    value = d
    for m in range(1, 500):
        for step in (m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
                     -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))):
            d = 1 + step * d
            c = 1 + step / c
            d = 1 / (d if abs(d) > tiny else tiny)
            c = c if abs(c) > tiny else tiny
            value *= c * d
        if abs(c * d - 1) < 1e-15:
            break
    return value


def beta_inc(a, b, x):
    """The regularised incomplete beta function."""
    if x <= 0 or x >= 1:
        return float(x > 0)
    front = math.exp(math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x))
    if x < (a + 1) / (a + b + 2):
        return front * _beta_fraction(a, b, x) / a
    return 1 - front * _beta_fraction(b, a, 1 - x) / b


def t_two_sided(t, df):
    """P(|T| >= |t|) of Student's distribution."""
    return beta_inc(df / 2, 0.5, df / (df + t * t))


@functools.lru_cache(maxsize=None)
def t_quantile(p, df):
    """Student's quantile for 0.5 < p < 1, by bisection: it is asked for a few dozen values of df."""
    lo, hi = 0.0, 1e6
    while hi - lo > 1e-12 * hi:
        middle = (lo + hi) / 2
        lo, hi = (middle, hi) if 1 - t_two_sided(middle, df) / 2 < p else (lo, middle)
    return hi


def mean_var(x):
    mean = math.fsum(x) / len(x)
    return mean, math.fsum((v - mean) ** 2 for v in x) / (len(x) - 1)


def welch(x, y):
    """(t, df, two-sided p) of Welch's test of y against x; nothing varies: t and df are NaN, p is 0 or 1."""
    (mx, vx), (my, vy) = mean_var(x), mean_var(y)
    sx, sy = vx / len(x), vy / len(y)
    if sx + sy == 0:
        return math.nan, math.nan, float(mx == my)
    t = (my - mx) / math.sqrt(sx + sy)
    df = (sx + sy) ** 2 / (sx ** 2 / (len(x) - 1) + sy ** 2 / (len(y) - 1))
    return t, df, t_two_sided(t, df)


def wilson(k, n, z=1.959963984540054):
    """Wilson's 95 % interval of a proportion (JASA 22, 1927)."""
    if n == 0:
        return 0.0, 1.0
    p = k / n
    centre, half = p + z * z / (2 * n), z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    return max(0.0, (centre - half) / (1 + z * z / n)), min(1.0, (centre + half) / (1 + z * z / n))


def median(x):
    s, n = sorted(x), len(x)
    return (s[(n - 1) // 2] + s[n // 2]) / 2
