// Export of pictures and numbers: SVG, PNG, CSV, and Python code that gives the same numbers.

const escaped = (text) => String(text).replace(/[&<>"]/g, (sign) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[sign]);
const rounded = (value) => Number(value.toFixed(2));

/** Words in lines of at most that width; equations stay whole. */
function wrapped(text, width) {
  const ruler = document.createElement("canvas").getContext("2d"), lines = [""];
  ruler.font = "12px system-ui, sans-serif";
  for (const word of text.replaceAll(" = ", "\u00a0=\u00a0").split(" ")) {
    const longer = `${lines.at(-1)} ${word}`.trim();
    if (lines.at(-1) && ruler.measureText(longer).width > width) lines.push(word);
    else lines[lines.length - 1] = longer;
  }
  return lines;
}

/** A picture of a Plot as SVG text, with its title, the names of its lines, what its colours mean and a caption. */
function svgOfPlot(plot, title, texts = []) {
  const u = plot.made, what = plot.what, frame = frameOf(u), head = 28, ink = "#222", quiet = "#555";
  const named = what.lines.filter((line) => line.name && !line.faint);
  const caption = texts.flatMap((text) => wrapped(text, u.width - 24)), scale = what.scale ?? [];
  const foot = 18 * (named.length + caption.length + (scale.length ? 1 : 0)) + 10, width = u.width, height = u.height + head + foot;
  const out = [`<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="system-ui, sans-serif" font-size="12">`,
    `<rect width="${width}" height="${height}" fill="#fff"/>`,
    `<text x="10" y="19" font-size="14" font-weight="600" fill="${ink}">${escaped(title)}</text>`,
    `<clipPath id="frame"><rect x="${frame.left}" y="${frame.top}" width="${frame.right - frame.left}" height="${frame.bottom - frame.top}"/></clipPath>`,
    `<g transform="translate(0 ${head})">`];
  if (what.image) {
    out.push(`<image x="${frame.left}" y="${frame.top}" width="${frame.right - frame.left}" height="${frame.bottom - frame.top}" preserveAspectRatio="none" image-rendering="pixelated" href="${what.image.toDataURL()}"/>`);
  }
  const at = (value, scale) => rounded(u.valToPos(value, scale, true) / uPlot.pxRatio);
  u.axes.forEach((axis, side) => {
    (axis._splits ?? []).forEach((split, i) => {
      if (split === null || !axis._values?.[i]) return;
      const place = at(split, side === 0 ? "x" : "y"), text = escaped(axis._values[i]);
      if (side === 0) {
        out.push(`<path d="M${place} ${what.image ? frame.bottom - 4 : frame.top}V${frame.bottom}" stroke="#ddd"/><text x="${place}" y="${frame.bottom + 16}" text-anchor="middle" fill="${quiet}">${text}</text>`);
      } else {
        out.push(`<path d="M${frame.left} ${place}H${what.image ? frame.left + 4 : frame.right}" stroke="#ddd"/><text x="${frame.left - 6}" y="${place + 4}" text-anchor="end" fill="${quiet}">${text}</text>`);
      }
    });
  });
  out.push('<g clip-path="url(#frame)">');
  for (const line of what.lines) {
    if (line.band) {
      const ends = what.at.map((x, i) => [x, line.lower[i], line.upper[i]]).filter((row) => row.every(Number.isFinite));
      const path = [...ends.map(([x, low]) => [x, low]), ...ends.reverse().map(([x, , high]) => [x, high])];
      out.push(`<path d="M${path.map(([x, y]) => `${at(x, "x")} ${at(y, "y")}`).join("L")}Z" fill="${line.colour}" fill-opacity="0.15"/>`);
    }
    let path = "", pen = "M";
    drawable(line.values, what.y.log).forEach((value, i) => {
      if (value === null) pen = line.joined && path ? "L" : "M";
      else {
        path += `${pen}${at(what.at[i], "x")} ${at(value, "y")}`;
        pen = "L";
      }
    });
    if (line.width !== 0) out.push(`<path d="${path || "M0 0"}" fill="none" stroke="${line.colour}" stroke-width="${line.faint ? 1 : line.width ?? 1.6}" stroke-opacity="${line.faint ? 0.45 : 1}" stroke-dasharray="${(line.dash ?? []).join(" ")}"/>`);
    if (line.dots) drawable(line.values, what.y.log).forEach((value, i) => value !== null && out.push(`<circle cx="${at(what.at[i], "x")}" cy="${at(value, "y")}" r="3" fill="${line.colour}"/>`));
  }
  out.push("</g>");
  for (const shape of plot.shapes(u)) {
    const colour = what.image ? shape.colour : shape.colour === theme("--ink") || shape.colour === theme("--quiet") ? quiet : shape.colour;
    if (shape.text) out.push(`<text x="${shape.x}" y="${shape.y}" text-anchor="middle" fill="${colour}">${escaped(shape.text)}</text>`);
    else if (shape.r) out.push(`<circle cx="${shape.x}" cy="${rounded(shape.y)}" r="${shape.r}" fill="${colour}"/>`);
    else out.push(`<path d="M${rounded(shape.x1)} ${rounded(shape.y1)}L${rounded(shape.x2)} ${rounded(shape.y2)}" stroke="${colour}" stroke-width="${shape.width ?? 1.2}" stroke-dasharray="${(shape.dash ?? []).join(" ")}"/>`);
  }
  const centre = (frame.left + frame.right) / 2, middle = (frame.top + frame.bottom) / 2;
  out.push(`<rect x="${frame.left}" y="${frame.top}" width="${frame.right - frame.left}" height="${frame.bottom - frame.top}" fill="none" stroke="#999"/>`,
    `<text x="${centre}" y="${u.height - 6}" text-anchor="middle" font-size="13" fill="${ink}">${escaped(what.x.label)}</text>`,
    `<text transform="translate(14 ${middle}) rotate(-90)" text-anchor="middle" font-size="13" fill="${ink}">${escaped(what.y.label)}</text></g>`);
  let left = 12;
  for (const { colour, text } of scale) {
    if (colour) out.push(`<rect x="${left}" y="${head + u.height + 4}" width="${text ? 12 : 6}" height="12" fill="${colour}" stroke="${text ? "#999" : colour}"/>`);
    if (colour) left += text ? 15 : 6;
    if (text) out.push(`<text x="${left + 2}" y="${head + u.height + 14}" fill="${quiet}">${escaped(text)}</text>`);
    if (text) left += 7 * text.length + 10;
  }
  [...named, ...caption.map((text) => ({ name: text }))].forEach((line, i) => {
    const y = head + u.height + 14 + 18 * (i + (scale.length ? 1 : 0));
    if (line.colour) out.push(`<path d="M12 ${y - 4}h22" stroke="${line.colour}" stroke-width="${line.width || 2}" stroke-dasharray="${(line.dash ?? []).join(" ")}"/>`);
    out.push(`<text x="${line.colour ? 42 : 12}" y="${y}" fill="${line.colour ? ink : quiet}">${escaped(line.name)}</text>`);
  });
  return `${out.join("\n")}\n</svg>\n`;
}

function save(name, content, type) {
  const link = document.createElement("a"), address = URL.createObjectURL(new Blob([content], { type }));
  link.href = address;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
}

/** SVG text on a canvas, twice as large. */
function canvasOf(svg) {
  const image = new Image();
  return new Promise((done, fail) => {
    image.onload = () => {
      const canvas = document.createElement("canvas");
      canvas.width = 2 * image.width;
      canvas.height = 2 * image.height;
      canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
      done(canvas);
    };
    image.onerror = fail;
    image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
  });
}

const pngOf = async (svg) => {
  const canvas = await canvasOf(svg);
  return new Promise((done) => canvas.toBlob(done));
};

async function savePng(name, svg) {
  save(name, await pngOf(svg), "image/png");
}

/** Copy a picture with its caption: as a figure where text is pasted, as one image elsewhere. svg(texts) draws it. */
async function copyFigure(button, name, svg, caption) {
  const label = button.textContent, png = pngOf(svg([caption]));
  const html = canvasOf(svg([])).then((canvas) => `<figure><img src="${canvas.toDataURL()}" alt=""><figcaption>${escaped(caption)}</figcaption></figure>`);
  try {
    const kinds = { "image/png": png, "text/html": html.then((text) => new Blob([text], { type: "text/html" })), "text/plain": new Blob([caption], { type: "text/plain" }) };
    await navigator.clipboard.write([new ClipboardItem(kinds)]);
    button.textContent = "copied";
  } catch {
    save(name, await png, "image/png"); // some browsers do not let pages copy
    button.textContent = "saved";
  }
  setTimeout(() => (button.textContent = label), 1500);
}

/** Rows as comma-separated values; infinity as Python writes it. */
function csvOf(names, rows) {
  const cell = (value) => {
    if (value === Infinity) return "inf";
    const text = String(value);
    return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  return `${[names, ...rows].map((row) => row.map(cell).join(",")).join("\n")}\n`;
}

/** Buttons that save what a view shows. formats: {label: (button) => void}. */
function exportButtons(host, formats) {
  for (const [label, act] of Object.entries(formats)) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = label;
    button.addEventListener("click", () => act(button));
    host.append(button);
  }
}
