// Lists show a page of their rows at a time: tens of thousands of elements would make the page slow.
const PAGE = 60, LARGEST_STEP = 320;

// Rows that are shown already keep their elements, and what was opened stays open: only what came or went is drawn, or what is drawn
// of something else than before.
function inPages(host, render, { size = PAGE, keyOf = (row) => row, drawnOf = () => [] } = {}) {
  let rows = [], most = size, step = size, drawn = new Map();
  const more = make("button", { type: "button", class: "more", onclick: () => { most += step; step = Math.max(size, Math.min(2 * step, LARGEST_STEP)); draw(); } });
  function draw() {
    drawn = new Map(rows.slice(0, most).map((row, at) => {
      const old = drawn.get(keyOf(row)), of = drawnOf(row);
      const same = old && old.of.length === of.length && old.of.every((part, place) => part === of[place]);
      return [keyOf(row), same ? old : { of, node: render(row, at) }];
    }));
    replaceKeeping(host, [...drawn.values()].map(({ node }) => node));
    const left = rows.length - most;
    more.textContent = left > step ? `Show ${step} more of ${inFigures(left)}` : `Show the other ${left}`;
    more.dataset.printed = `${inFigures(left)} more are not printed.`;
    more.hidden = left <= 0;
  }
  return { more, show: (now) => { rows = now; draw(); } };
}

// The first of many in a line, and a button that shows the others.
const FOLDED = 20;
function inLine(rows, render) {
  if (rows.length <= FOLDED + 1) return rows.map(render);
  const more = make("button", { type: "button", class: "unfold", onclick: () => {
    more.before(...rows.slice(shown, shown + LARGEST_STEP).map((row, at) => render(row, shown + at)));
    shown += LARGEST_STEP;
    say();
  } });
  let shown = FOLDED;
  const say = () => { more.textContent = `… ${inFigures(rows.length - shown)} more`; more.hidden = shown >= rows.length; };
  say();
  return [...rows.slice(0, FOLDED).map(render), more];
}

function replaceKeeping(host, nodes) {
  const wanted = new Set(nodes);
  for (const node of [...host.children]) if (!wanted.has(node)) node.remove();
  let next = host.firstElementChild;
  for (const node of nodes) {
    if (node === next) next = next.nextElementSibling; else host.insertBefore(node, next);
  }
}

// Words in any order, each somewhere in the row.
const wordsOf = (text) => text.toLowerCase().split(/\s+/).filter(Boolean);
function matcher(words) {
  return words.length ? (row) => words.every((word) => searchable(row).includes(word)) : () => true;
}
const searchable = (row) =>
  (row.searched ??= Object.values(row).filter((value) => typeof value === "string").join(" ").toLowerCase());

function onSearch(id, changed) {
  let timer = 0;
  byId(id).addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(changed, 80); });
  return () => matcher(wordsOf(byId(id).value));
}

// Columns: {title, value (sorted by), cell (shown), right, isOrder: whether rows come in its order}. What the user sorts by stays when the rows change.
function sortedTable(host, columns, { sort = 0, down = false, caption, size = PAGE }) {
  const order = { sort, down };
  let rows = [];
  const heads = columns.map((column, at) => make("th", { scope: "col", role: "columnheader", class: column.right ? "right" : null }, column.value
    ? make("button", { type: "button", onclick: () => {
        if (order.sort === at) order.down = !order.down; else Object.assign(order, { sort: at, down: Boolean(column.right) });
        show();
      } }, column.title) : make("span", {}, column.title)));
  const body = make("tbody", { role: "rowgroup" }), nothing = make("p", { class: "nothing", hidden: true });
  const list = inPages(body, (row) => make("tr", { role: "row" }, ...columns.map((column) => cellOf(column, row))), { size });
  const table = make("table", { role: "table", "aria-label": caption }, make("thead", { role: "rowgroup" }, make("tr", { role: "row" }, ...heads)), body);
  const frame = make("div", { class: "scroll", role: "region", "aria-label": caption, tabindex: 0 }, table);
  host.replaceChildren(frame, list.more, nothing);
  function show() {
    const { value, isOrder } = columns[order.sort];
    heads.forEach((head, at) => {
      if (at === order.sort) head.setAttribute("aria-sort", order.down ? "descending" : "ascending");
      else head.removeAttribute("aria-sort");
    });
    if (isOrder) list.show(order.down ? rows.toReversed() : rows);
    else list.show(rows.toSorted((one, other) => ordered(value(one), value(other)) * (order.down ? -1 : 1)));
  }
  return (now, without) => {
    rows = now;
    frame.hidden = !rows.length;
    nothing.hidden = Boolean(rows.length);
    nothing.textContent = without;
    show();
  };
}

// On a narrow page a row is a card, and each cell says what it is. Roles say that it still is a table.
const cellOf = (column, row) =>
  make("td", { role: "cell", class: column.right ? "right number" : null, "data-title": column.title || null }, column.cell(row));

function ordered(one, other) {
  if (one === other) return 0;
  if (one === null || other === null) return one === null ? -1 : 1;
  return typeof one === "number" && typeof other === "number" ? one - other : compare(String(one), String(other));
}
