/* The widget of notebooks: a formula, and the page with its episode in a frame that can reach nothing. */

function render({ model, el }) {
  const make = (tag, properties) => Object.assign(document.createElement(tag), properties);
  const bar = make("form", {}), text = make("input", { type: "text", value: model.get("formula"), spellcheck: false, ariaLabel: "Formula" });
  const play = make("button", { type: "submit", textContent: "Watch" }), layout = make("button", { type: "button", textContent: "New layout" });
  const problem = make("pre", {}), frame = make("iframe", { title: "An agent executes the formula" });
  Object.assign(bar.style, { display: "flex", gap: "0.5rem", margin: "0.25rem 0" });
  Object.assign(text.style, { flex: "1", minWidth: "0", font: "1rem monospace" });
  Object.assign(frame.style, { width: "100%", height: "40rem", border: "0" });
  frame.setAttribute("sandbox", "allow-scripts");
  text.disabled = !model.get("many");
  const set = (changes) => { for (const [name, value] of Object.entries(changes)) model.set(name, value); model.save_changes(); };
  bar.addEventListener("submit", (event) => { event.preventDefault(); set({ formula: text.value }); });
  layout.addEventListener("click", () => set({ formula: text.value, seed: model.get("seed") + 1 }));
  const show = () => { frame.srcdoc = model.get("page"); };
  const tell = () => { problem.textContent = model.get("problem"); };
  const resize = ({ source, data }) => { if (source === frame.contentWindow && data && data.nrmHeight > 0) frame.style.height = `${Math.min(data.nrmHeight, 3000)}px`; };
  const retype = () => { text.value = model.get("formula"); };
  const heard = [["change:page", show], ["change:problem", tell], ["change:formula", retype]];
  heard.forEach(([name, act]) => model.on(name, act));
  addEventListener("message", resize);
  bar.append(text, play, layout);
  el.append(bar, problem, frame);
  show();
  tell();
  return () => { removeEventListener("message", resize); heard.forEach(([name, act]) => model.off(name, act)); };
}

export default { render };
