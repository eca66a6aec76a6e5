/* Agents of many tasks: the formulas that they were tested on, success, and accuracy of symbols over time. */

const ORIGINS = { given: "unseen", drawn: "unseen", longer: "unseen, longer than all training tasks", trained: "trained on" };
const seedList = (seeds) => (seeds.length === 1 ? `seed ${seeds[0]}` : `seeds ${seeds.join(", ")}`);

/** The closer look at groups that share a trial. */
function openTrial(groups) {
  const trial = data.trials[groups[0].trial];
  $("grounding-title").textContent = "Unseen formulas";
  if (!trial || !trial.formulas.length) {
    showFormula(groups[0].task);
    $("machine").replaceChildren(el("p", { class: "quiet" }, "Trained on many tasks. No agent could be loaded and tested on formulas."));
    $("words").replaceChildren();
    if (trial) drawWords({ words: trial.words });
    $("words").append(...symbolsOverTime(groups));
    $("grounding").replaceChildren(el("p", { class: "quiet" }, "No formula was tested."));
    startPlayer({ machine: { initial: 0, states: [] } }, []);
    return;
  }
  const open = (number) => {
    const row = trial.formulas[number];
    const task = { name: row.formula, machine: row.machine, view: row.view };
    showFormula(row.formula, el("span", { class: `badge${row.origin === "trained" ? "" : " unseen"}` }, ORIGINS[row.origin]));
    drawMachine(task);
    drawTried(trial, groups, number, choose);
    startPlayer(task, groups.map((group) => ({ ...group, recordings: group.recordings.filter((one) => one.formula === number) })));
  };
  const picker = dropdown("Formula", trial.shown.map((number) => [String(number), shortFormula(trial.formulas[number].formula)]), String(trial.first), (value) => open(Number(value)));
  const choose = (number) => { picker.querySelector("select").value = String(number); open(number); $("formula").scrollIntoView({ block: "nearest" }); };
  $("closer-tools").prepend(picker);
  drawWords({ words: { ...trial.words, symbols: trial.words.symbols.some((symbol) => !symbol.teachable) ? trial.words.symbols : [], hidden: 0 } });
  $("words").append(...symbolsOverTime(groups));
  open(trial.first);
}

const shortFormula = (text) => (text.length > 60 ? `${text.slice(0, 59)}…` : text);

/** Success by the size of machines, and formula by formula. */
function drawTried(trial, groups, open, choose) {
  const tried = groups.filter((group) => group.tried);
  const unseen = trial.formulas.filter((row) => row.origin !== "trained").length;
  const parts = [];
  $("grounding-title").textContent = unseen ? "Unseen formulas" : "Training formulas";
  if (!tried.length) { $("grounding").replaceChildren(el("p", { class: "quiet" }, "No agent could be tested.")); return; }
  parts.push(el("h4", {}, "Success by machine size"), el("div", { class: "sizes" }, tried[0].tried.sizes.flatMap((size, place) => [
    el("span", { class: "size" }, `${size.least === size.most ? size.least : `${size.least}–${size.most}`} states`, el("small", {}, count(size.tasks, "formula"))),
    el("div", { class: "bars" }, tried.map((group) => {
      const rate = group.tried.sizes[place].success_rate;
      return el("div", { class: "bar-row", style: seriesStyle(group), title: `${seriesName(group)}: ${percent(rate)}; the worst formula ${percent(group.tried.sizes[place].worst)}` },
        el("div", { class: "track" }, el("div", { class: "bar", style: { width: `${100 * rate}%` } })), el("span", { class: "share" }, percent(rate)));
    })),
  ])));
  if (tried.length > 1) parts.push(el("ul", { class: "legend" }, tried.map((group) => el("li", {}, groupSwatch(group), " ", seriesName(group)))));
  const order = trial.formulas.map((_, number) => number).sort((a, b) => (trial.formulas[a].origin !== "given") - (trial.formulas[b].origin !== "given") || trial.formulas[a].states - trial.formulas[b].states);
  const head = el("tr", {}, el("th", { scope: "col" }, "Formula"), el("th", { scope: "col", class: "number" }, "States"),
    tried.map((group) => [el("th", { scope: "col", class: "number" }, tried.length > 1 ? seriesName(group) : "Success"), tried.length > 1 ? null : el("th", { scope: "col", class: "number", title: "Mean length of successful episodes" }, "Steps")]));
  const rows = order.map((number) => {
    const row = trial.formulas[number];
    const name = trial.shown.includes(number) ? el("button", { type: "button", class: "link", title: "Play it", "aria-pressed": number === open, onclick: () => choose(number) }, row.formula) : row.formula;
    return el("tr", { class: number === open ? "open" : "" }, el("td", { class: "formula-cell" }, name, row.origin === "trained" && unseen ? el("span", { class: "badge" }, "trained on") : null), el("td", { class: "number" }, row.states),
      tried.map((group) => [el("td", { class: "number", title: group.tried.steps[number] === null ? "never satisfied" : `${decimal(group.tried.steps[number])} steps` }, percent(group.tried.success[number], 0)), tried.length > 1 ? null : el("td", { class: "number" }, decimal(group.tried.steps[number]))]));
  });
  parts.push(el("h4", {}, "Formula by formula"), el("div", { class: "formula-box scrolls-y", tabindex: 0, role: "region", "aria-label": "Success formula by formula" }, el("table", { class: "plain" }, el("thead", {}, head), el("tbody", {}, rows))));
  const runs = tried.map((group) => `${seriesName(group)} ${seedList(group.tried.seeds)}`).join("; ");
  parts.push(el("p", { class: "quiet" }, `${tried[0].tried.episodes} episodes each, sampled actions, no rewards read; ${runs}. Click an underlined formula to play it.`));
  $("grounding").replaceChildren(...parts);
}

