// The risk matrix E_rs of the members, and the features that each member sees.

const INFINITE = [213, 94, 0];

class MatrixView {
  constructor(host, app) {
    this.app = app;
    this.sentence = host.querySelector(".reading");
    this.hovered = host.querySelector(".hovered");
    this.scale = host.querySelector(".scale");
    this.image = document.createElement("canvas");
    this.plot = new Plot(host.querySelector(".plot"), { height: 300, hover: (index, x, y) => this.tell(index, x, y) });
    exportButtons(host.querySelector(".export"), {
      copy: (button) => copyFigure(button, "risk-matrix.png", (texts) => this.svg(texts), this.caption()),
      PNG: () => savePng("risk-matrix.png", this.svg()),
      SVG: () => save("risk-matrix.svg", this.svg(), "image/svg+xml"),
      CSV: () => save("risk-matrix.csv", this.csv(), "text/csv"),
      Python: () => save("risk-matrix.py", matrixInPython(this.app.state), "text/x-python"),
    });
  }

  draw(state) {
    this.ensemble = ensembleOf(state, drawsOf(state)[0], ridgeOf(state));
    const { pairs } = (this.risk = risk(problemOf(state), this.ensemble, state.sample_ratio)), k = pairs.length;
    const finite = pairs.flat().filter(Number.isFinite), low = Math.min(...finite), high = Math.max(...finite);
    const pixels = new ImageData(k, k);
    pairs.forEach((row, r) => row.forEach((error, s) => {
      const rgb = error === Infinity ? INFINITE : shade(VIRIDIS, high > low ? (error - low) / (high - low) : 0.5);
      pixels.data.set([...rgb, 255], 4 * (r * k + s));
    }));
    this.image.width = this.image.height = k;
    this.image.getContext("2d").putImageData(pixels, 0, 0);
    const step = Math.ceil(k / 10), ticks = [];
    for (let member = 1; member <= k; member += step) ticks.push([member, String(member)]);
    const scale = barOf(VIRIDIS, brief(low), brief(high));
    if (finite.length < k * k) scale.push({ colour: cssColour(INFINITE), text: "∞" });
    showScale(this.scale, finite.length ? scale : scale.slice(-1));
    this.plot.show({
      x: { label: "member r", min: 0.5, max: k + 0.5, ticks },
      y: { label: "member r′", min: 0.5, max: k + 0.5, ticks: ticks.map(([at]) => [k + 1 - at, String(at)]) },
      at: [1, k + 0.5],
      lines: [{ colour: "transparent", values: [null, null], faint: true }],
      image: this.image,
      scale,
    });
    this.sentence.textContent = matrixInWords(this.risk);
    this.hovered.textContent = "";
  }

  tell(index, x, y) {
    const k = this.risk?.pairs.length, r = Math.round(x) - 1, s = k - Math.round(y);
    if (index === null || !(r >= 0 && r < k && s >= 0 && s < k)) return;
    const nu = this.ensemble.fractions, error = brief(this.risk.pairs[s][r], 4);
    this.hovered.textContent = r === s
      ? `member ${r + 1} sees ${percent(nu[r])} of the features: E = ${error}`
      : `members ${s + 1} and ${r + 1} (${percent(nu[s])}, ${percent(nu[r])}): E = ${error}`;
  }

  svg(texts = [this.sentence.textContent]) {
    return svgOfPlot(this.plot, "Risk matrix", texts);
  }

  caption() {
    return captionOf(this.app.state, "Risk matrix", this.sentence.textContent);
  }

  csv() {
    return csvOf(["member", ...this.risk.pairs.map((_, s) => s + 1)], this.risk.pairs.map((row, r) => [r + 1, ...row]));
  }
}

