// Lists show a page of their rows at a time: tens of thousands of elements would make the page slow.
const PAGE = 60;

function inPages(host, rows, render, size = PAGE) {
  let done = 0;
  const more = make("button", { type: "button", class: "more", onclick: () => { step(); } });
  const step = () => {
    const next = rows.slice(done, done + size).map(render);
    done += next.length;
    host.append(...next);
    const left = rows.length - done;
    more.textContent = left > size ? `Show ${size} more of ${left.toLocaleString("en")}` : `Show the other ${left}`;
    more.hidden = left <= 0;
  };
  step();
  return more;
}

// Words in any order, each somewhere in the row.
function matcher(words) {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  return (text) => wanted.every((word) => text.includes(word));
}
const searchable = (row) =>
  (row.searched ??= Object.values(row).filter((value) => typeof value === "string").join(" ").toLowerCase());

function onSearch(id, changed) {
  let timer = 0;
  byId(id).addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(changed, 80); });
  return () => matcher(byId(id).value);
}

// Columns: {title, value (sorted by), cell (shown), right}. What the user sorts by stays when the rows change.
function sortedTable(host, columns, { sort = 0, down = false, caption }) {
  const order = { sort, down };
  let rows = [];
  const heads = columns.map((column, at) => make("th", { scope: "col", role: "columnheader", class: column.right ? "right" : null }, column.value
    ? make("button", { type: "button", onclick: () => {
        if (order.sort === at) order.down = !order.down; else Object.assign(order, { sort: at, down: Boolean(column.right) });
        show();
      } }, column.title) : make("span", {}, column.title)));
  function show() {
    const { value } = columns[order.sort];
    const sorted = rows.toSorted((one, other) => ordered(value(one), value(other)) * (order.down ? -1 : 1));
    heads.forEach((head, at) => {
      if (at === order.sort) head.setAttribute("aria-sort", order.down ? "descending" : "ascending");
      else head.removeAttribute("aria-sort");
    });
    const body = make("tbody", { role: "rowgroup" });
    const more = inPages(body, sorted, (row) => make("tr", { role: "row" }, ...columns.map((column) => cellOf(column, row))));
    const table = make("table", { role: "table", "aria-label": caption }, make("thead", { role: "rowgroup" }, make("tr", { role: "row" }, ...heads)), body);
    host.replaceChildren(make("div", { class: "scroll", role: "region", "aria-label": caption, tabindex: 0 }, table), more);
  }
  return (now) => { rows = now; show(); };
}

// On a narrow page a row is a card, and each cell says what it is. Roles say that it still is a table.
const cellOf = (column, row) =>
  make("td", { role: "cell", class: column.right ? "right number" : null, "data-title": column.title || null }, column.cell(row));

function ordered(one, other) {
  if (one === other) return 0;
  if (one === null || other === null) return one === null ? -1 : 1;
  return typeof one === "number" && typeof other === "number" ? one - other : compare(String(one), String(other));
}
