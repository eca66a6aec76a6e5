/* The tiles and the table of results. */

/* Agents of one task and agents of many have different scores, so each kind has its own table. */
const COLUMNS = [
  { name: "Environment", key: (group) => group.env, cell: (group) => group.env, className: "place", when: () => many("env") },
  { name: "Task", key: (group) => group.task, cell: (group) => el("button", { type: "button", class: "link", title: "Look closer", onclick: () => lookCloser(group) }, group.task), className: "place" },
  { name: "Variant", key: (group) => group.variant, cell: (group) => variantName(group.variant), className: "whose", when: () => many("variant") },
  { name: "Method", key: (group) => methodOf(group.method).label, cell: (group) => el("span", { class: "method" }, groupSwatch(group), methodOf(group.method).label), className: "whose" },
  { name: "Runs", key: (group) => group.counted, cell: runsCell, number: true },
  { name: "Last 100", title: "Mean return of the last 100 episodes, ± standard deviation over runs", key: (group) => first(group.last), cell: (group) => spreadCell(group, group.last, decimal), number: true },
  { name: "IQM [95 %]", title: "Interquartile mean of the same, with its 95 % bootstrap interval", key: (group) => first(group.iqm), cell: intervalCell, number: true },
  { name: "Area", title: "Mean return of all episodes: the area under the learning curve, ± standard deviation over runs", key: (group) => first(group.area), cell: (group) => spreadCell(group, group.area, decimal), number: true },
  { name: "Grounding", title: "Exact accuracy of the grounder, over all cells", key: (group) => first(group.plain), cell: (group) => spreadCell(group, group.plain, percent), number: true },
  { name: "… up to equivalence", title: "Accuracy that forgives confusions which no reward of the task can correct", key: (group) => first(group.modulo), cell: (group) => spreadCell(group, group.modulo, percent), number: true },
  { name: "CPU s", title: "CPU seconds of a run", key: (group) => first(group.cpu), cell: (group) => decimal(first(group.cpu)), number: true },
];
const MANY_COLUMNS = [
  ...COLUMNS.slice(0, 5).map((column) => (column.name === "Task" ? { ...column, name: "Task distribution" } : column)),
  { name: "Steps", title: "Training steps, summed over environments", key: (group) => group.curves.length, cell: (group) => whole(group.curves.length), number: true },
  { name: "Success, last 100", title: "Share of the last 100 training episodes that satisfied their task", key: (group) => group.success, cell: (group) => percent(group.success), number: true },
  { name: "Unseen formulas", title: "Mean success on unseen formulas: sampled actions, no rewards read", key: (group) => (group.tried ? group.tried.mean : null), cell: (group) => percent(group.tried && group.tried.mean), number: true },
  { name: "Symbols", title: "Exact accuracy of the grounder at the end", key: (group) => first(group.plain), cell: (group) => spreadCell(group, group.plain, percent), number: true },
  { name: "Right from", title: "Training steps until all symbols were correct for the first time; mean over runs, if all got there", key: rightFrom, cell: (group) => (rightFrom(group) === null ? "–" : `step ${whole(Math.round(rightFrom(group)))}`), number: true },
  COLUMNS.at(-1),
];
const sorting = { column: null, descending: false };

const first = (pair) => (pair ? pair[0] : null);
const many = (kind) => unique(data.groups.map((group) => group[kind])).length > 1;

function rightFrom(group) {
  const steps = group.right_from;
  return !steps.length || steps.includes(null) ? null : steps.reduce((sum, value) => sum + value, 0) / steps.length;
}

function startSummary() {
  const envs = unique(data.groups.map((group) => group.env)).length;
  const runs = data.groups.reduce((sum, group) => sum + group.seeds.length, 0);
  const when = new Date(data.written);
  $("about").textContent = [
    count(runs, "run"), taskCount(), count(envs, "environment"),
    `written ${Number.isNaN(when.valueOf()) ? data.written : when.toISOString().slice(0, 10)} by nrm ${data.version}`,
  ].join(" · ");
  whenFiltered(() => {
    $("tiles").replaceChildren(...tiles());
    $("table").replaceChildren(...tables());
  });
}

function taskCount() {
  const names = unique(data.groups.filter((group) => group.many).map((group) => group.task)).length;
  const tasks = data.tasks.length - names;
  return [names && count(names, "task distribution"), (tasks || !names) && count(tasks, "task")].filter(Boolean).join(", ");
}

/** For each method the mean over what is shown, as a first impression; of many tasks first. */
function tiles() {
  return [...manyTiles(shownGroups().filter((group) => group.many)), ...oneTiles(shownGroups().filter((group) => !group.many))];
}

function manyTiles(shown) {
  return data.methods.filter(({ name }) => shown.some((group) => group.method === name)).map((method) => {
    const groups = shown.filter((group) => group.method === method.name);
    const tried = groups.filter((group) => group.tried && group.tried.mean !== null);
    const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
    const symbols = groups.filter((group) => group.plain).map((group) => first(group.plain));
    return el("div", { class: "card tile", style: { "--series": method.colour } },
      el("span", { class: "name" }, `${method.label}, many tasks`), el("span", { class: "quiet" }, method.knows.replace("the task", "one task per episode")),
      tried.length
        ? el("strong", {}, percent(mean(tried.map((group) => group.tried.mean))), " ", el("small", {}, "of unseen formulas"))
        : el("strong", {}, percent(mean(groups.map((group) => group.success))), " ", el("small", {}, "success, last 100")),
      el("span", { class: "quiet" }, count(groups.reduce((sum, group) => sum + group.counted, 0), "run"),
        symbols.length ? `; symbols ${percent(mean(symbols), 0)} correct` : null));
  });
}

