"""From one pilot sample to the learning curve of every ensemble: errors at other sample sizes, intervals, advice.

A forecast goes through these stages, a function each:

- sample: ``inputs.sample.read_sample`` checks what the user hands over;
- pilot: ``pilot.shared.Pilots.of`` decomposes the members, ``pilot.left_out.left_out`` gives their left-out errors;
- match ridges: ``matching.match_ridges`` finds which ridges on the pilot stand for the wanted ones;
- transfer: ``transfer.transfer.transfer`` takes the errors to the wanted sizes;
- uncertainty: ``uncertainty.jackknife.transfer_spread`` says how far they would move with another pilot;
- dataset: ``metrics`` say what is reported, ``subridge.results.forecasts`` lays it out.

``curve.curve.forecast_curve`` runs one ensemble through the middle ones, and ``beyond_reach`` where no ridge matches.
"""
