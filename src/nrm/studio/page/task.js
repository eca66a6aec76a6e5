/* The room of tasks: a formula, its machine, where steps lead, what it says, and what rewards can teach. */

let taskDrawn = null;

const drawTask = newest("draw", (answer) => {
  showProblem();
  taskDrawn = answer;
  if (asked.room !== "task") return;
  showTask();
  explainTask(typed());
}, (error) => { if (asked.room === "task") { showProblem(error); $("room").classList.add("stale"); } });

const explainTask = newest("explain", ({ rows, words }) => {
  $("says").replaceChildren(...rows.flatMap(([name, text]) => [el("dt", {}, name), el("dd", {}, text)]));
  drawWords({ words });
}, (error) => {
  $("says").replaceChildren(el("dd", {}, error));
  $("words").replaceChildren();
});

function showTask() {
  const { name, logic, notes, symbols, rule } = taskDrawn;
  $("room").classList.remove("stale");
  showFormula(name, el("span", { class: "badge" }, logic));
  $("note").textContent = [...notes, `${symbols.join(", ")}: ${rule}.`].join(" ");
  drawMachine(taskDrawn);
  if (asked.steps.flat().some((symbol) => !symbols.includes(symbol))) asked.steps = [];
  drawSymbols();
  walkOn();
}

/** A click on a symbol is a step; where several may hold, clicks choose them, and a button steps. */
function drawSymbols() {
  const { symbols, one } = taskDrawn;
  const chosenSymbols = new Set();
  const step = (holding) => { asked.steps = [...asked.steps, holding]; walkOn(); };
  const chips = symbols.map((symbol) => button(symbol, (event) => {
    if (one) { step([symbol]); return; }
    if (!chosenSymbols.delete(symbol)) chosenSymbols.add(symbol);
    event.currentTarget.setAttribute("aria-pressed", chosenSymbols.has(symbol));
  }, one ? { class: "symbol" } : { class: "symbol", "aria-pressed": "false" }));
  $("walk-symbols").replaceChildren(...chips, ...(one ? [] : [button("Step", () => step(symbols.filter((symbol) => chosenSymbols.has(symbol))), { class: "primary" })]));
  $("walk-tools").replaceChildren(
    button("Undo", () => { asked.steps = asked.steps.slice(0, -1); walkOn(); }),
    button("Restart", () => { asked.steps = []; walkOn(); }));
}

const askWalk = newest("walk", ({ letters, states, rewards, status }) => {
  if (!taskDrawn || asked.room !== "task") return;
  lightState(states.length > 1 ? states.at(-2) : null, states.at(-1));
  const total = rewards.reduce((sum, reward) => sum + reward, 0);
  const rows = letters.map((letter, place) => el("tr", {}, el("td", { class: "number" }, place + 1), el("td", {}, letter),
    el("td", { class: "number" }, states[place + 1]), el("td", { class: "number" }, signed(rewards[place]))));
  $("walk").replaceChildren(
    el("p", {}, `State ${states.at(-1)}: the task is `, el("b", { class: { satisfied: "good", violated: "no" }[status] }, status === "open" ? "not satisfied yet" : status), rows.length ? `. Return ${plainNumber(Math.round(100 * total) / 100)}.` : ". Click a symbol."),
    ...(rows.length ? [el("table", { class: "plain steps" }, el("thead", {}, el("tr", {}, ["Step", "Symbol", "State", "Reward"].map((name) => el("th", { scope: "col", class: name === "Symbol" ? "" : "number" }, name)))), el("tbody", {}, rows.reverse()))] : []));
}, (error) => $("walk").replaceChildren(el("p", { class: "quiet" }, error)));

function walkOn() {
  writeAddress();
  askWalk({ ...typed(), steps: asked.steps });
}

function startTask() {
  const change = (name, value) => { asked[name] = value; retype(); };
  const names = el("input", { type: "text", spellcheck: "false", autocomplete: "off", placeholder: "those of the formula", oninput: () => change("names", names.value) });
  const one = el("input", { type: "checkbox", onchange: () => change("one", one.checked) });
  const logic = dropdown("Language", data.logics, asked.logic, (value) => change("logic", value));
  const link = button("Copy link", async () => {
    writeAddress();
    try { await navigator.clipboard.writeText(location.href); link.textContent = "Copied"; } catch { link.textContent = "Copy it from the address bar"; }
    setTimeout(() => { link.textContent = "Copy link"; }, 2000);
  });
  $("asked-tools").append(logic, field("Symbols", names), el("label", {}, one, "exactly one at a step"), link);
  const choose = (example) => { Object.assign(asked, example, { steps: [] }); fill(); retype(); };
  const label = ({ logic: name }) => data.logics.find(([one]) => one === name)[1];
  const [written, paper] = [false, true].map((named) => data.examples.filter((example) => Boolean(example.names) === named));
  $("examples").append(el("span", { class: "quiet" }, "Try"),
    ...written.map((example) => button(example.text, () => choose(example), { class: "chip", title: label(example) })),
    dropdown("Tasks of the paper", [["", "choose …"], ...paper.map(({ text }, place) => [String(place), text])], "", (value) => { if (value) choose(paper[Number(value)]); }));
  return () => {
    names.value = asked.names;
    one.checked = asked.one;
    logic.querySelector("select").value = asked.logic;
  };
}
