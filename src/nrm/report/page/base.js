"use strict";
/* What all parts share: the data, elements, numbers, the reader's choices. */

const data = JSON.parse(document.getElementById("data").textContent);
const $ = (id) => document.getElementById(id);

/** An element; texts become text nodes and are never read as HTML. */
function el(tag, properties = {}, ...children) {
  return filled(document.createElement(tag), properties, children);
}

/** The same for SVG. */
function svg(tag, properties = {}, ...children) {
  return filled(document.createElementNS("http://www.w3.org/2000/svg", tag), properties, children);
}

function filled(element, properties, children) {
  for (const [name, value] of Object.entries(properties)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "style") for (const [key, text] of Object.entries(value)) element.style.setProperty(key, text);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, value);
  }
  element.append(...children.flat(3).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

/** A drop-down list: choices are [value, text]. */
function dropdown(label, choices, chosen, change) {
  const select = el("select", { onchange: () => change(select.value) });
  for (const [value, text] of choices) select.append(el("option", { value, selected: value === chosen }, text));
  return el("label", {}, label, select);
}

const clean = (text) => text.replace("-0.0", "0.0");
const decimal = (value, digits = 1) =>
  value === null || value === undefined ? "–" : clean(value.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits }));
const percent = (value, digits = 1) => (value === null || value === undefined ? "–" : `${decimal(100 * value, digits)} %`);
const whole = (value) => value.toLocaleString("en");
const count = (number, what, ending = "s") => `${whole(number)} ${what}${number === 1 ? "" : ending}`;
const signed = (value) => (value > 0 ? `+${plainNumber(value)}` : plainNumber(value));
const plainNumber = (value) => value.toLocaleString("en", { maximumFractionDigits: Math.abs(value) < 10 ? 2 : 1 }).replace("-", "−");
const unique = (values) => [...new Set(values)];
const clamp = (value, low, high) => Math.min(Math.max(value, low), high);

/* With one variant the line style tells the method; with several it tells the variant. */
const methodOf = (name) => data.methods.find((method) => method.name === name);
const allVariants = unique(data.groups.map((group) => group.variant)).sort((one, other) => (one !== "") - (other !== ""));
const DASHES = ["", "8 4", "2 3", "10 3 2 3", "4 2"];
const variantDash = (variant) => DASHES[allVariants.indexOf(variant) % DASHES.length];
const dashOf = (group) => (allVariants.length > 1 ? variantDash(group.variant) : methodOf(group.method).dash);
const seriesStyle = (group) => ({ "--series": methodOf(group.method).colour });
const variantName = (variant) => variant || "usual settings";
const seriesName = (group) =>
  methodOf(group.method).label + (allVariants.length > 1 ? ` · ${variantName(group.variant)}` : "");

/** A piece of line for a legend. */
function swatch(dash, style = {}) {
  return svg("svg", { width: 26, height: 10, "aria-hidden": "true", style },
    svg("line", { class: "line", x1: 1, y1: 5, x2: 25, y2: 5, "stroke-dasharray": dash }));
}
const groupSwatch = (group) => swatch(dashOf(group), seriesStyle(group));

/** Small pictures for buttons: fonts do not all have the signs. Each is drawn in a box of 16 by 16. */
const ICONS = {
  first: "M3 3h2v10H3zM13 3v10L6 8z", back: "M11 3v10L4 8z", play: "M4 2.5v11L13 8z", pause: "M4 3h3v10H4zM9 3h3v10H9z",
  on: "M5 3v10l7-5z", last: "M11 3h2v10h-2zM3 3v10l7-5z",
};
const icon = (name) => svg("svg", { width: 16, height: 16, viewBox: "0 0 16 16", "aria-hidden": "true", fill: "currentColor" }, svg("path", { d: ICONS[name] }));

/** What some groups are about: a task each, a family of tasks, or some this and some that. */
const subjectWord = (groups) => (groups.every((group) => group.many) ? "Task distribution" : groups.some((group) => group.many) ? "Task or distribution" : "Task");

/* The reader's choices, and who wants to know of a change. */
const chosen = {
  method: new Set(data.groups.map((group) => group.method)),
  env: new Set(data.groups.map((group) => group.env)),
  task: new Set(data.groups.map((group) => group.task)),
  variant: new Set(allVariants),
};
const watchers = [];
const whenFiltered = (update) => { watchers.push(update); update(); };
const filtered = () => watchers.forEach((update) => update());
const isShown = (group) => Object.entries(chosen).every(([name, values]) => values.has(group[name]));
const shownGroups = () => data.groups.filter(isShown);
