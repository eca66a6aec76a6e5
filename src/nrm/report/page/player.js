/* The episode player: the environment, the belief, the symbols and the rewards, step by step. */

const ARROWS = { up: "↑ ", right: "→ ", down: "↓ ", left: "← " };
const ENDS = {
  success: (steps) => `satisfied in ${count(steps, "step")}`, failure: (steps) => `violated after ${count(steps, "step")}`,
  limit: () => "time limit reached", cut: () => "the rest was not recorded",
};
let player = null;

/** The formula above the machine, and a badge behind it. */
function showFormula(text, badge = null) {
  $("formula").replaceChildren(el("span", { class: "text" }, text), " ", badge ?? "");
}

/** Tick the symbols of the formula that have brought the task forward. */
function tickFormula(symbols) {
  const shown = $("formula").querySelector(".text");
  const parts = shown.textContent.split(/([\p{L}_][\p{L}\p{N}_]*)/u);
  shown.replaceChildren(...parts.map((part) => (symbols.has(part) ? el("span", { class: "ticked" }, part) : part)));
}

/** The symbols of the steps that paid; a step that takes something back unticks those of the last one. */
function broughtForward(recording, steps) {
  const ticked = [];
  for (const step of steps) {
    if (step.reward > 0) ticked.push(nameOf(recording, step.letter).split(" & "));
    else if (step.reward < 0) ticked.pop();
  }
  return new Set(ticked.flat());
}

/** What an action is called: by the environment, by its number, or by its numbers where there are several. */
const actionOf = (recording, { action }) => (typeof action === "string" ? action : recording.actions[action] ?? `action ${action}`);

/** Offer the recorded episodes of some groups. */
function startPlayer(task, groups) {
  if (player) player.stop();
  player = null;
  lightState(null, null);
  const offers = groups.flatMap((group) => group.recordings.flatMap((recording) => recording.episodes.map((episode) => ({ task, group, recording, episode }))));
  if (!offers.length) {
    $("player-tools").replaceChildren();
    $("player").replaceChildren(el("p", { class: "quiet" }, "No episode of these runs could be played. The end of the page says why."));
    return;
  }
  const runs = unique(offers.map((offer) => offer.recording));
  const learns = (recording) => methodOf(offers.find((offer) => offer.recording === recording).group.method).grounds;
  const wish = runs.find((recording) => recording.grounding) || runs.find(learns) || runs[0];
  const choice = { recording: wish, greedy: false };
  const open = () => {
    if (player) player.stop();
    player = new Player(offers.find((offer) => offer.recording === choice.recording && offer.episode.greedy === choice.greedy));
  };
  const label = (recording) => {
    const { group } = offers.find((offer) => offer.recording === recording);
    return `${seriesName(group)}, seed ${recording.seed}`;
  };
  $("player-tools").replaceChildren(
    dropdown("Run", runs.map((recording, place) => [String(place), label(recording)]), String(runs.indexOf(wish)), (value) => { choice.recording = runs[Number(value)]; open(); }),
    dropdown("Actions", [["sampled", "sampled"], ["greedy", "greedy"]], "sampled", (value) => { choice.greedy = value === "greedy"; open(); }));
  open();
}

/** A bar for each state with its share; a flag marks some, and the true one is set off. */
function shareBars(label, numbers, shares, flagOf) {
  return el("div", { class: "beliefs", role: "img", "aria-label": label }, numbers.flatMap((number) => {
    const [share, flag] = [shares.get(number) || 0, flagOf(number)];
    return [
      el("span", { class: flag.startsWith("●") ? "now" : "" }, `state ${number}`),
      el("div", { class: "track" }, el("div", { class: "bar", style: { width: `${100 * share}%` } })),
      el("span", { class: "share" }, percent(share, 0)),
      el("span", { class: "flag" }, flag),
    ];
  }));
}

