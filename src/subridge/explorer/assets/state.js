// The settings, their ranges, and how they are written into the address of the page.

const significant = (value, digits = 3) => Number(value.toPrecision(digits));

/** A slider over even steps. */
function even(min, max, step, standard) {
  const places = Math.round((max - min) / step);
  return {
    kind: "number", min, max, standard, places,
    value: (place) => significant(min + place * step, 6),
    place: (value) => Math.round((value - min) / step),
  };
}

/** A slider over equal factors, with 0 before the first and infinity after the last where that is allowed. */
function factors(min, max, places, { zero = false, infinite = false, whole = false, standard }) {
  const first = zero ? 1 : 0, last = first + places;
  return {
    kind: "number", min: zero ? 0 : min, max: infinite ? Infinity : max, standard, whole,
    places: infinite ? last + 1 : last,
    value: (place) => {
      if (place < first) return 0;
      if (place > last) return Infinity;
      const value = min * Math.pow(max / min, (place - first) / places);
      return whole ? Math.round(significant(value, 2)) : significant(value);
    },
    place: (value) => {
      if (value <= 0) return 0;
      if (value === Infinity) return last + 1;
      return Math.min(Math.max(first + Math.round((places * Math.log(value / min)) / Math.log(max / min)), first), last);
    },
  };
}

const choice = (options, standard) => ({ kind: "choice", options, standard });
const flag = (standard) => choice(["0", "1"], standard);

/** Every setting by the name it has in Python and in the address; it opens where the error of the ensemble is a third less than that of one ridge. */
const SETTINGS = {
  sample_ratio: factors(0.01, 10, 300, { zero: true, infinite: true, standard: 0.3 }),
  correlation: even(0, 1, 0.01, 0.6),
  alignment: even(0, 1, 0.01, 0),
  feature_noise: even(0, 2, 0.01, 0),
  label_noise: even(0, 2, 0.01, 0.1),
  dead_features: even(0, 0.5, 0.01, 0),
  n_features: factors(20, 100000, 90, { infinite: true, whole: true, standard: Infinity }),
  ridge: factors(1e-6, 100, 160, { zero: true, standard: 0.001 }),
  best_ridge: flag("0"),
  readout_noise: even(0, 2, 0.01, 0.5),
  n_members: { ...even(1, 60, 1, 10), whole: true },
  fraction_spread: even(0, 2, 0.05, 0.5),
  shared: even(0, 0.9, 0.01, 0),
  coverage: even(0.05, 1, 0.01, 1),
  row_fraction: even(0.05, 1, 0.01, 1),
  n_draws: { ...even(1, 20, 1, 6), whole: true },
  seed: { ...even(0, 9999, 1, 1), whole: true },
  aggregation: choice(["mean", "scaled", "both"], "mean"),
  fractions: { kind: "fractions", standard: "" },
  curves: { kind: "letters", letters: "obedms", standard: "obedm" },
  log_x: flag("0"),
  log_y: flag("1"),
  largest_ratio: choice(["0.3", "1", "2", "5", "10"], "1"),
  phase_x: choice(["sample_ratio", "correlation", "alignment", "readout_noise", "feature_noise", "label_noise", "H", "W", "Z"], "sample_ratio"),
  phase_y: choice(["sample_ratio", "correlation", "alignment", "readout_noise", "feature_noise", "label_noise", "H", "W", "Z"], "H"),
  phase_ridge: choice(["0", "optimal"], "0"),
  phase_aggregation: choice(["mean", "scaled"], "mean"),
  preset: { kind: "name", standard: "" },
};

function standardState() {
  return Object.fromEntries(Object.entries(SETTINGS).map(([name, setting]) => [name, setting.standard]));
}

/** A valid value of a setting, whatever was given. */
function sane(name, written) {
  const setting = SETTINGS[name], text = String(written);
  if (setting.kind === "choice") return setting.options.includes(text) ? text : setting.standard;
  if (setting.kind === "name") return /^[A-Za-z0-9-]{0,12}$/.test(text) ? text : "";
  if (setting.kind === "letters") return [...setting.letters].filter((letter) => text.includes(letter)).join("");
  if (setting.kind === "fractions") return saneFractions(text);
  const number = text.trim() === "" ? NaN : text === "inf" ? Infinity : Number(text);
  if (Number.isNaN(number)) return setting.standard;
  const kept = Math.min(Math.max(number, setting.min), setting.max);
  return setting.whole && Number.isFinite(kept) ? Math.round(kept) : kept;
}

