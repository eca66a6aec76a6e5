/* The room of agents: one that is trained, a formula that it has never seen, and what it does. */

let agents = [];
const calm = matchMedia("(prefers-reduced-motion: reduce)");
const agentNow = () => agents.find((one) => one.name === asked.agent);
const watched = () => ({ agent: asked.agent, text: asked.text, logic: asked.logic, seed: asked.seed });

const askEpisode = newest("episode", ({ task, group, method, tiles }) => {
  if (asked.room !== "watch") return;
  showProblem();
  $("room").classList.remove("stale");
  if (tiles) loadTiles(tiles);
  data.methods = [method];
  const unseen = agentNow() && agentNow().many;
  showFormula(task.name, unseen ? el("span", { class: "badge unseen" }, data.recorded ? "unseen" : "type any formula") : null);
  drawMachine(task);
  startPlayer(task, [group]);
  tellAgent();
  whenImagesAreReady(() => { if (player) { player.show(0); if (!calm.matches) player.playOrPause(); } });
}, (error) => { showProblem(error); $("room").classList.add("stale"); tellAgent(); });

function tellAgent() {
  const now = agentNow();
  $("note").textContent = !now ? "" : now.problem ? `${now.name} cannot be read: ${now.problem}`
    : `Trained on ${now.about} in ${now.env}. ${now.many ? `Symbols: ${now.symbols.join(", ")}.` : "It executes this one task."}`;
}

function watch() {
  writeAddress();
  const now = agentNow();
  $("text").disabled = Boolean(data.recorded) || Boolean(now && !now.problem && !now.many);
  if (now && now.problem) { showProblem(`${now.name} cannot be read: ${now.problem}`); tellAgent(); return; }
  $("note").textContent = data.recorded ? "" : "Playing …";
  askEpisode(watched());
}

/** Something that takes a moment, at a click. */
async function atClick(control, work) {
  const text = control.textContent;
  Object.assign(control, { disabled: true, textContent: "…" });
  try { await work(); } catch (error) { showProblem(error.message); }
  Object.assign(control, { disabled: false, textContent: text });
}

async function tellSuccess() {
  const { episodes, success, length } = await ask("success", watched());
  $("note").textContent = `Satisfied in ${percent(success)} of ${count(episodes, "episode")}; ${decimal(length)} steps on average.`;
}

async function download() {
  const greedy = Boolean(player && player.episode.greedy);
  const film = await ask("animation", { ...watched(), greedy });
  const bytes = Uint8Array.from(atob(film), (letter) => letter.charCodeAt(0));
  const address = URL.createObjectURL(new Blob([bytes], { type: "image/gif" }));
  el("a", { href: address, download: "episode.gif" }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
}

async function offerFormulas() {
  const now = agentNow(), name = asked.agent;
  const listed = data.recorded ? (data.recorded.episodes[name] || []).map((one) => one.text) : now && now.many ? await ask("formulas", { name }).catch(() => []) : [];
  if (name !== asked.agent) return;
  if (data.recorded && !listed.includes(asked.text)) asked.text = listed[0] ?? "";
  const choices = listed.map((one) => [one, shortFormula(one)]);
  const picker = dropdown(data.recorded ? "Formula" : "Unseen formulas", data.recorded ? choices : [["", "choose …"], ...choices], asked.text, (value) => {
    if (!value) return;
    Object.assign(asked, { text: value, logic: "ltlf" });
    fill();
    watch();
  });
  $("formulas").replaceChildren(...(listed.length ? [picker] : []));
}

async function chooseAgent(name) {
  asked.agent = name;
  const offered = offerFormulas();
  if (data.recorded) await offered;
  watch();
}

async function openWatch() {
  if (!data.recorded) $("note").textContent = "Loading the agents …";
  try { agents = await ask("agents"); } catch (error) { showProblem(error.message); return; }
  if (!agents.some((one) => one.name === asked.agent)) asked.agent = agents[0].name;
  const label = (one) => (one.name.startsWith("./") ? one.name.slice(2) : `${one.name} (pretrained)`) + (one.problem ? ", damaged" : "");
  $("agent").replaceChildren(dropdown("Agent", agents.map((one) => [one.name, label(one)]), asked.agent, chooseAgent));
  chooseAgent(asked.agent);
}

function startWatch() {
  const success = button("Success over 100 episodes", () => atClick(success, tellSuccess));
  const film = button("Film (GIF)", () => atClick(film, download));
  const layout = button("New layout", () => { asked.seed += 1; watch(); });
  const again = button("Watch", watch, { class: "primary" });
  $("watch-tools").append(el("span", { id: "agent" }), el("span", { id: "formulas" }), ...(data.recorded ? (Object.values(data.recorded.episodes).flat().some((one) => one.success) ? [success] : []) : [again, layout, success, film]));
}
