/* Distribution functions: lower tails unless the name says otherwise. Parameters outside their domain, and
 * NaN, give NaN. Relative accuracy 1e-12 or better, in the tails too. */
#ifndef QS_STATS_SPECIAL_H
#define QS_STATS_SPECIAL_H

/* Standard normal, through the complementary error function. */
double qs_pnorm(double z);

/* Quantile of the standard normal; p = 0 and 1 give the infinities. Wichura 1988, AS 241, PPND16. */
double qs_qnorm(double p);

/* Regularised incomplete beta function I_x(a,b), 0 <= x <= 1, a, b > 0. Even part of DLMF 8.17.22; the
 * factor before it from Stirling deviances (Loader 2000), so that large a and b keep their digits. */
double qs_pbeta(double x, double a, double b);

/* Student's t with df > 0 degrees of freedom (fractional and infinite allowed). DLMF 8.17, AMS 26.7.1. */
double qs_pt(double t, double df);

/* P(|T| >= |t|): what a two-sided test reports, exact far below 1e-16. */
double qs_pt_two_sided(double t, double df);

/* Quantile of Student's t. Closed for df = 1 and 2, otherwise Newton steps that cannot leave the right side.
 */
double qs_qt(double p, double df);

/* Chi-squared with df > 0: lower and upper tail. DLMF 8.7.1 and 8.9.2. */
double qs_pchisq(double x, double df);
double qs_pchisq_upper(double x, double df);

/* P(X <= k) for X ~ Bin(n, prob): I_{1-prob}(n-k, k+1), DLMF 8.17.5. k and n are whole; k < 0 gives 0. */
double qs_pbinom(double k, double n, double prob);

#endif
