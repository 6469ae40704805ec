// Trained ensembles that were simulated beforehand: dots on the curves that they belong to.

const keyOfRun = (problem, fractions, ridge) => {
  const data = ["correlation", "alignment", "feature_noise", "label_noise", "readout_noise"].map((name) => problem[name]);
  return [...data, ...fractions, ridge].map((part) => (part === "optimal" ? part : significant(part, 6))).join();
};

const RUNS = new Map(JSON.parse(document.getElementById("runs").textContent).runs.map((run) => [keyOfRun(run.problem, run.fractions, run.ridge), run]));

/** The run of a curve, if its ensemble was trained on such data: at that M, or beside the limit M → ∞. */
function runOf(one, state) {
  const ensemble = one.ensemble ?? (one.ensembles?.length === 1 ? one.ensembles[0] : null);
  if (!ensemble || one.faint || ensemble.shared > 0 || ensemble.rows < 1 || state.dead_features > 0 || one.aggregation !== "mean") return undefined;
  const { fractions, ridge, count = 1 } = ensemble;
  const run = RUNS.get(keyOfRun(state, count > 1 ? new Array(count).fill(fractions[0]) : fractions, ridge));
  return run && [Infinity, run.n_features].includes(state.n_features) ? run : undefined;
}

/** What the dots are, in words. */
function runsInWords(runs) {
  const said = new Set(runs.map((run) => `trained on ${run.n_features} features, ${run.n_trials} trials ± standard error`));
  return [...said].join("; ");
}
