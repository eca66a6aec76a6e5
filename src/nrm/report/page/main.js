/* The closer look, and the start of everything. */

/* The closer look is at one task in one environment, or at one formula for agents of many tasks; filters narrow what it offers. */
const closer = { env: null, task: null };

function startCloser() {
  whenFiltered(() => {
    const shown = shownGroups();
    const same = shown.find((group) => group.env === closer.env && group.task === closer.task);
    const now = same || shown[0];
    $("closer").hidden = !now;
    if (now) openCloser(now.env, now.task);
  });
}

function lookCloser(group) {
  openCloser(group.env, group.task);
  $("closer").scrollIntoView({ behavior: matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth" });
}

function openCloser(env, name) {
  Object.assign(closer, { env, task: name });
  const shown = shownGroups();
  const task = data.tasks.find((one) => one.name === name);
  const all = shown.filter((group) => group.env === env && group.task === name);
  // Variants whose environments have other symbols were tried on other formulas: those of the first are shown.
  const groups = all.filter((group) => group.trial === all[0].trial);
  const envs = unique(shown.filter((group) => group.task === name).map((group) => group.env));
  const tasks = unique(shown.map((group) => group.task));
  const envOf = (other) => (shown.find((group) => group.task === other && group.env === env) || shown.find((group) => group.task === other)).env;
  $("closer-tools").replaceChildren(
    ...(tasks.length > 1 ? [dropdown(subjectWord(shown), tasks.map((one) => [one, one]), name, (value) => openCloser(envOf(value), value))] : []),
    ...(envs.length > 1 ? [dropdown("Environment", envs.map((one) => [one, one]), env, (value) => openCloser(value, name))] : []));
  if (all[0].many) { openTrial(groups); return; }
  $("grounding-title").textContent = "The learned grounding";
  showFormula(task.formula);
  drawMachine(task);
  drawWords(task);
  drawGrounding(groups);
  drawLearned(groups);
  startPlayer(task, groups);
}

startTheme();
startFilters();
startSummary();
startCurves();
startCloser();
startNotes();
