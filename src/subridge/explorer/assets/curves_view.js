// The learning curves on the page: picture, legend with values, and the sentence under it.

class CurvesView {
  constructor(host, app) {
    this.app = app;
    this.legend = host.querySelector(".legend");
    this.sentence = host.querySelector(".reading");
    this.plot = new Plot(host.querySelector(".plot"), {
      height: narrow() ? 230 : 360,
      hover: (index) => this.values(index),
      pick: (x) => app.change({ sample_ratio: significant(Math.max(x, 0)) }),
    });
    host.querySelector("details").open = !narrow();
    exportButtons(host.querySelector(".export"), {
      copy: (button) => copyFigure(button, "learning-curves.png", (texts) => this.svg(texts), this.caption()),
      PNG: () => savePng("learning-curves.png", this.svg()),
      SVG: () => save("learning-curves.svg", this.svg(), "image/svg+xml"),
      CSV: () => save("learning-curves.csv", this.csv(), "text/csv"),
      Python: () => save("learning-curves.py", this.python(), "text/x-python"),
    });
  }

  draw(state) {
    const { ratios, curves } = (this.numbers = curveNumbers(state));
    const log = state.log_y === "1", [low, high] = rangeOf(curves.map((one) => one.errors), log, 0.75, 20);
    this.plot.show({
      x: { label: "samples per feature α = P/M", min: ratios[0], max: ratios[ratios.length - 1], log: state.log_x === "1" },
      y: { label: "generalization error E", min: low, max: high, log },
      at: ratios,
      lines: curves.map((one) => ({ ...one, values: one.errors })),
      marks: { x: state.sample_ratio },
      infinity: true,
    });
    this.names();
    this.values(null);
    this.sentence.textContent = curvesInWords(state, curves);
  }

  names() {
    const told = this.numbers.curves.filter((one) => !one.faint), text = told.map((one) => [one.name, one.colour, Boolean(one.run)]).join();
    if (text === this.named) return;
    this.named = text;
    this.legend.replaceChildren(...told.map((one) => {
      const item = document.createElement("li"), swatch = document.createElement("i"), value = document.createElement("b");
      swatch.style.borderTop = `3px ${one.dash ? "dashed" : "solid"} ${one.colour}`;
      item.append(swatch, one.name, " ", value);
      return item;
    }));
    const runs = told.flatMap((one) => one.run ?? []);
    if (runs.length) {
      const item = document.createElement("li");
      item.className = "runs";
      item.textContent = `● ${runsInWords(runs)}`;
      this.legend.append(item);
    }
  }

  values(index) {
    const told = this.numbers.curves.filter((one) => !one.faint), items = this.legend.children;
    told.forEach((one, i) => {
      if (items[i]) items[i].lastChild.textContent = brief(index === null ? one.here : one.errors[index]);
    });
    const where = index === null ? this.app.state.sample_ratio : this.numbers.ratios[index];
    this.legend.dataset.at = `at α = ${brief(where)}`;
  }

  /** A sentence on the dots, if there are any. */
  dots() {
    const runs = this.numbers.curves.flatMap((one) => one.run ?? []);
    return runs.length ? [`Dots: ${runsInWords(runs)}.`] : [];
  }

  svg(texts = [this.sentence.textContent, ...this.dots()]) {
    return svgOfPlot(this.plot, "Learning curves", texts);
  }

  caption() {
    return captionOf(this.app.state, "Learning curves", [this.sentence.textContent, ...this.dots()].join(" "));
  }

  csv() {
    const { ratios, curves } = this.numbers;
    const names = curves.map((one) => (one.faint ? `${one.name} (${one.aggregation})` : one.name));
    const rows = ratios.map((ratio, i) => [ratio, ...curves.map((one) => one.errors[i])]);
    return csvOf(["sample_ratio", ...names], [...rows, [Infinity, ...curves.map((one) => one.limit)]]);
  }

  python() {
    return curvesInPython(this.app.state, this.numbers);
  }
}

/** What the curves say at the slider. */
function curvesInWords(state, curves) {
  const k = sizeOf(state), thresholds = thresholdsOf(state), alpha = state.sample_ratio;
  const nu = thresholds.reduce((best, one) => (Math.abs(Math.log(alpha / one)) < Math.abs(Math.log(alpha / best)) ? one : best));
  const several = thresholds.length > 1, words = [];
  const members = `${k} ${k === 1 ? "member" : "members"}`;
  if (alpha === Infinity) words.push("With infinite data every threshold is passed.");
  else if (alpha === 0) words.push("Without data nothing is fitted.");
  else if (Math.abs(alpha / nu - 1) < 0.005) words.push(`You are at the threshold of ${several ? "a member" : `${members} of equal size`} (α = ${brief(nu)}).`);
  else {
    const apart = alpha / nu - 1;
    const far = apart > 1.5 ? `at ${brief(alpha / nu, 2)} times` : `${percent(apart)} ${apart > 0 ? "above" : "below"}`;
    words.push(`You are ${far} the ${several ? "nearest threshold of a member" : `threshold of ${members}`} (α = ${brief(nu)}).`);
  }
  if (several) words.push(`The members' thresholds are α = ${thresholds.slice(0, 8).map((one) => brief(one)).join(", ")}${thresholds.length > 8 ? ", …" : ""}.`);
  const equal = curves.find((one) => one.name.startsWith(`${k} equal`)), best = curves.find((one) => one.name === "one ridge, λ = λ*");
  const unequal = curves.find((one) => one.ensembles);
  const ensemble = equal ?? (state.fractions === "" ? undefined : unequal), sizes = equal ? "equal size" : "these sizes";
  if (ensemble && best && Number.isFinite(best.here) && best.here > 0) {
    if (ensemble.here === Infinity) words.push("Without a ridge the ensemble's error is infinite there.");
    else {
      const change = ensemble.here / best.here - 1;
      const than = Math.abs(change) < 5e-4 ? "as well as" : `${percent(change)} ${change < 0 ? "better" : "worse"} than`;
      words.push(`There ${members} of ${sizes} do ${than} one ridge tuned to λ*${state.dead_features > 0 ? " of complete data" : ""}.`);
    }
  }
  if (equal && unequal && Number.isFinite(equal.here) && equal.here > 0 && k > 1) {
    const change = unequal.here / equal.here - 1;
    if (Math.abs(change) >= 5e-4) words.push(`Unequal subsets ${change < 0 ? "lower" : "raise"} the ensemble's error by ${percent(change)}.`);
  }
  if (!averageExists(state)) words.push("With a spread of 1 or more and an aligned teacher the mean over draws does not exist: the median is shown.");
  if (state.dead_features > 0 && state.n_features === Infinity && state.correlation > 0 && state.alignment > 0) {
    words.push("With an aligned teacher and M → ∞ the signal that dead features lose is infinite: choose a finite number of features.");
  }
  if (state.aggregation !== "mean" && state.n_features === Infinity && state.correlation > 0 && state.alignment > 0) {
    words.push("With an aligned teacher and M → ∞ the best scale is 1: the scaled mean is the mean. Choose a finite number of features to see it differ.");
  }
  return words.join(" ");
}