function matrixInWords({ pairs, mean }) {
  const k = pairs.length, own = pairs.map((row, r) => row[r]).reduce((total, error) => total + error, 0) / k;
  if (k === 1) return `One member, with error ${brief(own)}.`;
  const cross = (mean * k - own) / (k - 1);
  const both = own === Infinity ? "infinite" : brief(own);
  const shared = Number.isFinite(cross) ? ` With infinitely many members the error would fall to ${brief(cross)}.` : "";
  return `A single member has error ${both} on average, their mean ${brief(mean)}.${shared}`;
}

/** The features that each member sees: a bar for each member, the shared core first. */
class SubsetsView {
  constructor(host, app) {
    this.app = app;
    this.host = host.querySelector(".plot");
    this.sentence = host.querySelector(".reading");
    exportButtons(host.querySelector(".export"), {
      PNG: () => savePng("subsets.png", this.svg()),
      SVG: () => save("subsets.svg", this.svg(), "image/svg+xml"),
      CSV: () => save("subsets.csv", this.csv(), "text/csv"),
    });
  }

  draw(state) {
    const parts = drawsOf(state)[0], core = parts.length > 1 ? state.shared : 0, seen = state.coverage;
    this.parts = parts.map((part) => seen * (core + (1 - core) * part));
    const width = Math.max(this.host.clientWidth, 200), row = Math.max(4, Math.min(16, 220 / parts.length)), height = row * parts.length + 24;
    const shapes = [];
    let left = seen * core;
    parts.forEach((part, r) => {
      const own = seen * (1 - core) * part, colour = COLOURS[r % COLOURS.length], y = row * r + 2;
      shapes.push(["rect", { x: 0, y, width, height: row - 2, class: "unseen" }]);
      if (core > 0) shapes.push(["rect", { x: 0, y, width: width * seen * core, height: row - 2, fill: colour, "fill-opacity": 0.45 }]);
      shapes.push(["rect", { x: width * left, y, width: Math.max(width * own, 0.6), height: row - 2, fill: colour }]);
      left += own;
    });
    for (const [share, anchor] of [[0, "start"], [0.5, "middle"], [1, "end"]]) {
      shapes.push(["text", { x: width * share, y: height - 6, "text-anchor": anchor, "font-size": 12 }, ["first feature", "half", "last"][2 * share]]);
    }
    const space = "http://www.w3.org/2000/svg", picture = document.createElementNS(space, "svg");
    picture.setAttribute("viewBox", `0 0 ${width} ${height}`);
    picture.setAttribute("role", "img");
    picture.setAttribute("aria-label", "which features each member sees");
    for (const [tag, attributes, text] of shapes) {
      const shape = document.createElementNS(space, tag);
      for (const [name, value] of Object.entries(attributes)) shape.setAttribute(name, value);
      if (text) shape.textContent = text;
      picture.append(shape);
    }
    this.host.replaceChildren(picture);
    const most = Math.max(...this.parts), least = Math.min(...this.parts);
    const sizes = most - least < 1e-9 ? `${percent(most)} of the features${parts.length > 1 ? " each" : ""}` : `${percent(least)} to ${percent(most)} of the features`;
    const overlap = core > 0 ? ` Every member sees the same core of ${percent(seen * core)}.` : parts.length > 1 ? " No feature is seen twice." : "";
    const blind = seen < 1 ? ` ${percent(1 - seen)} of the features are seen by none.` : "";
    this.sentence.textContent = `${parts.length} ${parts.length === 1 ? "member sees" : "members see"} ${sizes}.${overlap}${blind}`;
  }

  svg() {
    const picture = this.host.firstChild.cloneNode(true), [, , width, height] = picture.getAttribute("viewBox").split(" ");
    picture.setAttribute("xmlns", "http://www.w3.org/2000/svg");
    picture.setAttribute("width", width);
    picture.setAttribute("height", height);
    for (const bar of picture.querySelectorAll(".unseen")) bar.setAttribute("fill", "#eeeeee");
    return new XMLSerializer().serializeToString(picture);
  }

  csv() {
    return csvOf(["member", "subset_fraction"], this.parts.map((part, r) => [r + 1, part]));
  }
}
