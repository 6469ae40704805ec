"""Ridge regression on finite samples.

``rows`` trains members on rows and leaves each row out, ``streaming`` trains them on moments, ``curves`` trains one
member along a whole learning curve; the files here choose ridges, count votes and judge weights.
"""
