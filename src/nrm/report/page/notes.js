/* What is unfinished or could not be read, and where the page came from. */

function startNotes() {
  const lists = [
    ["Unfinished runs", "Their results count only if no run of the same kind is finished.", data.unfinished],
    ["Problems", "These files could not be used, or only in part. Everything else on this page is unaffected.", data.problems],
  ].filter(([, , entries]) => entries.length);
  $("notes").hidden = !lists.length;
  $("notes-body").replaceChildren(...lists.map(([title, text, entries]) => el("article", { class: "card" },
    el("h3", {}, `${title} (${entries.length})`), el("p", { class: "quiet" }, text),
    el("table", { class: "plain" }, el("tbody", {}, entries.map(([path, reason]) => el("tr", {}, el("td", {}, el("code", {}, path)), el("td", {}, reason))))))));
  if (lists.length) {
    const total = data.unfinished.length + data.problems.length;
    $("about").append(" · ", el("a", { href: "#notes" }, count(total, "note"), " on unfinished or unreadable runs"));
  }
  $("footer").textContent = `Written ${data.written} by nrm ${data.version} from ${data.folder}. This page is one file that loads nothing else.`;
}
