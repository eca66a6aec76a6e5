/* The room of runs: those of the folder, live, and ways to begin, stop and continue one. */

let listedNow = "", chartsNow = "", runsTimer = null;

/** The title of a chart leads to its agent. */
function lookCloser(group) {
  asked.agent = `./${group.task}`;
  openRoom("watch");
}

async function followRuns() {
  clearTimeout(runsTimer);
  if (asked.room !== "runs") return;
  if (!document.hidden) {
    try {
      showRuns(await ask("listed"));
    } catch (error) { showProblem(error.message, "runs-problem"); }
  }
  runsTimer = setTimeout(followRuns, 2000);
}

function showRuns(runs) {
  const said = JSON.stringify(runs.map(({ curves, ...rest }) => rest));
  if (said !== listedNow) { listedNow = said; showTable(runs); }
  const drawn = runs.filter((run) => run.curves);
  const curves = JSON.stringify(drawn.map((run) => [run.name, run.curves]));
  if (curves === chartsNow) return;
  chartsNow = curves;
  data.methods = [...new Map(drawn.map((run) => [run.method.name, run.method])).values()];
  data.groups = drawn.map((run) => ({ env: run.env, task: run.name, method: run.method.name, variant: "", many: run.many, counted: 1, curves: run.curves }));
  for (const name of ["method", "env", "task", "variant"]) chosen[name] = new Set(data.groups.map((group) => group[name]));
  $("curves").hidden = !drawn.length;
  curveTools();
  drawCharts();
}

function showTable(runs) {
  const box = $("runs"), kept = document.activeElement && document.activeElement.dataset.key;
  if (!runs.length) { $("begin").open = true; box.replaceChildren(el("p", { class: "empty" }, `There are no runs in ${data.folder} yet. Begin one above, or in a terminal: nrm train --task "F gem" --out ${data.folder}/gem`)); return; }
  const heads = ["Run", "Trained on", "Progress", "Return", "Success", "Symbols", ""];
  box.replaceChildren(el("table", { class: "rows" }, el("thead", {}, el("tr", {}, heads.map((head) => el("th", { scope: "col", class: ["Return", "Success", "Symbols"].includes(head) ? "number" : "" }, head)))), el("tbody", {}, runs.map(runRow))));
  if (kept) [...box.querySelectorAll("[data-key]")].find((one) => one.dataset.key === kept)?.focus();
}

function runRow(run) {
  const act = (what) => async () => { try { showProblem("", "runs-problem"); await ask(what, { name: run.name }); } catch (error) { showProblem(error.message, "runs-problem"); } followRuns(); };
  const control = (text, what) => button(text, what === "watch" ? () => lookCloser({ task: run.name }) : act(what), { "data-key": `${what} ${run.name}`, "aria-label": `${text} ${run.name}` });
  const share = run.amount ? run.reached / run.amount : 0;
  const state = run.training ? (run.amount ? "training" : "starting") : run.amount ? (share >= 1 ? "finished" : "stopped") : "not begun";
  const progress = run.amount ? [
    el("div", { class: "track" }, el("div", { class: "bar", style: { width: `${100 * clamp(share, 0, 1)}%` } })),
    el("small", {}, `${whole(Math.min(run.reached, run.amount))} of ${whole(run.amount)} ${run.unit} · `, el("b", {}, state)),
  ] : [el("b", {}, state)];
  const failed = run.problem || (!run.training && !run.amount && run.said);
  return el("tr", {}, el("th", { scope: "row" }, run.name, run.method ? el("small", { class: "quiet" }, ` ${run.method.label}, seed ${run.seed}`) : null),
    el("td", { class: "place", colspan: failed ? 5 : null }, failed ? el("span", { class: "no" }, failed) : [run.task ?? "", run.env ? el("small", { class: "quiet" }, ` ${run.env}`) : null, run.training && run.said ? el("small", { class: "quiet", title: run.said }, " ", run.said.split("\n").at(-1)) : null]),
    failed ? null : [el("td", { class: "progress" }, progress), ...[["Return", decimal(run.return)], ["Success", percent(run.success, 0)], ["Symbols", percent(run.accuracy, 0)]].map(([name, value]) => el("td", { class: "number", "data-label": name }, value))],
    el("td", { class: "acts" }, run.amount && !failed ? [
      run.training ? control("Stop", "stop") : share < 1 ? control("Resume", "resume") : null,
      run.reached ? control("Watch", "watch") : null,
    ] : null));
}

async function startRuns() {
  view.measure = "success";
  startCurves();
  const { envs, many, methods, samplers } = await ask("choices").catch(() => ({ envs: [], many: [], methods: [], samplers: [] }));
  const pick = (names) => el("select", {}, names.map((name) => el("option", { value: name }, name)));
  const input = (value, type = "text", more = {}) => el("input", { type, value, ...more });
  const env = pick(envs), method = pick(methods), name = input("my-run", "text", { required: true, pattern: "\\w[\\w.\\-]*" }), seed = input("0", "number", { min: 0 });
  const kind = pick(["one task", ...samplers]), task = input("F gem & G !lava"), amount = input("300", "number", { min: 1 });
  const length = el("span", {}, "Episodes");
  kind.addEventListener("change", () => {
    const one = kind.value === "one task";
    task.parentNode.hidden = !one;
    length.textContent = one ? "Episodes" : "Steps";
    amount.value = one ? 300 : 100000;
    for (const option of env.options) option.disabled = !one && !many.includes(option.value);
    if (env.selectedOptions[0].disabled) env.value = many[0];
  });
  method.value = methods.includes("nrm") ? "nrm" : methods[0];
  $("begin-form").append(el("div", { class: "tools" }, field("Name", name), field("Environment", env), field("Method", method), field("Tasks", kind), field("Formula", task),
    el("label", {}, length, amount), field("Seed", seed), el("button", { type: "submit", class: "primary" }, "Train")));
  $("begin-form").addEventListener("submit", async (event) => {
    event.preventDefault();
    showProblem("", "runs-problem");
    const one = kind.value === "one task";
    const begun = { name: name.value, env: env.value, method: method.value, seed: Number(seed.value), amount: Number(amount.value), task: one ? task.value : "", tasks: one ? "" : kind.value };
    try { await ask("begin", begun); } catch (error) { showProblem(error.message, "runs-problem"); }
    followRuns();
  });
}
