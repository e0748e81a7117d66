/* Pieces shared by the files special*.c; nobody else includes this. */
#ifndef QS_STATS_SPECIAL_PARTS_H
#define QS_STATS_SPECIAL_PARTS_H

/* ln Gamma(a+1) - (a+1/2) ln a + a - ln(2 pi)/2 for a > 0: what Stirling's formula leaves (DLMF 5.11.1). */
double qs_special_stirling_rest(double a);

/* The deviance a ln(a/m) + m - a >= 0 for a, m > 0, without cancellation near a = m. */
double qs_special_deviance(double a, double m);

/* I_x(a,b) where y = 1 - x is given apart, because it may be known with more digits than 1 - x has. */
double qs_special_beta(double x, double y, double a, double b);

#endif
