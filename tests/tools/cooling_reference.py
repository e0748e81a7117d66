#!/usr/bin/env python3
"""The answers of tests/unit/stats/test_cooling.c by another way than the code's: damped Gauss-Newton steps (Marquardt 1963) on all three numbers at
once, in 40 decimal digits. Prints tau, end, start and the residuals' standard deviation of each curve of the test."""
from decimal import Decimal as D, getcontext

getcontext().prec = 40


def solve(a, b):
    n = len(b)
    m = [row[:] + [b[i]] for i, row in enumerate(a)]
    for i in range(n):
        p = max(range(i, n), key=lambda r: abs(m[r][i]))
        m[i], m[p] = m[p], m[i]
        for r in range(i + 1, n):
            f = m[r][i] / m[i][i]
            for k in range(i, n + 1):
                m[r][k] -= f * m[i][k]
    x = [D(0)] * n
    for i in reversed(range(n)):
        x[i] = (m[i][n] - sum(m[i][k] * x[k] for k in range(i + 1, n))) / m[i][i]
    return x


def rss(t, y, p):
    return sum((yi - p[0] - p[1] * (-ti / p[2]).exp()) ** 2 for ti, yi in zip(t, y))


def fit(t, y, p):
    """The best (end, swing, tau), and what it leaves."""
    p, damp, now = list(p), D("1e-3"), rss(t, y, p)
    for _ in range(200):
        rows, rests = [], []
        for ti, yi in zip(t, y):
            g = (-ti / p[2]).exp()
            rows.append([D(1), g, p[1] * g * ti / p[2] ** 2])
            rests.append(yi - p[0] - p[1] * g)
        a = [[sum(r[i] * r[j] for r in rows) for j in range(3)] for i in range(3)]
        b = [sum(r[i] * e for r, e in zip(rows, rests)) for i in range(3)]
        step = solve([[a[i][j] * (1 + (damp if i == j else 0)) for j in range(3)] for i in range(3)], b)
        q = [k + s for k, s in zip(p, step)]
        if q[2] > 0 and (new := rss(t, y, q)) <= now:
            done = max(abs(s) / (abs(k) + 1) for k, s in zip(p, step)) < D("1e-22")
            p, now, damp = q, new, damp / 10
            if done:
                break
        else:
            damp *= 10
            if damp > D("1e20"):
                break
    return p, now


# readings, seconds between them, end, swing, tau, step of the sensor, height of the noise
CURVES = ((61, 2, 25, 40, 50, D("0.1"), 0), (40, 3, 31, 20, 35, D("0.001"), D("0.3")), (50, 1, 20, 30, 100, D("0.01"), D("0.02")))
for n, dt, end, swing, tau, quantum, wave in CURVES:
    t = [D(i * dt) for i in range(n)]
    noise = [wave * D(((i * 7919) % 13) - 6) / D(6) for i in range(n)]
    y = [((end + swing * (-ti / tau).exp() + e) / quantum).to_integral_value() * quantum for ti, e in zip(t, noise)]
    (e, s, k), left = fit(t, y, [D(end), D(swing), D(tau)])
    print(" ".join(f"{float(x):.12g}" for x in (k, e, e + s, (left / (n - 3)).sqrt())))
