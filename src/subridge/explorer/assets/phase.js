// The phase diagram: the best ensemble size over two parameters, computed a few rows at a time so that sliders stay free.

const PHASE_CELLS = 100;
const SIZE_SCALE = [1, 2, 3, 5, 10, 20, 50, 100, Infinity].map((k) => ({ colour: cssColour(sizeColour(k)), text: k === 100 ? "≥ 100" : brief(k) }));
const noiseRatio = (noise) => ({
  get: (state) => state[noise] ** 2 / (1 - state.correlation),
  set: (state, value) => ({ [noise]: Math.min(Math.sqrt(Math.max(value, 0) * (1 - state.correlation)), 2) }),
});
const plain = (name) => ({ get: (state) => state[name], set: (_, value) => ({ [name]: sane(name, significant(value, 6)) }) });

const PHASE_AXES = {
  sample_ratio: { label: "samples per feature α", max: 3, ...plain("sample_ratio") },
  correlation: { label: "correlation c", max: 0.99, ...plain("correlation") },
  alignment: { label: "alignment ρ", max: 1, ...plain("alignment") },
  readout_noise: { label: "readout noise η", max: 1.5, ...plain("readout_noise") },
  feature_noise: { label: "feature noise ω", max: 1.5, ...plain("feature_noise") },
  label_noise: { label: "label noise ζ", max: 1.5, ...plain("label_noise") },
  H: { label: "readout noise ratio H = η²/s(1−c)", max: 2.1, ...noiseRatio("readout_noise") },
  W: { label: "feature noise ratio W = ω²/s(1−c)", max: 2.1, ...noiseRatio("feature_noise") },
  Z: { label: "label noise ratio Z = ζ²/s(1−c)", max: 2.1, ...noiseRatio("label_noise") },
};

const BEST_SIZES = {
  mean: { 0: bestRidgeless, optimal: bestAtOptimalRidge },
  scaled: { 0: bestScaledRidgeless, optimal: bestScaledAtOptimalRidge },
};

/** Centres of the cells along an axis. */
const cellsOf = (axis) => Float64Array.from({ length: PHASE_CELLS }, (_, i) => ((i + 0.5) / PHASE_CELLS) * PHASE_AXES[axis].max);

/** A function of two coordinates: k* there, everything else as in the state. */
function bestSizeIn(state) {
  const best = BEST_SIZES[state.phase_aggregation][state.phase_ridge], at = { ...state, H: null, W: null, Z: null };
  return (x, y) => {
    at[state.phase_x] = x;
    at[state.phase_y] = y;
    const b = 1 - at.correlation;
    if (b === 0) return NaN;
    const rho2 = at.correlation > 0 ? at.alignment ** 2 : 0;
    const ratios = [at.H ?? at.readout_noise ** 2 / b, at.W ?? at.feature_noise ** 2 / b, at.Z ?? at.label_noise ** 2 / b];
    return best(at.row_fraction * at.sample_ratio, rho2, ...ratios); // the errors of disjoint members depend only on their own rows
  };
}

/** Rows `from` to `to` of the diagram into `sizes`, which has one number for each cell. */
function phaseRows(state, sizes, from, to) {
  const xs = cellsOf(state.phase_x), ys = cellsOf(state.phase_y), best = bestSizeIn(state);
  for (let j = from; j < to; j++) for (let i = 0; i < PHASE_CELLS; i++) sizes[j * PHASE_CELLS + i] = best(xs[i], ys[j]);
}

/** The whole diagram at once. */
function phaseDiagram(state) {
  const sizes = new Float64Array(PHASE_CELLS * PHASE_CELLS);
  phaseRows(state, sizes, 0, PHASE_CELLS);
  return { x: cellsOf(state.phase_x), y: cellsOf(state.phase_y), sizes };
}

class PhaseView {
  constructor(host, app) {
    this.app = app;
    this.sentence = host.querySelector(".reading");
    this.hovered = host.querySelector(".hovered");
    this.image = document.createElement("canvas");
    this.image.width = this.image.height = PHASE_CELLS;
    this.pixels = new ImageData(PHASE_CELLS, PHASE_CELLS);
    this.sizes = new Float64Array(PHASE_CELLS * PHASE_CELLS);
    this.done = "";
    this.plot = new Plot(host.querySelector(".plot"), {
      height: 340,
      hover: (index, x, y) => this.tell(index, x, y),
      pick: (x, y) => this.pick(x, y),
    });
    showScale(host.querySelector(".scale"), SIZE_SCALE);
    exportButtons(host.querySelector(".export"), {
      copy: (button) => copyFigure(button, "phase-diagram.png", (texts) => this.svg(texts), this.caption()),
      PNG: () => savePng("phase-diagram.png", this.svg()),
      SVG: () => save("phase-diagram.svg", this.svg(), "image/svg+xml"),
      CSV: () => save("phase-diagram.csv", this.csv(), "text/csv"),
      Python: () => save("phase-diagram.py", phaseInPython(this.app.state), "text/x-python"),
    });
  }

