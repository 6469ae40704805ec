"""From one pilot sample to the learning curve of every ensemble: errors at other sample sizes, intervals, advice.

- `pilot`: the sample that a user gives, ensembles factorised on it, left-out errors, label noise;
- `rule`: the constants, the formulas that transfer left-out errors to another size, the curve of one ensemble, and its
  standard error;
- `metrics`: the errors that are forecast; to add a metric, write a function there;
- `forecast`: sr.forecast, sr.samples_needed, sr.risk_matrix;
- `advise`: sr.advise, the ranking of ensembles.
"""