/** The accuracy of grounders over steps, run by run, and when each was first right about everything. */
function symbolsOverTime(groups) {
  const known = groups.filter((group) => group.curves.runs.some((run) => run.plain));
  if (!known.length) return [];
  const [width, height, left, bottom, top] = [420, 150, 40, 22, 8];
  const length = Math.max(...known.map((group) => group.curves.length));
  const x = (step) => left + (step / length) * (width - left - 8);
  const y = (share) => height - bottom - share * (height - bottom - top);
  const picture = svg("svg", { class: "mini", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `Share of correct symbols over ${known[0].curves.unit}` });
  for (const share of [0, 0.5, 1])
    picture.append(svg("line", { class: "rule", x1: left, x2: width - 8, y1: y(share), y2: y(share) }), svg("text", { x: left - 6, y: y(share) + 4, "text-anchor": "end" }, percent(share, 0)));
  for (const step of ticks([0, length], 3))
    picture.append(svg("text", { x: x(step), y: height - 6, "text-anchor": step ? (x(step) > width - 40 ? "end" : "middle") : "start" }, step ? whole(step) : `0 ${known[0].curves.unit}`));
  for (const group of known) for (const run of group.curves.runs.filter((one) => one.plain)) {
    const { size } = group.curves;
    const points = run.plain.map((share, place) => (share === null ? null : [x(Math.min((place + 1) * size, length)), y(share)]));
    picture.append(svg("path", { class: "line", style: seriesStyle(group), "stroke-dasharray": dashOf(group), d: pathOf(points) }));
  }
  const lines = known.map((group) => {
    const runs = group.right_from.filter((step) => step !== null);
    const all = runs.length === group.right_from.length;
    const who = groups.length > 1 ? `${seriesName(group)}: ` : "";
    if (!runs.length) return `${who}${who ? "no" : "No"} run named every symbol correctly.`;
    const span = Math.min(...runs) === Math.max(...runs) ? `step ${whole(runs[0])}` : `steps ${whole(Math.min(...runs))} to ${whole(Math.max(...runs))}`;
    return `${who}${who ? "all" : "All"} symbols correct for the first time at ${span}${all ? "" : `, in ${runs.length} of ${count(group.right_from.length, "run")}`}.`;
  });
  return [el("h4", {}, "Symbols over time"), picture, ...lines.map((line) => el("p", { class: "quiet" }, line))];
}

/** What a grounder takes the last step for: the likeliest letters. */
function readBars(recording, now) {
  if (!now || !now.read) return el("p", { class: "quiet" }, "None before the first step.");
  return el("div", { class: "beliefs reads", role: "img", "aria-label": `Predicted: ${now.read.map(([letter, share]) => `${nameOf(recording, letter)} ${percent(share, 0)}`).join(", ")}` },
    now.read.slice(0, 4).flatMap(([letter, share]) => [
      el("span", { class: letter === now.letter ? "now" : "" }, nameOf(recording, letter)),
      el("div", { class: "track" }, el("div", { class: "bar", style: { width: `${100 * share}%` } })),
      el("span", { class: "share" }, percent(share, 0)),
      el("span", { class: "flag" }, letter === now.letter ? "● true symbol" : ""),
    ]));
}

/** The view of a task under a belief, letter by letter: what helps, sets back or loses it, now and next. */
function viewPicture(view, belief, letter) {
  const total = belief.reduce((sum, [, share]) => sum + share, 0) || 1;
  const mean = (pick) => belief.reduce((sum, [state, share]) => sum + (share / total) * pick(state), 0);
  const cell = (block, place, when) => {
    const gain = mean((state) => view.states[state][block][place]), lost = mean((state) => view.states[state][block + 1][place]);
    const words = [gain > 0.005 && `helps ${decimal(gain, 2)}`, gain < -0.005 && `undoes progress ${decimal(-gain, 2)}`, lost > 0.005 && `violates ${decimal(lost, 2)}`].filter(Boolean);
    const kind = lost >= Math.abs(gain) && lost > 0.005 ? "lost" : gain > 0.005 ? "gain" : gain < -0.005 ? "back" : "";
    const size = Math.max(Math.abs(gain), lost);
    return el("div", { class: `view-cell ${kind}`, title: `${view.letters[place]} ${when}: ${words.join(", ") || "changes nothing"}`, style: { "--much": `${Math.round(100 * size)}%` } }, { lost: "✕", gain: "+", back: "−" }[kind] ?? "");
  };
  const names = view.letters.map((name, place) => el("div", { class: `view-name${view.numbers[place] === letter ? " here" : ""}` }, name));
  const left = 10 * mean((state) => view.left[state]), dead = mean((state) => Math.min(...view.states[state][1]));
  const steps = Math.round(10 * left) / 10;
  const ahead = `${plainNumber(steps)} ${steps === 1 ? "step" : "steps"} to go`;
  const rest = left < 0.05 ? "satisfied" : dead > 0.5 ? "violated" : ahead;
  return [
    el("div", { class: "view", role: "img", "aria-label": "Symbols that help, undo progress or violate the task", style: { "--columns": view.letters.length } },
      el("div", {}), names, el("div", { class: "view-when" }, "now"), view.letters.map((_, place) => cell(0, place, "now")),
      el("div", { class: "view-when" }, "next"), view.letters.map((_, place) => cell(2, place, "next"))),
    el("p", { class: "quiet" }, el("span", { class: "view-key gain" }, "+"), " helps ", el("span", { class: "view-key back" }, "−"), " undoes progress ", el("span", { class: "view-key lost" }, "✕"),
      ` violates the task · ${rest}${view.hidden ? ` · ${count(view.hidden, "symbol")} not shown` : ""}`),
  ];
}