  /** What the picture depends on, besides the crosshair. */
  keyOf(state) {
    const axes = [state.phase_x, state.phase_y];
    const names = ["row_fraction", "sample_ratio", "correlation", "alignment", "readout_noise", "feature_noise", "label_noise"];
    const ratios = { H: "readout_noise", W: "feature_noise", Z: "label_noise" };
    const moved = axes.map((axis) => ratios[axis] ?? axis);
    return JSON.stringify([axes, state.phase_ridge, state.phase_aggregation, names.filter((name) => !moved.includes(name)).map((name) => [name, state[name]])]);
  }

  draw(state) {
    const key = this.keyOf(state);
    if (key !== this.done) {
      this.done = key;
      this.row = 0;
      if (!this.working) this.work();
    }
    this.show(state);
    this.sentence.textContent = phaseInWords(state);
  }

  /** Compute a few rows, and then let the page respond; the picture appears after the last row. */
  work() {
    this.working = true;
    const state = this.app.state, start = performance.now();
    while (this.row < PHASE_CELLS && performance.now() - start < 6) phaseRows(state, this.sizes, this.row, ++this.row);
    if (this.row < PHASE_CELLS) {
      setTimeout(() => this.work(), 0);
      return;
    }
    this.working = false;
    this.colour();
    this.show(state);
  }

  colour() {
    for (let j = 0; j < PHASE_CELLS; j++) {
      for (let i = 0; i < PHASE_CELLS; i++) {
        const at = 4 * ((PHASE_CELLS - 1 - j) * PHASE_CELLS + i); // the first row of an image is the upper one
        this.pixels.data.set(sizeColour(this.sizes[j * PHASE_CELLS + i]), at);
        this.pixels.data[at + 3] = 255;
      }
    }
    this.image.getContext("2d").putImageData(this.pixels, 0, 0);
  }

  show(state) {
    const x = PHASE_AXES[state.phase_x], y = PHASE_AXES[state.phase_y];
    this.plot.show({
      x: { label: x.label, min: 0, max: x.max },
      y: { label: y.label, min: 0, max: y.max },
      at: [0, x.max],
      lines: [{ colour: "transparent", values: [null, null], faint: true }],
      image: this.image,
      scale: SIZE_SCALE,
      marks: { x: x.get(state), y: y.get(state) },
    });
  }

  pick(x, y) {
    const { state } = this.app, xs = PHASE_AXES[state.phase_x], ys = PHASE_AXES[state.phase_y];
    const clip = (value, axis) => Math.min(Math.max(value, 0), axis.max);
    const first = xs.set(state, clip(x, xs));
    this.app.change({ ...first, ...ys.set({ ...state, ...first }, clip(y, ys)) });
  }

  tell(index, x, y) {
    const { state } = this.app;
    this.hovered.textContent = index === null ? "" : `at ${brief(x)}, ${brief(y)}: k* = ${brief(bestSizeIn(state)(x, y))}`;
  }

  svg(texts = [this.sentence.textContent]) {
    return svgOfPlot(this.plot, "Best ensemble size k*", texts);
  }

  caption() {
    return captionOf(this.app.state, "Best ensemble size k*", this.sentence.textContent);
  }

  csv() {
    const { state } = this.app, { x, y, sizes } = phaseDiagram(state), rows = [];
    for (let j = 0; j < PHASE_CELLS; j++) for (let i = 0; i < PHASE_CELLS; i++) rows.push([x[i], y[j], sizes[j * PHASE_CELLS + i]]);
    return csvOf([state.phase_x, state.phase_y, "optimal_n_members"], rows);
  }
}

function phaseInWords(state) {
  const here = [state.phase_x, state.phase_y].map((axis) => PHASE_AXES[axis].get(state));
  const k = bestSizeIn(state)(...here), mine = sizeOf(state);
  const ridge = state.phase_ridge === "optimal" ? "with every member at its own best ridge λ*" : "without a ridge";
  if (Number.isNaN(k)) return "At correlation 1 all features carry the same signal: there is no bulk to divide, and no diagram.";
  const pinned = state.phase_aggregation === "scaled" && state.alignment > 0 ? " Where the teacher is aligned and features are correlated, the best scale is 1 and the sizes are those of the mean." : "";
  const phase = k === 1 ? "signal dominates: do not divide the features" : k === Infinity ? "noise dominates: the more members, the better" : "in between, some number of members is best";
  return `At the crosshair k* = ${brief(k)} ${ridge}: ${phase}. You have ${mine}. This is the diagram of equal disjoint members and their ${state.phase_aggregation === "scaled" ? "scaled" : "plain"} mean${state.dead_features > 0 ? ", on test data without dead features" : ""}.${pinned}`;
}
