/* The machine as it was learned: version by version, with the episode that refuted the one before. */

function drawLearned(groups) {
  const able = groups.filter((group) => group.learned);
  $("learned-card").hidden = !able.length;
  if (able.length) showLearned(able, able[0], able[0].learned.versions.length - 1);
}

function showLearned(able, group, place) {
  const { learned } = group;
  const methods = able.length > 1 ? [dropdown("Method", able.map((one, number) => [String(number), seriesName(one)]), String(able.indexOf(group)),
    (value) => showLearned(able, able[+value], able[+value].learned.versions.length - 1))] : [];
  const warning = learned.warning ? [el("p", { class: "no" }, `Seed ${learned.seed}: ${learned.warning}.`)] : [];
  if (!learned.versions.length) {
    $("learned-tools").replaceChildren(...methods);
    $("learned").replaceChildren(...warning);
    return;
  }
  const version = learned.versions[place];
  const before = place > 0 ? learned.versions[place - 1] : null;
  const title = (one) => `episode ${whole(one.episode)}: ${count(one.machine.states.length, "state")}`;
  $("learned-tools").replaceChildren(
    ...methods,
    dropdown("Version", learned.versions.map((one, number) => [String(number), title(one)]), String(place), (value) => showLearned(able, group, +value)));
  const last = place === learned.versions.length - 1;
  const assumed = version.seen.filter(([, , , times]) => !times).length;
  const verdict = version.right === null ? null
    : el("p", { class: version.right ? "yes" : "no" }, version.right ? "It equals the task's machine, as far as episodes can show." : "It differs from the task's machine.");
  $("learned").replaceChildren(
    el("p", {}, version.refuted ? refutation(version.refuted, before) : "Learned from more episodes; none refuted the previous version."),
    version.machine.drawing ? machinePicture({ name: `version ${place + 1}`, machine: version.machine }) : moveTable({ machine: version.machine })[0],
    ...[verdict].filter(Boolean), ...(last ? warning : []),
    el("p", {}, last && learned.guess ? `It ${learned.guess}.` : "", last && learned.note ? ` ${learned.note}` : ""),
    el("p", { class: "quiet" }, `Seed ${learned.seed}. `, last ? `${learned.certainty}. ` : "",
      learned.hidden ? `${count(learned.hidden, "version")} in between ${learned.hidden === 1 ? "is" : "are"} not shown.` : ""),
    el("details", {}, el("summary", {}, "Its symbols"), symbolTable(version)),
    el("details", {}, el("summary", {}, `How often each transition was seen${assumed ? `; ${assumed} assumed` : ""}`), seenTable(version)));
}

/** The episode in words: what was read, and where the machine was wrong. */
function refutation(refuted, before) {
  const steps = refuted.steps.map(([letter]) => letter);
  return [before ? "The previous version was refuted by the episode " : "The first episode that paid a reward was ",
    refuted.hidden ? "… " : "", el("code", {}, steps.join(" → ")),
    `: its potential was ${plainNumber(refuted.shown)}, but ${plainNumber(refuted.expected)} was expected.`];
}

function symbolTable(version) {
  const rows = version.symbols.map((symbol) => el("tr", {}, el("th", { scope: "row" }, symbol.name),
    el("td", {}, symbol.letters.join(", "), symbol.more ? ` and ${whole(symbol.more)} more` : "")));
  return el("table", { class: "plain" }, el("tbody", {}, rows));
}

function seenTable(version) {
  const rows = version.seen.map(([state, symbol, target, times]) => el("tr", {}, el("th", { scope: "row" }, state), el("td", {}, el("code", {}, symbol)),
    el("td", {}, target === state ? "stays" : `leads to ${target}`), el("td", {}, times ? `${whole(times)} times` : "assumed")));
  return el("table", { class: "plain" },
    el("thead", {}, el("tr", {}, ["State", "Symbol", "Move", "Seen"].map((text) => el("th", { scope: "col" }, text)))), el("tbody", {}, rows));
}
