// The learning curves of a state: which ensembles, at which sample ratios, with which numbers.

const COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"]; // Okabe & Ito
const FAMILY = [1, 2, 3, 5, 10, 20, 60];
const N_RATIOS = 150;

/** Every curve of a state: name, ensemble, look. The mean of draws names the draws that it is the mean of. */
function curvesOf(state) {
  const shown = (letter) => state.curves.includes(letter);
  const ridge = ridgeOf(state), k = sizeOf(state), found = [];
  const aggregations = state.aggregation === "both" ? ["mean", "scaled"] : [state.aggregation];
  const add = (name, ensemble, look) => {
    const several = look.family || (ensemble?.count ?? ensemble?.fractions.length ?? 2) > 1; // one ridge is shown as it is fitted
    for (const aggregation of several ? aggregations : ["mean"]) {
      const word = several && aggregation === "scaled" ? ", scaled mean" : "";
      found.push({ ...look, name: name + word, ensemble, aggregation, dash: word ? [6, 3] : look.dash });
    }
  };
  if (shown("o")) add(`one ridge${ridge === "optimal" ? "" : `, λ = ${brief(state.ridge)}`}`, oneRidge(state, state.ridge), { colour: COLOURS[1] });
  if (shown("b")) add("one ridge, λ = λ*", oneRidge(state, "optimal"), { colour: COLOURS[1], dash: [2, 3] });
  const draws = drawsOf(state), unequal = draws.length > 1 || state.fractions !== "" || state.fraction_spread > 0;
  if (unequal && shown("d")) {
    draws.forEach((parts, draw) => {
      for (const aggregation of aggregations) {
        const ensemble = ensembleOf(state, parts, ridge);
        found.push({ name: `draw ${draw + 1}`, ensemble, aggregation, colour: COLOURS[2], faint: true, dash: aggregation === "scaled" ? [6, 3] : undefined });
      }
    });
  }
  if (shown("e")) add(`${k} equal`, ensembleOf(state, [1 / k], ridge, k), { colour: COLOURS[0], width: 2.2 });
  if (unequal && shown("m")) {
    const middle = averageExists(state) ? "mean" : "median";
    for (const aggregation of aggregations) {
      const word = aggregation === "scaled" ? ", scaled mean" : "";
      const name = draws.length > 1 ? `${k} unequal, ${middle} of ${draws.length} draws${word}` : `${k} unequal${word}`;
      const ensembles = draws.map((parts) => ensembleOf(state, parts, ridge));
      found.push({ name, ensembles, middle, aggregation, colour: COLOURS[2], width: 2.2, dash: word ? [6, 3] : undefined });
    }
  }
  if (shown("s")) {
    const sizes = FAMILY.filter((size) => size !== k || !shown("e"));
    sizes.forEach((size, i) => add(`k = ${size}`, ensembleOf(state, [1 / size], ridge, size), { colour: plasma(i / FAMILY.length), width: 1.2, family: true }));
    if (state.shared === 0 && state.coverage === 1 && state.n_features === Infinity && state.aggregation === "mean") {
      found.push({ name: "k = ∞", infinite: true, aggregation: "mean", colour: "#888888", width: 1.2 });
    }
  }
  return found;
}

/** Whether errors have a mean over draws: 1/ν has none for a spread of 1 or more, and enters through an aligned teacher. */
function averageExists(state) {
  return !(state.fraction_spread >= 1 && state.alignment > 0 && state.correlation > 0 && state.fractions === "");
}

/** Where members of the ensemble see as many samples as features: of the given fractions, or of equal ones. */
function thresholdsOf(state) {
  const k = sizeOf(state), given = state.fractions !== "";
  const { fractions } = given ? ensembleOf(state, drawsOf(state)[0], 0) : ensembleOf(state, [1 / k], 0, k);
  return [...new Set(fractions.map((nu) => significant(nu / state.row_fraction, 12)))].sort((p, q) => p - q);
}

/** Sample ratios of the horizontal axis, close to the thresholds on both sides but never on them. */
function ratiosOf(state) {
  const most = Number(state.largest_ratio), least = most / 200, log = state.log_x === "1";
  const found = new Set();
  for (let i = 0; i <= N_RATIOS; i++) {
    found.add(log ? least * Math.pow(most / least, i / N_RATIOS) : least + ((most - least) * i) / N_RATIOS);
  }
  const thresholds = [oneRidge(state, 0).fractions[0], ...thresholdsOf(state)];
  if (state.curves.includes("s")) for (const size of FAMILY) thresholds.push(ensembleOf(state, [1 / size], 0, size).fractions[0] / state.row_fraction);
  for (const threshold of thresholds) {
    for (const step of [-0.03, -0.01, -0.001, 0.001, 0.01, 0.03]) found.add(threshold * (1 + step));
  }
  return [...found].filter((ratio) => ratio >= least && ratio <= most).sort((p, q) => p - q);
}

/** Errors of a curve at sample ratios. */
function errorsOf(one, problem, ratios) {
  if (one.infinite) return ratios.map(() => errorOfInfinitely(problem));
  if (one.ensemble) return curve(problem, one.ensemble, ratios)[one.aggregation];
  const all = one.ensembles.map((ensemble) => curve(problem, ensemble, ratios)[one.aggregation]);
  return ratios.map((_, i) => middleOf(all.map((errors) => errors[i]), one.middle));
}

function middleOf(values, middle) {
  if (middle === "mean") return values.reduce((total, value) => total + value, 0) / values.length;
  const sorted = [...values].sort((p, q) => p - q), half = (sorted.length - 1) / 2;
  return (sorted[Math.floor(half)] + sorted[Math.ceil(half)]) / 2;
}

/** The limit k → ∞ of equal disjoint members, whatever their ridge. */
function errorOfInfinitely(problem) {
  const q = prepare(problem);
  if (q.failing > 0 && q.rho2 > 0) return Infinity;
  if (q.b === 0) return q.rho2 * q.omega2;
  const W = q.omega2 / q.b;
  return q.b * sizeError(0, 0, 0, sizeOwnBias(0, 1, q.rho2, W), sizeCrossBias(0, 1, q.rho2, W), 0);
}

/** All numbers of the learning curves: ratios, curves with errors, their limits at infinite data and values at the slider. */
function curveNumbers(state) {
  const problem = problemOf(state), ratios = ratiosOf(state), points = [...ratios, state.sample_ratio, Infinity];
  const curves = curvesOf(state), drawn = new Map();
  for (const one of curves) {
    if (one.faint) drawn.set(`${one.name} ${one.aggregation}`, (one.all = errorsOf(one, problem, points)));
  }
  for (const one of curves) {
    if (one.ensembles && drawn.size) {
      const all = one.ensembles.map((_, draw) => drawn.get(`draw ${draw + 1} ${one.aggregation}`));
      one.all = points.map((_, i) => middleOf(all.map((errors) => errors[i]), one.middle));
    } else if (!one.all) {
      one.all = errorsOf(one, problem, points);
    }
    one.errors = one.all.slice(0, ratios.length);
    [one.here, one.limit] = one.all.slice(ratios.length);
  }
  for (const one of curves) one.run = runOf(one, state);
  return { ratios, curves };
}
