"""What draws: a dataset in, a matplotlib Figure out.

Nothing here predicts, trains or starts processes; numbers arrive in the dataset, and the most that is done to them is a
mean over trials with its error bar. Functions are called ``plot_*``: to draw, in this package, is to draw at random.
"""
