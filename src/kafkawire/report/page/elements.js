// Elements are made of nodes and text, never of markup: names in a log are whatever somebody called their topic.
const byId = (id) => document.getElementById(id);

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (name === "tip") node.dataset.tip = value.split("\n").map((line) => shortened(visible(line))).join("\n");
    else if (name === "place") for (const [property, amount] of Object.entries(value)) node.style.setProperty(property, amount);
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
}
const make = (tag, attributes = {}, ...children) => fill(document.createElement(tag), attributes, children);
const draw = (tag, attributes = {}, ...children) =>
  fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
// Invisible marks, and those that reverse the order of letters, would make one name look like another.
const UNSEEN = /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;
const visible = (text) => text.replace(UNSEEN, (mark) => `\\u${mark.charCodeAt(0).toString(16).padStart(4, "0")}`);
// Long names break after a mark rather than inside a word; of one that would fill the page, the middle is folded.
const LONGEST = 300, HEAD = 180, TAIL = 60;
const breakable = (text) => text.split(/(?<=[._:,=/-])(?=[^._:,=/-])/).flatMap((part, at) => at ? [make("wbr"), part] : [part]);
const halves = (text) => [text.slice(0, HEAD).replace(/[\ud800-\udbff]$/, ""), text.slice(-TAIL).replace(/^[\udc00-\udfff]/, "")];
const shortened = (text) => text.length > LONGEST ? halves(text).join(" … ") : text;
function named(text) {
  const whole = text === "" ? "(empty name)" : visible(text);
  if (whole.length <= LONGEST) return make("bdi", { class: "name" }, ...breakable(whole));
  const [head, tail] = halves(whole);
  const unfold = make("button", { type: "button", class: "unfold", onclick: (event) => { event.preventDefault(); event.stopPropagation(); name.replaceChildren(...breakable(whole)); } },
    `… ${inFigures(whole.length - head.length - tail.length)} more characters …`);
  const name = make("bdi", { class: "name" }, ...breakable(head), unfold, ...breakable(tail));
  return name;
}
const hint = (text) => make("span", { class: "hint" }, text);
// One for all: making a formatter takes longer than using it a hundred times.
const inFigures = new Intl.NumberFormat("en", { maximumFractionDigits: 12 }).format;
// Where logs of several clusters lie together, each thing says where it is.
const clusterName = (cluster) => cluster ?? "a cluster without an id";
const inCluster = ({ cluster }) => DATA.clusters.length > 1 ? make("small", { class: "hint" }, " in ", named(clusterName(cluster))) : null;
const countedBy = (rows, keyOf) => rows.reduce((sums, row) => sums.set(keyOf(row), (sums.get(keyOf(row)) ?? 0) + 1), new Map());
const counted = (number, one, many = one + "s") => `${inFigures(number)} ${number === 1 ? one : many}`;
const compare = new Intl.Collator("en", { numeric: true }).compare;

function choice(host, name, options, changed) {
  for (const [value, label] of options) {
    const box = make("input", { type: "radio", name, value, checked: value === options[0][0], onchange: () => changed(value) });
    host.append(make("label", {}, box, label));
  }
}

// Set a choice as a click would.
function pick(name, value) {
  const box = document.querySelector(`input[name="${name}"][value="${value}"]`);
  if (!box.checked) box.click();
}

// Sections that come into sight, or are drawn later, get their real height, which moves those below: the place is looked
// for again until it has stayed for some frames, or the reader goes elsewhere.
let sought = null;
for (const kind of ["wheel", "touchstart", "keydown", "pointerdown"]) addEventListener(kind, () => { sought = null; });
function bringUp(node) {
  sought = node;
  const look = (frames, still) => {
    if (sought !== node) return;
    const before = node.getBoundingClientRect().top;
    node.scrollIntoView({ behavior: "instant" });
    const stays = document.documentElement.dataset.ready !== "false" && node.getBoundingClientRect().top === before;
    if (frames && still < 5) requestAnimationFrame(() => look(frames - 1, stays ? still + 1 : 0));
  };
  look(120, 0);
}

// One tooltip for all; what has one is also in the text of a table or a bar, or readable from its label.
const tip = byId("tip");
document.addEventListener("pointermove", (event) => {
  const target = event.target instanceof Element ? event.target.closest("[data-tip]") : null;
  tip.hidden = target === null;
  if (target === null) return;
  tip.textContent = target.dataset.tip;
  const { width, height } = tip.getBoundingClientRect();
  tip.style.left = `${Math.max(8, Math.min(event.clientX + 14, innerWidth - width - 8))}px`;
  tip.style.top = `${event.clientY + 18 + height > innerHeight ? event.clientY - height - 12 : event.clientY + 18}px`;
});
document.addEventListener("pointerleave", () => { tip.hidden = true; });
