/* Learning curves: one chart for each task in each environment, a line for each method (and variant). */

const MEASURES = {
  return: { label: "return", format: (value) => decimal(value), axis: plainNumber },
  success: { label: "success rate", format: (value) => percent(value), axis: (value) => percent(value, 0), range: [0, 1] },
  length: { label: "episode length", format: (value) => decimal(value), axis: plainNumber },
  modulo: { label: "grounding accuracy, up to equivalence", format: (value) => percent(value), axis: (value) => percent(value, 0), range: [0, 1] },
  plain: { label: "grounding accuracy, exact", format: (value) => percent(value), axis: (value) => percent(value, 0), range: [0, 1] },
};
const SPREADS = [["deviation", "standard deviation"], ["runs", "every run"], ["none", "nothing"]];
const SMOOTHINGS = [["1", "none"], ["3", "a little"], ["7", "some"], ["15", "much"]];
const view = { measure: data.groups.some((group) => group.many) ? "success" : "return", spread: data.groups.every((group) => group.counted >= 5) ? "deviation" : "runs", smoothing: 3 };
const MARGIN = { top: 22, right: 12, bottom: 30, left: 46 };

function curveTools() {
  const has = (name) => data.groups.some((group) => group.curves.runs.some((run) => run[name]));
  const measures = Object.entries(MEASURES).filter(([name]) => has(name)).map(([name, { label }]) => [name, label]);
  $("curve-tools").replaceChildren(
    dropdown("Show", measures, view.measure, (value) => { view.measure = value; drawCharts(); }),
    dropdown("Smoothing", SMOOTHINGS, String(view.smoothing), (value) => { view.smoothing = Number(value); drawCharts(); }),
    dropdown("Around the mean", SPREADS, view.spread, (value) => { view.spread = value; drawCharts(); }));
}

function startCurves() {
  curveTools();
  let width = 0;
  new ResizeObserver(([entry]) => {
    if (Math.abs(entry.contentRect.width - width) > 1) { width = entry.contentRect.width; drawCharts(); }
  }).observe($("charts"));
  whenFiltered(drawCharts);
}

function drawCharts() {
  const series = shownGroups().map(seriesOf).filter((one) => one.mean.length);
  const charts = new Map();
  for (const one of series) {
    const key = JSON.stringify([one.group.env, one.group.task, one.unit]);
    if (!charts.has(key)) charts.set(key, []);
    charts.get(key).push(one);
  }
  const box = $("charts");
  box.className = `charts${charts.size === 1 ? " few" : charts.size === 2 ? " two" : ""}`;
  const range = MEASURES[view.measure].range || rangeOf(series);
  // All cards first: how wide one is depends on how many there are.
  const cards = [...charts.values()].map((lines) => [chartCard(lines[0].group), lines]);
  box.replaceChildren(...cards.map(([card]) => card));
  for (const [card, lines] of cards) drawChart(card, lines, range, charts.size);
  if (!charts.size) box.append(el("p", { class: "card empty" }, "No curve: no run that matches the filters has this measure."));
  $("variants").replaceChildren(...(allVariants.length > 1 ? allVariants.filter((variant) => chosen.variant.has(variant)) : []).map((variant) =>
    el("li", {}, swatch(variantDash(variant)), " ", variantName(variant))));
  const points = ["episodes", "steps"].map((unit) => [unit, unique(series.filter((one) => one.unit === unit).map((one) => one.size)).sort((a, b) => a - b)])
    .filter(([, sizes]) => sizes.length).map(([unit, sizes]) => binText(unit, sizes));
  const several = series.some((one) => one.runs.length > 1);
  $("charts-note").textContent = !series.length ? "" :
    `Each point is the mean of ${points.join(", with many tasks of ")}` +
    (view.smoothing > 1 ? `, smoothed over the last ${view.smoothing} points` : "") + "." +
    (!several ? "" : view.spread === "deviation" ? " Bands show the standard deviation over runs." : view.spread === "runs" ? " Thin lines are single runs." : "");
}

/** What a point is the mean of. */
function binText(unit, sizes) {
  const span = sizes.length === 1 ? whole(sizes[0]) : `${whole(sizes[0])} to ${whole(sizes.at(-1))}`;
  return unit === "steps" ? `the episodes that end within ${span} steps` : `${span} ${span === "1" ? "episode" : "episodes"}`;
}

