"""Functions that draw: a dataset in, a matplotlib Figure out.

Nothing here predicts, trains or starts processes. Numbers arrive in the dataset; at most a mean over trials with its
error bar is computed. Functions are called ``plot_*``, because "draw" means random draws in this package.
"""
