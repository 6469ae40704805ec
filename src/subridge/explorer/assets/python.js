// The Python that gives the numbers of a view.

const literal = (value) => (value === Infinity ? "np.inf" : String(value));
const list = (values) => `[${values.map(literal).join(", ")}]`;

function problemInPython(state) {
  const names = ["correlation", "feature_noise", "alignment", "label_noise"];
  return `sr.EquicorrelatedProblem(${names.map((name) => `${name}=${literal(state[name])}`).join(", ")})`;
}

const SNIPPET_HEAD = ["import numpy as np", "import subridge as sr", ""];

/** Lines that define `problem`, `test` and `ensemble(fractions, shared, ridge, rows, aggregation)`. */
function preludeInPython(state) {
  return [
    ...SNIPPET_HEAD,
    `problem = ${problemInPython(state)}`,
    `n_features = ${state.n_features === Infinity ? "None  # M → ∞" : state.n_features}`,
    `test = ${state.dead_features > 0 ? `sr.DeadFeatures(${literal(state.dead_features)})` : "None  # as in training"}`,
    "",
    "",
    'def ensemble(fractions, shared, ridge, rows=1.0, aggregation="mean"):',
    "    nu = np.full((len(fractions), len(fractions)), float(shared))",
    "    np.fill_diagonal(nu, fractions)",
    `    noise = ${literal(state.readout_noise)}`,
    '    if ridge == "optimal":',
    "        ridge = np.minimum(sr.optimal_ridge(problem, sr.Ensemble(nu, readout_noise=noise)), 1e100)",
    "    seen = None if rows == 1 else [rows] * len(fractions)",
    "    return sr.Ensemble(nu, ridge, noise, aggregation, seen)",
    "",
  ];
}

const ridgeInPython = (ridge) => (ridge === "optimal" ? '"optimal"' : literal(ridge));

function ensembleInPython({ fractions, shared, ridge, count, rows }, aggregation) {
  const all = count && count > 1 ? `[${literal(fractions[0])}] * ${count}` : list(fractions);
  const last = `${rows === 1 ? "" : `, rows=${literal(rows)}`}${aggregation === "mean" ? "" : `, aggregation="${aggregation}"`}`;
  return `ensemble(${all}, ${literal(shared)}, ${ridgeInPython(ridge)}${last})`;
}

function curvesInPython(state, { ratios, curves }) {
  const lines = [...preludeInPython(state), "", `sample_ratios = np.array(${list([...ratios, Infinity])})`, "ensembles = {"];
  const infinite = curves.filter((one) => one.infinite), middles = curves.filter((one) => one.ensembles);
  for (const one of curves) {
    const name = one.faint ? `${one.name} (${one.aggregation})` : one.name;
    if (one.ensemble) lines.push(`    ${JSON.stringify(name)}: ${ensembleInPython(one.ensemble, one.aggregation)},`);
  }
  lines.push("}", "curves = {name: sr.risk(problem, one, sample_ratios, n_features=n_features, test=test).total for name, one in ensembles.items()}");
  for (const one of middles) {
    const drawn = one.ensembles.map((ensemble) => ensembleInPython(ensemble, one.aggregation));
    lines.push("draws = [", ...drawn.map((text) => `    ${text},`), "]");
    lines.push(`curves[${JSON.stringify(one.name)}] = np.${one.middle}([sr.risk(problem, one, sample_ratios, n_features=n_features, test=test).total for one in draws], axis=0)`);
  }
  for (const one of infinite) {
    lines.push(`curves[${JSON.stringify(one.name)}] = np.full(len(sample_ratios), ${literal(one.limit)})  # s(1-c)(1-ρ²) + ρ²ω²`);
  }
  lines.push("", "for name, errors in curves.items():", "    print(name, errors)", "");
  return lines.join("\n");
}

function matrixInPython(state) {
  const one = ensembleOf(state, drawsOf(state)[0], ridgeOf(state));
  return [
    ...preludeInPython(state),
    "",
    `found = sr.risk(problem, ${ensembleInPython(one, "mean")}, ${literal(state.sample_ratio)}, n_features=n_features, test=test)`,
    "print(found.pairs)",
    "print(found.total)",
    "",
  ].join("\n");
}

function phaseInPython(state) {
  const arrays = { x: state.phase_x, y: state.phase_y };
  const python = { H: "readout_nsr", W: "feature_nsr", Z: "label_nsr" };
  const raw = ["row_fraction", "sample_ratio", "correlation", "alignment", "readout_noise", "feature_noise", "label_noise"];
  const lines = [...SNIPPET_HEAD, ...raw.map((name) => `${name} = ${literal(state[name])}`)];
  for (const [letter, axis] of Object.entries(arrays)) {
    const values = `(np.arange(${PHASE_CELLS}) + 0.5) / ${PHASE_CELLS} * ${PHASE_AXES[axis].max}`;
    if (!python[axis]) lines.push(`${axis} = ${letter === "x" ? `(${values})` : `(${values})[:, None]`}`);
  }
  lines.push("b = 1 - correlation");
  lines.push("readout_nsr, feature_nsr, label_nsr = readout_noise**2 / b, feature_noise**2 / b, label_noise**2 / b");
  for (const [letter, axis] of Object.entries(arrays)) {
    const values = `(np.arange(${PHASE_CELLS}) + 0.5) / ${PHASE_CELLS} * ${PHASE_AXES[axis].max}`;
    if (python[axis]) lines.push(`${python[axis]} = ${letter === "x" ? `(${values})` : `(${values})[:, None]`}`);
  }
  lines.push(
    "aligned = np.where(np.asarray(correlation) > 0, alignment, 0.0)  # without correlation no direction is special",
    `sizes = sr.optimal_n_members(row_fraction * sample_ratio, aligned, readout_nsr, feature_nsr, label_nsr, ridge=${state.phase_ridge === "0" ? "0" : '"optimal"'}, aggregation="${state.phase_aggregation}")`,
    "print(sizes)",
    "",
  );
  return lines.join("\n");
}