class Player {
  constructor({ task, group, recording, episode }) {
    // The first reward says more than the beginning, where nothing has happened yet.
    const place = episode.steps.findIndex((step) => step.reward !== 0) + 1;
    Object.assign(this, { task, group, recording, episode, place, timer: null });
    this.canvas = el(typeof episode.start === "string" ? "pre" : "canvas", { role: "img" });
    this.facts = el("dl", { class: "facts" });
    this.beliefs = el("div", {});
    this.sight = el("div", { class: "sight" });
    this.slider = el("input", { type: "range", min: 0, max: episode.steps.length, value: 0, "aria-label": "Step", oninput: () => { this.stop(); this.show(Number(this.slider.value)); } });
    this.playButton = this.button("play", "Play", () => this.playOrPause());
    this.strip = svg("svg", { class: "strip", viewBox: "0 0 1000 44", preserveAspectRatio: "none", "aria-hidden": "true" });
    this.words = el("p", { class: "caption hidden-text", "aria-live": "polite" });
    this.root = el("div", { class: "player", tabindex: 0, role: "group", "aria-label": "Episode player: arrow keys step, space plays, Home and End jump", style: seriesStyle(group), onkeydown: (event) => this.key(event) },
      this.canvas, el("div", {}, this.facts, this.beliefs), this.sight,
      el("div", { class: "transport" }, this.strip, this.slider,
        el("div", { class: "buttons" },
          this.button("first", "First step", () => this.go(0)), this.button("back", "Previous step", () => this.go(this.place - 1)), this.playButton,
          this.button("on", "Next step", () => this.go(this.place + 1)), this.button("last", "Last step", () => this.go(this.last)),
          el("span", { class: "quiet keys", "aria-hidden": "true" }, ["←", "→", "space", "Home", "End"].map((key) => el("kbd", {}, key))))),
      this.words);
    $("player").replaceChildren(this.root);
    whenImagesAreReady(() => this.show(this.place));
  }

  get last() { return this.episode.steps.length; }

  button(picture, label, click) {
    return el("button", { type: "button", "aria-label": label, title: label, onclick: click }, icon(picture));
  }

  go(place) { this.stop(); this.show(place); }

  stop() {
    clearInterval(this.timer);
    this.timer = null;
    this.playButton.replaceChildren(icon("play"));
    this.playButton.setAttribute("aria-label", "Play");
  }

  playOrPause() {
    if (this.timer) { this.stop(); return; }
    if (this.place === this.last) this.show(0);
    this.playButton.replaceChildren(icon("pause"));
    this.playButton.setAttribute("aria-label", "Pause");
    this.timer = setInterval(() => {
      this.show(this.place + 1);
      if (this.place === this.last) this.stop();
    }, 500);
  }

