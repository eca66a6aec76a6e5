/* The bar of filters: methods as chips, which are the legend too; environments, tasks or families, and variants as menus. */

function startFilters() {
  const bar = $("filters");
  for (const method of data.methods) bar.append(chip(method));
  for (const [kind, one, naming] of [["env", "Environment", String], ["task", subjectWord(data.groups), String], ["variant", "Variant", variantName]]) {
    const values = unique(data.groups.map((group) => group[kind]));
    if (values.length > 1) bar.append(menu(kind, one, values, naming));
  }
  // A menu closes when the reader goes on elsewhere, or presses Escape.
  document.addEventListener("click", (event) => {
    for (const open of bar.querySelectorAll("details[open]")) if (!open.contains(event.target)) open.open = false;
  });
  bar.addEventListener("keydown", (event) => {
    const open = event.target.closest("details[open]");
    if (event.key === "Escape" && open) { open.open = false; open.querySelector("summary").focus(); }
  });
}

function chip({ name, label, knows, colour, dash }) {
  const button = el("button", {
    type: "button", class: "chip", "aria-pressed": "true", "data-method": name, title: knows,
    onclick: () => {
      toggle(chosen.method, name);
      button.setAttribute("aria-pressed", chosen.method.has(name));
      filtered();
    },
  }, swatch(allVariants.length > 1 ? "" : dash, { "--series": colour }), label);
  return button;
}

function menu(kind, title, values, naming) {
  const summary = el("summary", {});
  const boxes = values.map((value) => {
    const box = el("input", { type: "checkbox", checked: true, onchange: () => { toggle(chosen[kind], value); tell(); filtered(); } });
    return { value, box, row: el("label", {}, box, el("span", {}, naming(value))) };
  });
  const all = (on) => () => {
    for (const { value, box } of boxes) { box.checked = on; if (on) chosen[kind].add(value); else chosen[kind].delete(value); }
    tell();
    filtered();
  };
  const tell = () => {
    const left = chosen[kind].size;
    const only = values.find((value) => chosen[kind].has(value));
    const text = left === values.length ? "all" : left === 1 ? naming(only) : `${left} of ${values.length}`;
    summary.textContent = `${title}: ${text.length > 34 ? `${text.slice(0, 33)}…` : text}`;
  };
  tell();
  return el("details", { class: "menu", "data-filter": kind }, summary,
    el("div", {},
      el("span", { class: "both" }, el("button", { type: "button", onclick: all(true) }, "All"), el("button", { type: "button", onclick: all(false) }, "None")),
      boxes.map(({ row }) => row)));
}

function toggle(set, value) {
  if (!set.delete(value)) set.add(value);
}
