"""From one pilot sample to the learning curve of every ensemble: errors at other sample sizes, intervals, advice.

- `pilot`: the sample that a user gives, ensembles factorised on it, left-out errors, label noise;
- `rule`: the constants, and the formulas that take left-out errors to another size;
- `curve`: one ensemble through the rule: choose ridges, match effective ridges, transfer errors;
- `groups`: what is different for rows that come in groups;
- `jackknife`: how far a forecast would move with another pilot;
- `metrics`: what is forecast; a new metric is a class there;
- `forecast`: sr.forecast, sr.samples_needed, sr.risk_matrix;
- `advise`: sr.advise, the ranking of ensembles.
"""
