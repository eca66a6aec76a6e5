/* What is unfinished or could not be read, and where the page came from. */

function startNotes() {
  const lists = [
    ["Unfinished runs", "They are counted as far as they got only where no run of the same kind is finished.", data.unfinished],
    ["Not used, or in part", "Everything else on this page is unaffected.", data.problems],
  ].filter(([, , entries]) => entries.length);
  $("notes").hidden = !lists.length;
  $("notes-body").replaceChildren(...lists.map(([title, text, entries]) => el("article", { class: "card" },
    el("h3", {}, `${title} (${entries.length})`), el("p", { class: "quiet" }, text),
    el("table", { class: "plain" }, el("tbody", {}, entries.map(([path, reason]) => el("tr", {}, el("td", {}, el("code", {}, path)), el("td", {}, reason))))))));
  if (lists.length) {
    const total = data.unfinished.length + data.problems.length;
    $("about").append(" · ", el("a", { href: "#notes" }, count(total, "note"), " on unfinished or unreadable runs"));
  }
  $("footer").textContent = `Written ${data.written} by nrm ${data.version} from ${data.folder}. This page is one file: it loads nothing and can be sent as it is.`;
}
