// One kind of picture for every view and report: axes, lines, bands, bars, points and images, drawn by uPlot.

const theme = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

/**
 * A picture in an element. `show` takes a description:
 *   x, y      {label, min, max, log, ticks}; ticks: values with their texts, [[1, "one"], ...]
 *   at        horizontal positions
 *   lines     [{name, colour, values, width, dash, faint, dots, lower, upper, band, limit, run}]; run: {sample_ratio, mean, error}, dots
 *   image     a canvas that fills the axes
 *   marks     {x, y}: lines through the picture
 *   infinity  whether values of `limit` are shown beyond the right end, at ∞
 * and calls back `hover(index, x, y)` and `pick(x, y)`.
 */
class Plot {
  constructor(host, { height = 320, hover = null, pick = null } = {}) {
    Object.assign(this, { host, height, hover, pick, made: null, built: "", what: null });
    new ResizeObserver(() => this.fit()).observe(host);
  }

  fit() {
    const width = Math.floor(this.host.clientWidth);
    if (this.made && width > 0 && width !== this.made.width) this.made.setSize({ width, height: this.height });
  }

  show(what) {
    this.what = what;
    const data = [what.at, ...what.lines.map((line) => drawable(line.values, what.y.log))];
    for (const line of what.lines) {
      if (line.band) data.push(drawable(line.lower, what.y.log), drawable(line.upper, what.y.log));
    }
    const looks = what.lines.map((line) => [line.colour, line.width, line.dash, line.faint, line.dots, line.band]);
    const built = JSON.stringify([looks, what.x.log, what.y.log, what.x.label, what.y.label, what.infinity, document.documentElement.dataset.theme, darkWanted()]);
    if (built !== this.built) {
      this.made?.destroy();
      this.made = new uPlot(this.options(), data, this.host);
      this.built = built;
      if (this.pick) this.listen();
    } else {
      this.made.setData(data, true);
    }
  }

  options() {
    const what = this.what, ink = theme("--quiet"), line = { stroke: theme("--line"), width: 1 };
    const grid = { ...line, show: !what.image };
    const axis = (name) => ({
      stroke: ink, grid, ticks: { ...line, size: 4 }, label: what[name].label, labelSize: 18, labelGap: 0, gap: 3,
      font: "12px system-ui, sans-serif", labelFont: "13px system-ui, sans-serif",
      size: what[name].slanted ? 150 : name === "x" ? 28 : 50, space: name === "x" ? 56 : 34,
      ...(what[name].slanted ? { rotate: 50, align: 2 } : {}),
      ...(what[name].ticks || what[name].log ? { splits: () => this.splits(name), filter: (_, splits) => splits } : {}),
      values: (_, splits) => splits.map((at) => this.text(name, at)),
    });
    const lines = what.lines.map((line) => ({
      stroke: line.width === 0 ? "transparent" : line.colour, width: line.faint ? 1 : line.width ?? 1.6, dash: line.dash, alpha: line.faint ? 0.45 : 1,
      points: { show: Boolean(line.dots), size: 6, fill: line.colour, stroke: line.colour }, spanGaps: Boolean(line.joined),
    }));
    const bands = [];
    for (const line of what.lines.filter((one) => one.band)) {
      lines.push({ stroke: "transparent", points: { show: false } }, { stroke: "transparent", points: { show: false } });
      bands.push({ series: [lines.length, lines.length - 1], fill: `${line.colour}26` });
    }
    return {
      width: Math.max(Math.floor(this.host.clientWidth), 200), height: this.height, legend: { show: false }, bands,
      padding: [10, what.infinity ? 34 : 14, 0, 0],
      scales: {
        x: { time: false, distr: what.x.log ? 3 : 1, range: () => [this.what.x.min, this.what.x.max] },
        y: { distr: what.y.log ? 3 : 1, range: () => [this.what.y.min, this.what.y.max] },
      },
      axes: [axis("x"), axis("y")],
      series: [{}, ...lines],
      cursor: { drag: { x: false, y: false }, points: { size: 6 }, y: Boolean(what.image) },
      hooks: {
        drawClear: [(u) => this.paint(u)],
        draw: [(u) => this.overlay(u)],
        setCursor: [(u) => this.tell(u)],
      },
    };
  }