/** Fractions of disjoint subsets from text such as "0.5, 1/3", or none if it is not valid. */
function saneFractions(text) {
  const parts = text.split(/[,;\s]+/).filter(Boolean).map((part) => {
    const [above, below = "1", ...more] = part.split("/");
    return more.length ? NaN : Number(above) / Number(below);
  });
  const sum = parts.reduce((total, part) => total + part, 0);
  const possible = parts.length <= SETTINGS.n_members.max && parts.every((part) => part >= 1e-6) && sum <= 1 + 1e-12;
  return possible ? parts.join(",") : "";
}

/** The settings of a preset, with defaults for those that it lacks; without a preset only the defaults. */
function stateOfPreset(presets, id) {
  const preset = Object.hasOwn(presets, id) ? presets[id] : { state: {} };
  const chosen = Object.entries(preset.state).map(([name, value]) => [name, sane(name, value)]);
  return { ...standardState(), ...Object.fromEntries(chosen), preset: id };
}

function stateFromAddress(hash, presets = {}) {
  const written = new URLSearchParams(hash.slice(0, 4000).replace(/^#/, ""));
  const state = stateOfPreset(presets, sane("preset", written.get("preset") ?? ""));
  for (const [name, text] of written) if (Object.hasOwn(SETTINGS, name)) state[name] = sane(name, text);
  if (state.phase_x === state.phase_y) state.phase_y = state.phase_x === "H" ? "sample_ratio" : "H";
  return state;
}

/** The settings that differ from the preset, or without one from the defaults. */
function addressOf(state, presets = {}) {
  const written = new URLSearchParams(), start = { ...stateOfPreset(presets, state.preset), preset: "" };
  start.n_members = sizeOf(start);
  for (const name of Object.keys(SETTINGS)) {
    if (state[name] !== start[name]) written.set(name, state[name] === Infinity ? "inf" : String(state[name]));
  }
  return written.toString().replaceAll("%2C", ",");
}

/** The data that a state describes. */
function problemOf(state) {
  return {
    scale: 1,
    correlation: state.correlation,
    alignment: state.alignment,
    featureNoise: state.feature_noise,
    labelNoise: state.label_noise,
    readoutNoise: state.readout_noise,
    nFeatures: state.n_features,
    failing: state.dead_features,
  };
}

/** Members that share a core of the features and divide the rest: ν_r = u(θ + (1 - θ)φ_r), ν_rs = uθ; each sees some of the rows. */
function ensembleOf(state, parts, ridge, count, rows = state.row_fraction) {
  const core = parts.length === 1 && (count ?? 1) === 1 ? 0 : state.shared;
  return {
    fractions: parts.map((part) => state.coverage * (core + (1 - core) * part)),
    shared: state.coverage * core,
    ridge,
    count,
    rows,
  };
}

/** One ridge to compare with: it sees every row. */
const oneRidge = (state, ridge) => ensembleOf(state, [1], ridge, undefined, 1);

/** The heterogeneous draws: those of the seed, or the one written into the state. */
function drawsOf(state) {
  if (state.fractions !== "") return [state.fractions.split(",").map(Number)];
  const draws = state.fraction_spread > 0 ? state.n_draws : 1;
  return Array.from({ length: draws }, (_, draw) =>
    drawFractions(state.n_members, state.fraction_spread, state.seed * 1009 + draw));
}

/** The caption of a picture: what it says, with which settings, and from where its numbers come. */
function captionOf(state, title, said) {
  const names = { correlation: "c", alignment: "ρ", label_noise: "ζ", feature_noise: "ω", readout_noise: "η", shared: "θ", coverage: "u", row_fraction: "rows per member", dead_features: "dead features" };
  const values = Object.entries(names).map(([name, letter]) => `${letter} = ${brief(state[name])}`);
  const ridge = state.best_ridge === "1" ? "λ = λ*" : `λ = ${brief(state.ridge)}`, M = state.n_features === Infinity ? "M → ∞" : `M = ${state.n_features}`;
  const made = document.querySelector("meta[name=generator]").content;
  return `${title}. ${said} Settings: α = ${brief(state.sample_ratio)}, k = ${sizeOf(state)}, ${ridge}, ${values.join(", ")}, ${M}. Theory: Prop. 2 of Ruben & Pehlevan (2023), by ${made}.`;
}

const sizeOf = (state) => (state.fractions === "" ? state.n_members : state.fractions.split(",").length);
const ridgeOf = (state) => (state.best_ridge === "1" ? "optimal" : state.ridge);