function oneTiles(shown) {
  return data.methods.filter(({ name }) => shown.some((group) => group.method === name)).map((method) => {
    const groups = shown.filter((group) => group.method === method.name);
    const mean = (pick) => {
      const values = groups.map((group) => first(pick(group))).filter((value) => value !== null);
      return values.length ? values.reduce((sum, value) => sum + value, 0) / values.length : null;
    };
    const modulo = mean((group) => group.modulo);
    const tasks = unique(groups.map((group) => group.task)).length;
    return el("div", { class: "card tile", style: { "--series": method.colour } },
      el("span", { class: "name" }, method.label), el("span", { class: "quiet" }, method.knows),
      el("strong", {}, decimal(mean((group) => group.last)), " ", el("small", {}, "return, last 100")),
      el("span", { class: "quiet" }, `${count(tasks, "task")}, ${count(groups.reduce((sum, group) => sum + group.counted, 0), "run")}`,
        modulo === null ? null : `; symbols ${percent(modulo, 0)} correct up to equivalence`));
  });
}

function tables() {
  const shown = shownGroups();
  if (!shown.length) return [el("p", { class: "card empty" }, "No run matches the filters above.")];
  return [[MANY_COLUMNS, shown.filter((group) => group.many)], [COLUMNS, shown.filter((group) => !group.many)]]
    .filter(([, groups]) => groups.length).map(([columns, groups]) => table(columns.filter((column) => !column.when || column.when()), groups));
}

function table(columns, unsorted) {
  const groups = sortedGroups(columns, unsorted);
  const head = el("tr", {}, columns.map((column) => {
    const active = sorting.column === column.name;
    const order = active ? (sorting.descending ? "descending" : "ascending") : "none";
    return el("th", { scope: "col", class: column.number ? "number" : column.className, "aria-sort": order, title: column.title },
      el("button", { type: "button", onclick: () => sortBy(column) }, column.name, active ? (sorting.descending ? " ▾" : " ▴") : ""));
  }));
  // In the order of the page, the rows of one task in one environment share the cells that name it.
  const alike = (one, other) => !sorting.column && one && other && one.env === other.env && one.task === other.task;
  const rows = groups.map((group, place) => {
    const again = alike(groups[place - 1], group);
    let rowspan = 1;
    while (!again && alike(group, groups[place + rowspan])) rowspan += 1;
    return el("tr", { class: again ? "again" : "first" }, columns.filter((column) => !again || column.className !== "place").map((column) =>
      el("td", {
        class: column.number ? "number" : column.className, rowspan: column.className === "place" && rowspan > 1 ? rowspan : null,
        "data-label": column.number ? column.name : null,
      }, column.cell(group))));
  });
  return el("div", { class: "card rows-box scrolls-x" }, el("table", { class: "rows" },
    el("caption", { class: "hidden-text" }, groups[0].many ? "Results of each method on many tasks" : "Results of each method on each task"), el("thead", {}, head), el("tbody", {}, rows)));
}

function sortedGroups(columns, groups) {
  const column = columns.find((one) => one.name === sorting.column);
  if (!column) return groups;
  const sign = sorting.descending ? -1 : 1;
  return groups.sort((one, other) => {
    const [a, b] = [column.key(one), column.key(other)];
    if (a === null || b === null) return (a === null) - (b === null);  // what is unknown comes last, either way
    return sign * (typeof a === "string" ? a.localeCompare(b, "en", { numeric: true }) : a - b);
  });
}

/** First the natural direction, then the other one, then the order of the page. */
function sortBy(column) {
  const down = Boolean(column.number);
  if (sorting.column !== column.name) Object.assign(sorting, { column: column.name, descending: down });
  else if (sorting.descending === down) sorting.descending = !down;
  else sorting.column = null;
  $("table").replaceChildren(...tables());
  const heading = [...$("table").querySelectorAll("thead button")].find((button) => button.textContent.startsWith(column.name));
  if (heading) heading.focus();
}

function spreadCell(group, pair, format) {
  if (!pair) return "–";
  if (group.counted === 1) return format(pair[0]);
  return [format(pair[0]), " ", el("span", { class: "deviation" }, `± ${format(pair[1]).replace(" %", "")}`)];
}

function intervalCell(group) {
  const [middle, low, high] = group.iqm.map((value) => decimal(value));
  return group.counted === 1 ? middle : [middle, " ", el("span", { class: "deviation" }, `[${low}, ${high}]`)];
}

function runsCell(group) {
  const open = group.seeds.length - group.finished;
  if (!open) return whole(group.counted);
  const text = group.finished ? `${open} unfinished` : "unfinished";
  return [whole(group.counted), " ", el("span", { class: "badge warn" }, text)];
}