  splits(name) {
    const { ticks, min, max } = this.what[name];
    return ticks ? ticks.map(([at]) => at) : logTicks(min, max, name === "x" ? 10 : 8);
  }

  text(name, at) {
    if (at === null || at === undefined) return "";
    const ticks = this.what[name].ticks;
    return ticks ? (ticks.find(([place]) => place === at)?.[1] ?? "") : brief(at);
  }

  paint(u) {
    if (!this.what.image) return;
    u.ctx.save();
    u.ctx.imageSmoothingEnabled = false;
    u.ctx.drawImage(this.what.image, u.bbox.left, u.bbox.top, u.bbox.width, u.bbox.height);
    u.ctx.restore();
  }

  /** Lines through the picture, bars of errors, and values at infinity; `shapes` says where, in pixels of the screen. */
  overlay(u) {
    const ratio = uPlot.pxRatio, ctx = u.ctx;
    ctx.save();
    for (const shape of this.shapes(u)) {
      ctx.strokeStyle = ctx.fillStyle = shape.colour;
      ctx.lineWidth = (shape.width ?? 1.2) * ratio;
      ctx.setLineDash((shape.dash ?? []).map((part) => part * ratio));
      ctx.beginPath();
      if (shape.text) {
        ctx.font = `${12 * ratio}px system-ui, sans-serif`;
        ctx.textAlign = "center";
        ctx.fillText(shape.text, shape.x * ratio, shape.y * ratio);
      } else if (shape.r) {
        ctx.arc(shape.x * ratio, shape.y * ratio, shape.r * ratio, 0, 2 * Math.PI);
        ctx.fill();
      } else {
        ctx.moveTo(shape.x1 * ratio, shape.y1 * ratio);
        ctx.lineTo(shape.x2 * ratio, shape.y2 * ratio);
        ctx.stroke();
      }
    }
    ctx.restore();
  }

  shapes(u) {
    const what = this.what, found = [], frame = frameOf(u);
    const at = (value, scale) => u.valToPos(value, scale, true) / uPlot.pxRatio;
    const inside = (value, axis) => value >= axis.min && value <= axis.max;
    const mark = what.image ? "#ffffff" : theme("--ink");
    const cross = { colour: mark, width: 1.2, dash: [4, 3] };
    if (what.marks?.x !== undefined && inside(what.marks.x, what.x)) {
      const x = at(what.marks.x, "x");
      if (what.image) found.push({ x1: x, x2: x, y1: frame.top, y2: frame.bottom, colour: "#000000", width: 2.6 });
      found.push({ ...cross, x1: x, x2: x, y1: frame.top, y2: frame.bottom });
    }
    if (what.marks?.y !== undefined && inside(what.marks.y, what.y)) {
      const y = at(what.marks.y, "y");
      if (what.image) found.push({ x1: frame.left, x2: frame.right, y1: y, y2: y, colour: "#000000", width: 2.6 });
      found.push({ ...cross, x1: frame.left, x2: frame.right, y1: y, y2: y });
    }
    for (const line of what.lines) {
      if (line.lower && !line.band) {
        what.at.forEach((x, i) => {
          const ends = [line.lower[i], line.upper[i]].map((end) => Math.min(Math.max(end, what.y.min), what.y.max));
          if (ends.every(Number.isFinite)) {
            found.push({ x1: at(x, "x"), x2: at(x, "x"), y1: at(ends[0], "y"), y2: at(ends[1], "y"), colour: line.colour });
          }
        });
      }
      line.run?.sample_ratio.forEach((ratio, i) => {
        const mean = line.run.mean[i], [low, high] = [-1, 1].map((side) => mean + side * line.run.error[i]);
        if (![low, high].every((end) => inside(end, what.y)) || !inside(ratio, what.x)) return;
        const x = at(ratio, "x"), { colour } = line;
        found.push({ x, y: at(mean, "y"), r: 3, colour }, { x1: x, x2: x, y1: at(low, "y"), y2: at(high, "y"), colour });
      });
      if (what.infinity && !line.faint && Number.isFinite(line.limit)) {
        const x = frame.right + 16, { colour, limit } = line;
        if (inside(limit, what.y)) found.push({ x, y: at(limit, "y"), r: 3.5, colour });
        else found.push({ x, y: limit < what.y.min ? frame.bottom - 2 : frame.top + 10, text: limit < what.y.min ? "↓" : "↑", colour });
      }
    }
    if (what.infinity) found.push({ x: frame.right + 16, y: frame.bottom + 15, text: "∞", colour: theme("--quiet") });
    return found;
  }

