// Colour scales and numbers as text.

const PLASMA = ["#0d0887", "#5302a3", "#8b0aa5", "#b83289", "#db5c68", "#f48849", "#febd2a", "#f0f921"];
const VIRIDIS = ["#440154", "#46327e", "#365c8d", "#277f8e", "#1fa187", "#4ac16d", "#a0da39", "#fde725"];

const channels = (hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));

/** A colour of a scale at a share between 0 and 1, as red, green and blue. */
function shade(scale, share) {
  const at = Math.min(Math.max(share, 0), 1) * (scale.length - 1), low = Math.min(Math.floor(at), scale.length - 2);
  const from = channels(scale[low]), to = channels(scale[low + 1]);
  return from.map((part, i) => Math.round(part + (to[i] - part) * (at - low)));
}

const cssColour = (rgb) => `#${rgb.map((part) => part.toString(16).padStart(2, "0")).join("")}`;
const plasma = (share) => cssColour(shade(PLASMA, 0.25 + 0.65 * share));

/** k* as a colour: grey for one, white for infinitely many, in between by the logarithm. */
function sizeColour(k) {
  if (Number.isNaN(k)) return [210, 210, 210];
  if (k === 1) return [150, 150, 150];
  if (k === Infinity) return [255, 255, 255];
  return shade(PLASMA, 0.05 + (0.93 * Math.log(k / 2)) / Math.log(50));
}

/** What colours mean, in an element: [{colour, text}]; neighbours without text join to a bar. */
function showScale(host, items) {
  host.replaceChildren(...items.map(({ colour, text }) => {
    const item = document.createElement("span"), swatch = document.createElement("i");
    swatch.style.background = colour;
    if (text === "") item.className = "bare";
    item.append(...(colour ? [swatch] : []), text);
    return item;
  }));
}

/** The bar of a continuous scale, from a text to another. */
function barOf(scale, low, high, cells = 24) {
  const bar = Array.from({ length: cells }, (_, i) => ({ colour: cssColour(shade(scale, i / (cells - 1))), text: "" }));
  return [{ text: low }, ...bar, { text: high }];
}

/** A number as a short text. */
function brief(value, digits = 3) {
  if (value === Infinity) return "∞";
  if (Number.isNaN(value)) return "–";
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size < 1e-3 || size >= 1e5) return value.toExponential(Math.max(digits - 2, 0)).replace("e+", "e").replace(".0e", "e");
  return String(Number(value.toPrecision(digits)));
}

const percent = (share) => `${brief(Math.abs(share) * 100, 2)} %`;
