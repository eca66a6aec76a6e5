/* Pictures of environments, and the learned grounding beside the truth. */

let images = [], ready = null;

/** Load the pictures that recordings name by their numbers. */
function loadTiles(uris) {
  data.tiles = uris;
  images = uris.map((uri) => { const image = new Image(); image.src = uri; return image; });
  ready = Promise.all(images.map((image) => image.decode()));
}
loadTiles(data.tiles);

const VERDICTS = {
  right: ["✓", "#0b5fae", "correct"],
  alike: ["≈", "#5b6570", "confused with a symbol that the task treats alike: harmless here"],
  mirror: ["⇄", "#7a3e9d", "exchanged by a symmetry: the same rewards"],
  wrong: ["✕", "#b23a00", "wrong: rewards can separate them"],
};

/** What lies where a letter is read: a place in the recording's tiles, or -1 where the letter has no picture. */
const contentOf = (recording, letter) => (recording.filmed ? -1 : recording.letters.indexOf(letter));
const nameOf = (recording, letter) => recording.names[letter] ?? `letter ${letter}`;

/** Draw cells: `contents` has the tile of each, `texts` what to write where there is no tile, `marks` verdicts. */
function drawBoard(canvas, recording, { contents, agent = null, trail = [], texts = [], marks = [] }) {
  const side = Math.max(16, Math.min(128, 16 * Math.floor(640 / (16 * Math.max(recording.width, recording.height)))));
  canvas.width = recording.width * side;
  canvas.height = recording.height * side;
  canvas.style.aspectRatio = `${recording.width} / ${recording.height}`;
  const pen = canvas.getContext("2d");
  pen.imageSmoothingEnabled = false;
  const place = (cell) => [(cell % recording.width) * side, Math.floor(cell / recording.width) * side];
  contents.forEach((content, cell) => {
    const pair = recording.tiles[content] || recording.tiles[0];
    pen.drawImage(images[pair[cell === agent ? 1 : 0]], ...place(cell), side, side);
  });
  drawTrail(pen, trail.map((cell) => place(cell).map((corner) => corner + side / 2)), side);
  pen.textAlign = "center";
  pen.textBaseline = "middle";
  contents.forEach((_, cell) => {
    const [x, y] = place(cell);
    if (texts[cell]) {
      pen.fillStyle = "#222";
      pen.font = `600 ${side * 0.22}px system-ui, sans-serif`;
      pen.fillText(texts[cell], x + side / 2, y + side / 2, side * 0.9);
    }
    if (marks[cell] && marks[cell] !== "right") drawMark(pen, VERDICTS[marks[cell]], x, y, side);
  });
}

/** Show what an environment without a board rendered itself: a picture on a canvas, or a text. */
function drawPicture(canvas, frame) {
  if (typeof frame === "string") { canvas.textContent = frame; return; }
  const image = images[frame];
  const scale = Math.max(1, Math.floor(640 / Math.max(image.naturalWidth, image.naturalHeight)));
  canvas.width = image.naturalWidth * scale;
  canvas.height = image.naturalHeight * scale;
  canvas.style.aspectRatio = `${image.naturalWidth} / ${image.naturalHeight}`;
  const pen = canvas.getContext("2d");
  pen.imageSmoothingEnabled = false;
  pen.drawImage(image, 0, 0, canvas.width, canvas.height);
}

function drawTrail(pen, points, side) {
  if (points.length < 2) return;
  pen.strokeStyle = "rgb(98 50 170 / 55%)";
  pen.lineWidth = side / 22;
  pen.lineJoin = "round";
  pen.setLineDash([side / 14, side / 10]);
  pen.beginPath();
  points.forEach(([x, y], place) => (place ? pen.lineTo(x, y) : pen.moveTo(x, y)));
  pen.stroke();
  pen.setLineDash([]);
}

