"""From one pilot sample to the learning curve of every ensemble: risk at other sample sizes, intervals, advice."""
