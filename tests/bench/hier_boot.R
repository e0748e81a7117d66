# The same resampling through R's boot: runs with replacement inside each arm (its strata), then the iterations of
# each drawn run. All draws of a resample are made in one call, and no data frame is in the way: the fastest form
# that boot has for this. Arguments and output as those of bench_hier_boot.
suppressPackageStartupMessages(library(boot))
args <- commandArgs(trailingOnly = TRUE)
k <- as.integer(args[2])
n <- as.integer(args[3])
x <- matrix(scan(args[1], quiet = TRUE), nrow = 2L * k, byrow = TRUE)
rows <- 2L * k
ratio <- function(run, drawn) {
    values <- matrix(x[drawn + (sample.int(n, rows * n, TRUE) - 1L) * rows], rows)
    means <- .rowMeans(values, rows, n)
    sum(means[(k + 1L):rows]) / sum(means[1:k])
}
set.seed(1)
cpu <- function() sum(proc.time()[c("user.self", "sys.self")])
began <- cpu()
b <- boot(seq_len(rows), ratio, as.integer(args[4]), strata = rep(1:2, each = k))
ci <- quantile(b$t, c(0.025, 0.975), names = FALSE)
cat(cpu() - began, format(ci, digits = 17), "\n")