function drawMark(pen, [sign, colour], x, y, side) {
  const size = side * 0.34;
  pen.strokeStyle = pen.fillStyle = colour;
  pen.lineWidth = side / 20;
  pen.strokeRect(x + pen.lineWidth / 2, y + pen.lineWidth / 2, side - pen.lineWidth, side - pen.lineWidth);
  pen.fillRect(x, y, size, size);
  pen.fillStyle = "#fff";
  pen.font = `700 ${size * 0.8}px system-ui, sans-serif`;
  pen.fillText(sign, x + size / 2, y + size * 0.54);
}

/** The grounding of the runs that have one; in words where there is none. */
function drawGrounding(groups) {
  const box = $("grounding");
  const grounded = groups.flatMap((group) => group.recordings.filter((recording) => recording.grounding).map((recording) => ({ group, recording })));
  if (!grounded.length) {
    const methods = unique(groups.map((group) => methodOf(group.method)));
    const learners = methods.filter((method) => method.grounds).map((method) => method.label);
    const played = groups.some((group) => methodOf(group.method).grounds && group.recordings.length);
    box.replaceChildren(el("p", { class: "quiet" }, played
      ? "No cells to show: the environment has none, or the grounder reads whole episodes. The episode player shows the predicted symbol of each step."
      : learners.length
      ? `No run of ${learners.join(", ")} could be played, so there is no grounding to show. The end of the page says why.`
      : `No method here learns symbols. ${methods.map((method) => `${method.label[0].toUpperCase()}${method.label.slice(1)} ${method.unread}.`).join(" ")}`));
    return;
  }
  const show = ({ group, recording }) => {
    const { truth, learned, sure, verdicts, meaning } = recording.grounding;
    const title = (cell) => `(${cell % recording.width}, ${Math.floor(cell / recording.width)})`;
    const left = board("True symbols", recording, truth, [], (cell) => `${title(cell)}: ${nameOf(recording, truth[cell])}`);
    const right = board(`Symbols learned by ${methodOf(group.method).label}`, recording, learned, verdicts, (cell) =>
      `${title(cell)}: ${nameOf(recording, truth[cell])}, predicted ${nameOf(recording, learned[cell])} (${percent(sure[cell], 0)})`);
    const totals = Object.entries(VERDICTS).map(([name, looks]) => [looks, verdicts.filter((verdict) => verdict === name).length]);
    body.replaceChildren(el("div", { class: "boards" }, left, right),
      el("ul", { class: "legend" }, totals.filter(([, total]) => total).map(([[sign, colour, text], total]) => el("li", {},
        el("span", { class: "mark", style: { background: colour }, "aria-hidden": "true" }, sign), el("b", {}, count(total, "cell")), " ", text))),
      el("p", { class: "meaning" }, meaning),
      el("p", { class: "quiet" }, `${seriesName(group)}, seed ${recording.seed}.` +
        (recording.drawn ? " The layout is random in each episode; this is one of them." : "")));
  };
  const body = el("div", {});
  const choices = grounded.map(({ group, recording }, place) => [String(place), `${seriesName(group)}, seed ${recording.seed}`]);
  box.replaceChildren(...(grounded.length > 1 ? [el("div", { class: "tools" }, dropdown("Run", choices, "0", (value) => show(grounded[Number(value)])))] : []), body);
  show(grounded[0]);
}

function board(caption, recording, letters, marks, title) {
  const canvas = el("canvas", { role: "img", "aria-label": `${caption}: ${letters.map((letter) => nameOf(recording, letter)).join(", ")}` });
  const contents = letters.map((letter) => Math.max(0, contentOf(recording, letter)));
  const texts = letters.map((letter) => (contentOf(recording, letter) < 0 ? nameOf(recording, letter) : ""));
  whenImagesAreReady(() => drawBoard(canvas, recording, { contents, texts, marks }));
  canvas.addEventListener("pointermove", (event) => {
    const box = canvas.getBoundingClientRect();
    const x = Math.floor(((event.clientX - box.left) / box.width) * recording.width);
    const y = Math.floor(((event.clientY - box.top) / box.height) * recording.height);
    canvas.title = title(clamp(y, 0, recording.height - 1) * recording.width + clamp(x, 0, recording.width - 1));
  });
  return el("figure", {}, el("figcaption", {}, caption), canvas);
}

const whenImagesAreReady = (draw) => { ready.then(draw); };
