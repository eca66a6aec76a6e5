/* The task's machine: drawn where it was laid out, and as a table for everyone. */

function drawMachine(task) {
  const { drawing } = task.machine;
  const states = task.machine.states.length;
  const parts = [];
  if (drawing) parts.push(el("div", { class: "scrolls-x" }, machinePicture(task)));
  else parts.push(el("p", { class: "quiet" }, states > 60
    ? `The machine has ${whole(states)} states, too many to draw.`
    : "Drawing needs the extra [draw]. The table shows the same machine."));
  parts.push(el("p", { class: "quiet" },
    `${count(states, "state")}; the number below a state is its potential. The reward of a step is the difference of potentials. A double ring accepts.`));
  parts.push(el("details", { class: "moves", open: !drawing }, el("summary", {}, "As a table"), moveTable(task)));
  $("machine").replaceChildren(...parts);
}

function machinePicture(task) {
  const { drawing, states, initial } = task.machine;
  const pad = 16;
  const picture = svg("svg", {
    class: "machine", role: "img", viewBox: `${-pad} ${-pad} ${drawing.width + 2 * pad} ${drawing.height + 2 * pad}`,
    style: { "max-width": `${(drawing.width + 2 * pad) * 1.9}px`, "min-width": `${(drawing.width + 2 * pad) * 0.9}px` },
    "aria-label": `The machine of ${task.name}: ${count(states.length, "state")}, start ${initial}. The table below lists its moves.`,
  });
  for (const edge of drawing.edges) {
    const [start, ...rest] = edge.points;
    const key = `${edge.from}-${edge.to}`;
    const line = `M${start}` + "C" + rest.join(" ") + "L" + edge.tip;
    picture.append(svg("path", { class: "move", "data-move": key, d: line }), arrow(edge, key));
  }
  for (const edge of drawing.edges)
    for (const [x, y, text] of edge.label) picture.append(svg("text", { class: "guard", x, y }, text));
  for (const node of drawing.nodes) picture.append(stateCircle(node, states[node.state]));
  return picture;
}

function arrow(edge, key) {
  const [x, y] = edge.tip;
  const [fromX, fromY] = edge.points.at(-1);
  const length = Math.hypot(x - fromX, y - fromY) || 1;
  const [dx, dy] = [(x - fromX) / length, (y - fromY) / length];
  const corner = (side) => `${(x - 8 * dx - 3.2 * side * dy).toFixed(1)},${(y - 8 * dy + 3.2 * side * dx).toFixed(1)}`;
  return svg("polygon", { class: "arrow", "data-move": key, points: `${x},${y} ${corner(1)} ${corner(-1)}` });
}

function stateCircle(node, state) {
  const [cx, cy] = node.at;
  const dark = parseInt(state.colour.slice(3, 5), 16) < 120;
  return svg("g", { class: `state${dark ? " dark-fill" : ""}`, "data-state": node.state },
    svg("circle", { class: "halo", cx, cy, r: node.radius + 4 }),
    svg("circle", { cx, cy, r: node.radius, fill: state.colour }),
    state.accepting ? svg("circle", { class: "ring", cx, cy, r: node.radius - 4 }) : null,
    svg("text", { class: "name", x: cx, y: cy - 2 }, node.state),
    svg("text", { x: cx, y: cy + 11 }, plainNumber(state.level)));
}

/** Light up the state that the machine is in, and the move that led there. */
function lightState(before, state) {
  for (const part of $("machine").querySelectorAll(".current")) part.classList.remove("current");
  if (state === null) return;
  const find = (query) => $("machine").querySelectorAll(query).forEach((part) => part.classList.add("current"));
  find(`[data-state="${state}"]`);
  if (before !== null) find(`[data-move="${before}-${state}"]`);
}

function moveTable(task) {
  const { states, moves, initial } = task.machine;
  const rows = moves.map((targets, state) => {
    const { level, accepting, failure } = states[state];
    const marks = [state === initial && "start", accepting && "done", failure && "failure"].filter(Boolean).join(", ");
    return el("tr", {}, el("th", { scope: "row" }, state, marks ? el("span", { class: "quiet" }, ` ${marks}`) : null),
      el("td", {}, plainNumber(level)),
      el("td", {}, targets.map(([target, guard]) => el("div", {}, el("code", {}, guard), target === state ? " stays" : ` leads to ${target}`))));
  });
  const hidden = states.length - moves.length;
  return [el("table", { class: "plain" },
    el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "State"), el("th", { scope: "col" }, "Level"), el("th", { scope: "col" }, "Moves"))),
    el("tbody", {}, rows)), hidden > 0 ? el("p", { class: "quiet" }, `… and ${count(hidden, "more state")}`) : null];
}

/** What rewards can teach, in sentences and symbol by symbol. */
function drawWords(task) {
  const { sentences, symbols, hidden, repair } = task.words;
  const rows = symbols.map((symbol) => el("tr", {}, el("th", { scope: "row" }, symbol.name),
    el("td", { class: symbol.teachable ? "yes" : "no" }, symbol.teachable ? "yes" : "no"), el("td", {}, symbol.confusable || "nothing")));
  $("words").replaceChildren(
    ...sentences.map((sentence) => el("p", {}, sentence)),
    ...(rows.length ? [el("table", { class: "plain" },
      el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "Symbol"), el("th", { scope: "col" }, "Can rewards teach it?"), el("th", { scope: "col" }, "Confusable with"))),
      el("tbody", {}, rows))] : []),
    ...(hidden ? [el("p", { class: "quiet" }, `… and ${count(hidden, "more symbol")}`)] : []),
    ...(repair.length ? [el("h4", {}, "Remedies"), el("ul", {}, repair.map((line) => el("li", {}, line)))] : []));
}