/** The mean and deviation of a group, point by point, over the runs that got so far. */
function seriesOf(group) {
  const runs = group.curves.runs.map((run) => smooth(run[view.measure] || [], view.smoothing)).filter((run) => run.length);
  const length = Math.max(0, ...runs.map((run) => run.length));
  const mean = [], deviation = [], runsAt = [];
  for (let place = 0; place < length; place += 1) {
    const values = runs.map((run) => run[place]).filter((value) => value !== undefined && value !== null);
    const middle = values.length ? values.reduce((sum, value) => sum + value, 0) / values.length : null;
    mean.push(middle);
    deviation.push(values.length ? Math.sqrt(values.reduce((sum, value) => sum + (value - middle) ** 2, 0) / values.length) : null);
    runsAt.push(values.length);
  }
  return { group, runs, mean, deviation, runsAt, unit: group.curves.unit, size: group.curves.size, length: group.curves.length };
}

function smooth(values, width) {
  if (width === 1) return values;
  return values.map((_, place) => {
    const window = values.slice(Math.max(0, place - width + 1), place + 1).filter((value) => value !== null);
    return window.length ? window.reduce((sum, value) => sum + value, 0) / window.length : null;
  });
}

/** All charts share one range, so that they can be compared. */
function rangeOf(series) {
  let low = Infinity, high = -Infinity;
  for (const one of series) {
    for (const value of view.spread === "runs" ? one.runs.flat() : one.mean)
      if (value !== null) { low = Math.min(low, value); high = Math.max(high, value); }
  }
  if (low > high) return [0, 1];
  // A perfect return is 100 in most tasks: it is always in sight. Bands may reach beyond and are cut off.
  if (view.measure === "return") high = Math.max(high, 100);
  if (low === high) low = Math.min(0, low - 1);
  const step = niceStep(high - low, 5);
  return [Math.floor(low / step + 1e-9) * step, Math.ceil(high / step - 1e-9) * step];
}

function niceStep(span, parts) {
  const rough = span / parts, power = 10 ** Math.floor(Math.log10(rough));
  return power * [1, 2, 2.5, 5, 10].find((factor) => factor * power >= rough * 0.999);
}

function ticks([low, high], parts) {
  const step = niceStep(high - low || 1, parts), found = [];
  for (let value = Math.ceil(low / step - 1e-9) * step; value <= high + step * 1e-6; value += step) found.push(Math.abs(value) < step * 1e-6 ? 0 : value);
  return found;
}

function chartCard(group) {
  return el("article", { class: "card chart" },
    el("div", { class: "heading" },
      el("h3", {}, el("button", { type: "button", class: "link", title: "Look closer", onclick: () => lookCloser(group) }, group.task)),
      el("span", { class: "badge" }, group.env)));
}

function drawChart(card, lines, range, charts) {
  const { env, task } = lines[0].group, { unit } = lines[0];
  const width = Math.max(240, card.clientWidth - 24);
  const height = charts === 1 ? clamp(width * 0.36, 240, 400) : clamp(width * 0.58, 200, 300);
  const length = Math.max(...lines.map((one) => one.length));
  const x = (place) => MARGIN.left + (place / length) * (width - MARGIN.left - MARGIN.right);
  const y = (value) => height - MARGIN.bottom - ((value - range[0]) / (range[1] - range[0])) * (height - MARGIN.top - MARGIN.bottom);
  const measure = MEASURES[view.measure];
  const picture = svg("svg", {
    viewBox: `0 0 ${width} ${height}`, height, tabindex: 0, role: "img",
    "aria-label": `${measure.label} over ${unit} of ${task} in ${env}. ` +
      lines.map((one) => `${seriesName(one.group)} ends at ${measure.format(one.mean.at(-1))}`).join(", ") + ". Arrow keys read the values.",
  });
  const clip = `clip-${[...card.parentNode.children].indexOf(card)}`;
  picture.append(svg("clipPath", { id: clip }, svg("rect", { x: MARGIN.left, y: MARGIN.top - 2, width: width - MARGIN.left - MARGIN.right + 2, height: height - MARGIN.top - MARGIN.bottom + 4 })));
  axes(picture, { x, y, range, length, unit, width, height, measure });
  const inside = svg("g", { "clip-path": `url(#${clip})` });
  for (const one of lines) inside.append(...linesOf(one, x, y));
  picture.append(inside);
  card.append(picture);
  readable(card, picture, lines, { x, y, length, unit, width, height, measure });
}

function axes(picture, { x, y, range, length, unit, width, height, measure }) {
  for (const value of ticks(range, height > 260 ? 6 : 4)) {
    picture.append(
      svg("line", { class: "rule", x1: MARGIN.left, x2: width - MARGIN.right, y1: y(value), y2: y(value) }),
      svg("text", { x: MARGIN.left - 7, y: y(value) + 4, "text-anchor": "end" }, measure.axis(value)));
  }
  picture.append(svg("text", { x: 2, y: 10 }, measure.label));
  const bottom = height - MARGIN.bottom;
  picture.append(svg("line", { class: "axis", x1: MARGIN.left, x2: width - MARGIN.right, y1: bottom, y2: bottom }));
  for (const place of ticks([0, length], width > 500 ? 8 : 4))
    picture.append(svg("text", { x: x(place), y: bottom + 15, "text-anchor": x(place) > width - 24 ? "end" : "middle" }, whole(place)));
  picture.append(svg("text", { x: width - MARGIN.right, y: height - 2, "text-anchor": "end" }, unit));
}