  tell(u) {
    if (!this.hover) return;
    const { left, top, idx } = u.cursor;
    if (left === undefined || left < 0) this.hover(null);
    else this.hover(idx, u.posToVal(left, "x"), u.posToVal(top, "y"));
  }

  listen() {
    const over = this.made.over;
    const pick = (event) => {
      const box = over.getBoundingClientRect();
      this.pick(this.made.posToVal(event.clientX - box.left, "x"), this.made.posToVal(event.clientY - box.top, "y"));
    };
    over.style.touchAction = "pan-y";
    over.addEventListener("pointerdown", (event) => {
      pick(event);
      over.setPointerCapture(event.pointerId);
    });
    over.addEventListener("pointermove", (event) => event.buttons && pick(event));
  }
}

function frameOf(u) {
  const ratio = uPlot.pxRatio, { left, top, width, height } = u.bbox;
  return { left: left / ratio, top: top / ratio, right: (left + width) / ratio, bottom: (top + height) / ratio };
}

/** Round numbers on a logarithmic axis, at most so many. */
function logTicks(min, max, most) {
  const decades = [Math.floor(Math.log10(min)), Math.ceil(Math.log10(max))];
  const every = Math.max(1, Math.ceil((decades[1] - decades[0]) / most));
  for (const digits of [[1, 2, 3, 4, 5, 6, 7, 8, 9], [1, 2, 3, 5, 7], [1, 2, 5], [1, 3], [1]]) {
    const found = [];
    for (let power = decades[0]; power <= decades[1]; power += digits.length > 1 ? 1 : every) {
      found.push(...digits.map((digit) => Number(`${digit}e${power}`)));
    }
    const inside = found.filter((at) => at >= min && at <= max);
    if (inside.length <= most && (digits.length === 1 || every === 1)) return inside.length > 1 ? inside : [min, max].map((at) => significant(at, 2));
  }
  return [min, max];
}

/** Values that can be drawn: no infinity, and nothing at or below zero on a logarithmic axis. */
function drawable(values, log) {
  return values.map((value) => (value === null || !Number.isFinite(value) || (log && value <= 0) ? null : value));
}

/** Ends of a vertical axis that show the curves and not the tips of their spikes: on a logarithmic one, what is above so many times a quantile. */
function rangeOf(rows, log, share = 0.9, times = 300) {
  const values = rows.flat().filter((value) => Number.isFinite(value) && (!log || value > 0)).sort((p, q) => p - q);
  if (!values.length) return log ? [0.1, 10] : [0, 1];
  const low = values[0], high = values[values.length - 1];
  if (log) return [low / 1.15, Math.max(Math.min(high * 1.15, values[Math.floor(share * values.length)] * times), low * 1.5)];
  const usual = values[Math.floor(0.9 * (values.length - 1))];
  return [0, Math.max(Math.min(high * 1.05, usual * 2.2), 1e-9)];
}

const narrow = () => matchMedia("(max-width: 820px)").matches;
const darkWanted = () => matchMedia("(prefers-color-scheme: dark)").matches;