  key(event) {
    const onButton = event.target.tagName === "BUTTON", onSlider = event.target === this.slider;
    if (event.altKey || event.ctrlKey || event.metaKey || (event.key === " " && onButton) || (onSlider && event.key !== " ")) return;
    const act = {
      ArrowLeft: () => this.go(this.place - 1), ArrowRight: () => this.go(this.place + 1),
      Home: () => this.go(0), End: () => this.go(this.last), " ": () => this.playOrPause(),
    }[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  }

  /** Show the environment after `place` steps; 0 is the beginning. */
  show(place) {
    this.place = clamp(place, 0, this.last);
    this.slider.value = this.place;
    const { recording, episode, task } = this;
    const done = episode.steps.slice(0, this.place);
    const now = done.at(-1) || null;
    const cells = [episode.start, ...done.map((step) => step.cell)];
    if (recording.filmed) drawPicture(this.canvas, now ? now.frame : episode.start);
    else drawBoard(this.canvas, recording, { contents: recording.contents, agent: cells.at(-1), trail: cells });
    const state = now ? now.state : task.machine.initial;
    const before = done.length > 1 ? done.at(-2).state : task.machine.initial;
    lightState(now ? before : null, state);
    const total = done.reduce((sum, step) => sum + step.reward, 0);
    tickFormula(broughtForward(recording, done));
    this.drawFacts(now, total);
    this.drawBeliefs(now, state);
    this.drawSight(now, state);
    this.drawStrip();
    const text = this.caption(now, state, total);
    this.canvas.setAttribute("aria-label", text);
    if (!this.timer) this.words.textContent = text;
  }

  caption(now, state, total) {
    if (!now) return `Start; state ${state}`;
    const { recording } = this;
    const end = this.place === this.last ? `; ${ENDS[this.episode.end](this.last)}` : "";
    return `Step ${this.place}: ${actionOf(recording, now)}, symbol ${nameOf(recording, now.letter)}, reward ${plainNumber(now.reward)}, return ${plainNumber(Math.round(total * 100) / 100)}, state ${state}${end}`;
  }

  drawFacts(now, total) {
    const { recording } = this;
    const method = methodOf(this.group.method);
    const fact = (name, ...value) => el("div", {}, el("dt", {}, name), el("dd", {}, value));
    const symbol = (letter) => {
      const content = contentOf(recording, letter);
      return [content >= 0 ? el("img", { src: data.tiles[recording.tiles[content][0]], alt: "" }) : null, nameOf(recording, letter)];
    };
    const end = this.place === this.last ? el("small", { class: "end" }, ENDS[this.episode.end](this.last)) : null;
    const predicted = !now ? "–" : now.read
      ? [symbol(now.read[0][0]), el("small", {}, ` ${percent(now.read[0][1], 0)}`)]
      : el("small", { class: "long" }, `none: ${method.label} ${method.unread}`);
    const action = now && actionOf(recording, now);
    this.facts.replaceChildren(
      fact("Step", `${this.place} of ${this.last}`, end),
      fact("Action", now ? `${ARROWS[action] ?? ""}${action}` : "–"),
      fact("True symbol", now ? symbol(now.letter) : "–"),
      fact("Predicted symbol", predicted),
      fact("Reward", now ? signed(now.reward) : "–"),
      fact("Return so far", plainNumber(Math.round(total * 100) / 100)));
  }

  drawBeliefs(now, state) {
    const { task, recording, group } = this;
    if (!this.episode.steps.some((step) => step.belief)) {
      const { label, unbelieved } = methodOf(group.method);
      const why = el("p", { class: "quiet" }, `${label} has no belief over the states of this machine: it ${unbelieved}. The true state is ${state}.`);
      const own = new Map(now && now.learned ? now.learned : [[0, 1]]);
      const seen = this.episode.steps.flatMap((step) => (step.learned || []).map(([number]) => number));
      const known = seen.length ? unique([0, ...seen]).sort((a, b) => a - b) : [];
      const learned = known.length ? [el("h4", {}, "States of the learned machine"), shareBars("Belief over the states of the learned machine", known, own, () => "")] : [];
      this.beliefs.replaceChildren(why, ...learned);
      return;
    }
    const states = task.machine.states;
    const belief = new Map(now ? now.belief : [[task.machine.initial, 1]]);
    const { mirror } = recording.grounding || {};
    const image = mirror ? mirror[state] : state;
    const listed = states.length <= 12 ? states.map((_, number) => number) : unique([...belief.keys(), state]).sort((a, b) => a - b);
    this.beliefs.replaceChildren(shareBars("Belief over the machine's states", listed, belief, (number) =>
      [number === state && "● true state", image !== state && number === image && "⇄ its image under the symmetry"].filter(Boolean).join(", ")));
  }

  /** Of an agent of many tasks: what it reads, and what its policy sees of the task. */
  drawSight(now, state) {
    const { task, group } = this;
    if (!task.view) return;
    const given = !this.episode.steps.some((step) => step.belief);
    const belief = given ? [[task.machine.initial, 1]] : now ? now.belief : [[task.machine.initial, 1]];
    const title = given ? `Task encoding that ${methodOf(group.method).label} is given at the start` : "Task encoding that the policy sees";
    this.sight.replaceChildren(
      el("div", {}, el("h4", {}, "Predicted symbols"), methodOf(group.method).grounds ? readBars(this.recording, now) : el("p", { class: "quiet" }, `None: ${methodOf(group.method).label} ${methodOf(group.method).knows}.`)),
      el("div", {}, el("h4", {}, title), viewPicture(task.view, belief, now ? now.letter : null)));
  }

  /** The rewards of all steps as small bars, with the present step lit. */
  drawStrip() {
    const { steps } = this.episode;
    const most = Math.max(1, ...steps.map((step) => Math.abs(step.reward)));
    const slot = 1000 / Math.max(1, steps.length);
    this.strip.replaceChildren(
      svg("rect", { class: "here", x: Math.max(0, this.place - 1) * slot, y: 0, width: this.place ? slot : 0, height: 44 }),
      svg("line", { class: "zero", x1: 0, x2: 1000, y1: 22, y2: 22, "vector-effect": "non-scaling-stroke" }),
      ...steps.map((step, place) => {
        const high = (Math.abs(step.reward) / most) * 20;
        return svg("rect", { class: step.reward >= 0 ? "gain" : "loss", x: place * slot + slot * 0.15, width: slot * 0.7, y: step.reward >= 0 ? 22 - high : 22, height: high });
      }));
  }
}
