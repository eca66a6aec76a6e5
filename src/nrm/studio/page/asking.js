/* Questions to the server, and what the reader has chosen: the address holds all of it. */

/** Ask the server. A page without one finds the answer among those that it holds. */
async function ask(name, question = {}) {
  if (data.recorded) return recordedAnswer(name, question);
  let response;
  try {
    response = await fetch(`ask/${name}`, { method: "POST", headers: { "content-type": "application/json", "x-token": data.token }, body: JSON.stringify(question) });
  } catch {
    throw new Error("The studio has stopped. Start it again with 'nrm studio', and open the address that it prints.");
  }
  const { answer, error } = await response.json();
  if (error !== undefined) throw new Error(error);
  return answer;
}

function recordedAnswer(name, { agent, text }) {
  const found = data.recorded;
  if (name === "agents") return found.agents;
  const episode = name === "formulas" ? null : (found.episodes[agent] || []).find((one) => one.text === text);
  if (name === "formulas") return [];
  if (!episode) throw new Error(`No episode of '${text}' is recorded. Type any formula in the studio: nrm studio`);
  return name === "success" ? episode.success : { ...episode, tiles: null };
}

/** A question of which one is under way at a time: what is asked meanwhile waits, and only the newest of it. */
function newest(name, show, fail) {
  let busy = false, next = null;
  const run = async (question) => {
    if (busy) { next = question; return; }
    busy = true;
    let tell;
    try {
      const answer = await ask(name, question);
      tell = () => show(answer, question);
    } catch (error) {
      tell = () => fail(error.message, question);
    }
    busy = false;
    if (!next) { tell(); return; }
    const again = next;
    next = null;
    run(again);
  };
  return run;
}

/* The reader's choices. */
const asked = { room: "task", text: "F(a & F b) & G !c", logic: "ltlf", names: "a,b,c,d", one: true, agent: "letter", seed: 1, steps: [] };

function readAddress() {
  const said = new URLSearchParams(location.hash.slice(1));
  for (const name of ["room", "text", "logic", "names", "agent"]) if (said.has(name)) asked[name] = said.get(name);
  if (said.has("one")) asked.one = said.get("one") === "1";
  if (said.has("seed")) asked.seed = clamp(Math.trunc(Number(said.get("seed"))) || 0, 0, 2 ** 31);
  if (said.has("steps")) asked.steps = said.get("steps").split(",").filter(Boolean).map((step) => (step === "-" ? [] : step.split("&")));
}

function writeAddress() {
  if (data.recorded) return;
  const { room, text, logic, names, one, agent, seed, steps } = asked;
  const said = new URLSearchParams({ room, text, logic, names, one: one ? "1" : "0", agent, seed });
  if (steps.length) said.set("steps", steps.map((step) => step.join("&") || "-").join(","));
  history.replaceState(null, "", `#${said}`);
}

const typed = () => ({ text: asked.text, logic: asked.logic, names: asked.names, one: asked.one });

/** An error in the words of the library; nothing where there is none. */
function showProblem(text = "", place = "problem") {
  $(place).hidden = !text;
  $(place).textContent = text;
  if (place === "problem") $("text").setAttribute("aria-invalid", Boolean(text));
}

const button = (text, onclick, properties = {}) => el("button", { type: "button", onclick, ...properties }, text);
const field = (label, input) => el("label", {}, label, input);
