# The same resampling through R's boot: runs with replacement inside each arm (its strata), then the iterations of
# each drawn run. Arguments and output as those of bench_hier_boot, and before them the form: `plain`, as one writes
# it, or `fast`, in which all draws of a resample are made in one call.
suppressPackageStartupMessages(library(boot))
args <- commandArgs(trailingOnly = TRUE)
k <- as.integer(args[3])
n <- as.integer(args[4])
x <- matrix(scan(args[2], quiet = TRUE), nrow = 2L * k, byrow = TRUE)
rows <- 2L * k
plain <- function(run, drawn) {
    means <- vapply(drawn, function(r) mean(sample(x[r, ], n, replace = TRUE)), 0)
    mean(means[(k + 1L):rows]) / mean(means[1:k])
}
fast <- function(run, drawn) {
    values <- matrix(x[drawn + (sample.int(n, rows * n, TRUE) - 1L) * rows], rows)
    means <- .rowMeans(values, rows, n)
    sum(means[(k + 1L):rows]) / sum(means[1:k])
}
set.seed(1)
cpu <- function() sum(proc.time()[c("user.self", "sys.self")])
began <- cpu()
b <- boot(seq_len(rows), if (args[1] == "plain") plain else fast, as.integer(args[5]), strata = rep(1:2, each = k))
ci <- quantile(b$t, c(0.025, 0.975), names = FALSE)
cat(cpu() - began, format(ci, digits = 17), "\n")