/** A point stands at the end of the episodes, or steps, that it is the mean of. */
const endOf = (one, place) => Math.min((place + 1) * one.size, Math.max(one.length, one.size));

function linesOf(one, x, y) {
  const style = seriesStyle(one.group);
  const path = (values) => pathOf(values.map((value, place) => (value === null ? null : [x(endOf(one, place)), y(value)])));
  const parts = [];
  if (one.runs.length > 1 && view.spread === "deviation") {
    const edge = (sign) => one.mean.map((value, place) => (value === null ? null : [x(endOf(one, place)), y(value + sign * one.deviation[place])])).filter(Boolean);
    parts.push(svg("path", { class: "band", style, d: `${pathOf([...edge(1), ...edge(-1).reverse()])}Z` }));
  }
  if (one.runs.length > 1 && view.spread === "runs")
    for (const run of one.runs) parts.push(svg("path", { class: "line thin", style, d: path(run) }));
  parts.push(svg("path", { class: "line mean", "data-series": seriesName(one.group), style, "stroke-dasharray": dashOf(one.group), d: path(one.mean) }));
  return parts;
}

function pathOf(points) {
  let text = "", pen = false;
  for (const point of points) {
    if (point) text += `${pen ? "L" : "M"}${point[0].toFixed(1)},${point[1].toFixed(1)}`;
    pen = Boolean(point);
  }
  return text;
}

/** The values under the pointer, or under the crosshair that the arrow keys move. */
function readable(card, picture, lines, { x, y, length, unit, width, height, measure }) {
  const cross = svg("g", { class: "reading", visibility: "hidden" });
  const tip = el("div", { class: "tip", role: "status", hidden: true });
  const step = Math.min(...lines.map((one) => one.size));
  let now = null;
  picture.append(cross);
  card.append(tip);
  const hide = () => { cross.setAttribute("visibility", "hidden"); tip.hidden = true; now = null; };
  const show = (wanted) => {
    now = clamp(Math.round(wanted / step) * step, step, Math.ceil(length / step) * step);
    const rows = lines.map((one) => {
      const place = Math.ceil(now / one.size) - 1;
      return { one, place, value: one.mean[place] };
    }).filter(({ value }) => value !== null && value !== undefined).sort((a, b) => b.value - a.value);
    const at = x(Math.min(now, length));
    cross.replaceChildren(svg("line", { class: "cross", x1: at, x2: at, y1: MARGIN.top, y2: height - MARGIN.bottom }),
      ...rows.map(({ one, value }) => svg("circle", { class: "dot", cx: at, cy: y(value), r: 3.5, style: seriesStyle(one.group) })));
    cross.setAttribute("visibility", "visible");
    tip.replaceChildren(
      el("p", {}, step === 1 && unit === "episodes" ? `episode ${whole(now)}` : `${unit} to ${whole(Math.min(now, length))}`),
      el("table", {}, rows.map(({ one, place, value }) => el("tr", {},
        el("td", {}, groupSwatch(one.group)), el("td", {}, seriesName(one.group)),
        el("td", {}, measure.format(value), one.runs.length > 1 ? el("span", { class: "quiet" }, ` ± ${measure.format(one.deviation[place]).replace(" %", "")}`) : null)))));
    tip.hidden = false;
    const outer = card.getBoundingClientRect(), inner = picture.getBoundingClientRect();
    const left = inner.left - outer.left + (at / width) * inner.width;
    const fits = left + 14 + tip.offsetWidth <= card.clientWidth - 4;
    tip.style.left = `${Math.max(4, fits ? left + 14 : left - 14 - tip.offsetWidth)}px`;
    tip.style.top = `${inner.top - outer.top + MARGIN.top + 4}px`;
  };
  picture.addEventListener("pointermove", (event) => {
    const box = picture.getBoundingClientRect();
    const at = ((event.clientX - box.left) / box.width) * width;
    show(((at - MARGIN.left) / (width - MARGIN.left - MARGIN.right)) * length);
  });
  picture.addEventListener("pointerleave", hide);
  picture.addEventListener("blur", hide);
  picture.addEventListener("keydown", (event) => {
    const jump = Math.max(1, Math.round(length / step / 40)) * step;
    const here = now ?? 0;
    const wanted = { ArrowLeft: here - jump, ArrowRight: here + jump, Home: step, End: length }[event.key];
    if (event.key === "Escape") hide();
    if (wanted === undefined) return;
    event.preventDefault();
    show(wanted);
  });
}
