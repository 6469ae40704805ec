"""Functions that draw: a dataset in, a matplotlib Figure out.

Nothing here predicts, trains or starts processes. All numbers come from the dataset; at most a mean over trials and its
error bar are computed. Functions are called ``plot_*``, because "draw" means random draws in this package.
"""
