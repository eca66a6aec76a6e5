/* The three rooms, and the start of everything. */

const ROOMS = [["task", "Task", "type a formula"], ["watch", "Watch", "an agent satisfies it"], ["runs", "Runs", "train and follow"]];
let fillTools = () => {}, runsStarted = false;

/** Show the reader's choices in the fields. */
function fill() {
  $("text").value = asked.text;
  fillTools();
}

/** What is typed is drawn at once; an agent waits until the typing pauses. */
let pause = null;
function retype() {
  writeAddress();
  clearTimeout(pause);
  if (asked.room === "task") drawTask(typed());
  else pause = setTimeout(watch, 500);
}

function openRoom(name) {
  asked.room = ROOMS.some(([room]) => room === name) ? name : "task";
  if (player) player.stop();
  for (const tab of $("rooms").children) {
    tab.setAttribute("aria-selected", tab.dataset.room === asked.room);
    tab.tabIndex = tab.dataset.room === asked.room ? 0 : -1;
  }
  for (const part of document.querySelectorAll("[data-rooms]")) part.hidden = !part.dataset.rooms.split(" ").includes(asked.room);
  $("room").setAttribute("aria-labelledby", `tab-${asked.room}`);
  $("text").disabled = false;
  showProblem();
  $("note").textContent = "";
  writeAddress();
  if (asked.room === "task") drawTask(typed());
  else if (asked.room === "watch") openWatch();
  else { if (!runsStarted) { runsStarted = true; startRuns(); } followRuns(); }
}

function startRooms() {
  $("rooms").hidden = Boolean(data.recorded);
  $("rooms").append(...ROOMS.map(([name, title, about]) => button([el("b", {}, title), el("span", { class: "quiet" }, about)], () => openRoom(name), { role: "tab", id: `tab-${name}`, "data-room": name, "aria-controls": "room" })));
  $("rooms").addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!step) return;
    const place = (ROOMS.findIndex(([name]) => name === asked.room) + step + ROOMS.length) % ROOMS.length;
    openRoom(ROOMS[place][0]);
    $("rooms").children[place].focus();
  });
  $("text").addEventListener("input", () => { asked.text = $("text").value; retype(); });
  $("text").addEventListener("keydown", (event) => { if (event.key === "Enter" && asked.room === "watch") { clearTimeout(pause); watch(); } });
  addEventListener("hashchange", () => { readAddress(); fill(); openRoom(asked.room); });
}

readAddress();
if (data.recorded) Object.assign(asked, { room: "watch", agent: data.recorded.agents[0].name });
startTheme();
startRooms();
fillTools = startTask();
startWatch();
fill();
$("footer").textContent = data.recorded ? "Recorded episodes. The studio plays any formula: nrm studio" : `Runs in ${data.folder === "." ? "this folder" : data.folder}. Those that are training go on when the studio stops.`;
$("asked").querySelector(".typed").hidden = Boolean(data.recorded);
openRoom(asked.room);
if (parent !== window) new ResizeObserver(() => parent.postMessage({ nrmHeight: document.documentElement.offsetHeight }, "*")).observe(document.body);
