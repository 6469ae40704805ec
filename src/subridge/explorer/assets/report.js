// Panels of a report: pictures that respond to the pointer.

const numeric = (value) => (value === null ? NaN : value === "inf" ? Infinity : value === "-inf" ? -Infinity : value);
const significant = (value, digits = 3) => Number(value.toPrecision(digits));

class PanelView {
  constructor(host, panel) {
    this.panel = panel;
    this.legend = host.querySelector(".legend");
    this.hovered = host.querySelector(".hovered");
    this.at = panel.at.map(numeric);
    this.lines = panel.lines.map((line) => ({
      ...line, joined: panel.joined, values: line.values.map(numeric), lower: line.lower?.map(numeric), upper: line.upper?.map(numeric),
    }));
    this.plot = new Plot(host.querySelector(".plot"), { height: 340, hover: (index, x, y) => this.tell(index, x, y) });
    const name = panel.title.replace(/[^A-Za-z0-9]+/g, "-");
    exportButtons(host.querySelector(".export"), {
      PNG: () => savePng(`${name}.png`, svgOfPlot(this.plot, panel.title)),
      SVG: () => save(`${name}.svg`, svgOfPlot(this.plot, panel.title), "image/svg+xml"),
      CSV: () => save(`${name}.csv`, this.csv(), "text/csv"),
    });
    if (panel.sizes) this.map(host.querySelector(".scale"));
    this.folded = host.closest("details");
    this.folded?.addEventListener("toggle", () => this.draw());
    this.draw();
  }

  draw() {
    if (this.folded && !this.folded.open) return;
    if (this.panel.sizes) this.plot.show(this.mapped());
    else this.plot.show(this.curves());
    this.legend.replaceChildren(...this.lines.map((line) => {
      const item = document.createElement("li"), swatch = document.createElement("i"), value = document.createElement("b");
      swatch.style.borderTop = `3px ${line.dash ? "dashed" : "solid"} ${line.colour}`;
      item.append(swatch, line.name, " ", value);
      return item;
    }));
  }

  curves() {
    const { x, y, marks } = this.panel;
    const ends = this.lines.flatMap((line) => [line.values, line.lower ?? [], line.upper ?? []]);
    const finite = ends.flat().filter(Number.isFinite);
    let [low, high] = rangeOf(ends, y.log);
    if (finite.length && this.lines.some((line) => line.band)) high = Math.max(...finite) * 1.05;
    if (x.texts) low = Math.min(...finite) * 0.95;
    const pad = x.texts ? 0.5 : 0;
    const ticks = x.texts ? this.at.map((at, i) => [at, x.texts[i]]) : undefined;
    return {
      x: { label: x.label, log: x.log, min: this.at[0] - pad, max: this.at[this.at.length - 1] + pad, ticks, slanted: Boolean(x.texts) },
      y: { label: y.label, log: y.log, min: low, max: high },
      at: this.at, lines: this.lines, marks: { x: Object.values(marks)[0] },
    };
  }

  /** The map of ensemble sizes as an image, a pixel for each cell. */
  map(bar) {
    const rows = (this.sizes = this.panel.sizes.map((row) => row.map(numeric))), height = rows.length, width = this.at.length;
    const pixels = new ImageData(width, height);
    rows.forEach((row, j) => row.forEach((k, i) => pixels.data.set([...sizeColour(k), 255], 4 * ((height - 1 - j) * width + i))));
    this.image = document.createElement("canvas");
    this.image.width = width;
    this.image.height = height;
    this.image.getContext("2d").putImageData(pixels, 0, 0);
    for (const k of [1, 2, 3, 5, 10, 20, 50, 100, Infinity]) {
      const item = document.createElement("span"), swatch = document.createElement("i");
      swatch.style.background = cssColour(sizeColour(k));
      item.append(swatch, k === 100 ? "≥ 100" : brief(k));
      bar.append(item);
    }
  }

  mapped() {
    const heights = this.panel.heights.map(numeric), half = (list) => (list[list.length - 1] - list[0]) / (2 * (list.length - 1));
    const span = (list) => ({ min: list[0] - half(list), max: list[list.length - 1] + half(list) });
    return {
      x: { label: this.panel.x.label, ...span(this.at) }, y: { label: this.panel.y.label, ...span(heights) },
      at: [this.at[0], this.at[this.at.length - 1]], image: this.image,
      lines: [{ colour: "transparent", values: [null, null], faint: true }],
    };
  }

  tell(index, x, y) {
    if (this.panel.sizes) {
      const nearest = (list, value) => list.reduce((best, one, i) => (Math.abs(one - value) < Math.abs(list[best] - value) ? i : best), 0);
      const i = nearest(this.at, x ?? 0), j = nearest(this.panel.heights, y ?? 0);
      this.hovered.textContent = index === null ? "" : `at ${brief(this.at[i])}, ${brief(this.panel.heights[j])}: k* = ${brief(this.sizes[j][i])}`;
      return;
    }
    const place = index === null ? "" : this.panel.x.texts ? this.panel.x.texts[index] : `at ${brief(this.at[index])}`;
    this.hovered.textContent = place;
    this.lines.forEach((line, i) => {
      const range = line.lower && index !== null ? ` (${brief(line.lower[index])}–${brief(line.upper[index])})` : "";
      this.legend.children[i].lastChild.textContent = index === null ? "" : brief(line.values[index]) + range;
    });
  }

  csv() {
    if (this.panel.sizes) {
      const rows = this.sizes.flatMap((row, j) => row.map((k, i) => [this.at[i], this.panel.heights[j], k]));
      return csvOf([this.panel.x.label, this.panel.y.label, "best size"], rows);
    }
    return csvOf([this.panel.x.label, ...this.lines.map((line) => line.name)], this.at.map((at, i) => [at, ...this.lines.map((line) => line.values[i])]));
  }
}

const panels = JSON.parse(document.getElementById("panels").textContent);
const shown = [...document.querySelectorAll("[data-panel]")].map((host) => new PanelView(host, panels[Number(host.dataset.panel)]));
document.getElementById("dark").addEventListener("click", () => {
  const { dataset } = document.documentElement;
  const dark = dataset.theme ? dataset.theme === "dark" : darkWanted();
  dataset.theme = dark ? "light" : "dark";
  for (const view of shown) view.draw();
});
window.subridge = { panels: shown };
