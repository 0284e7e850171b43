// Rows as files: CSV as `kafkawire tables` writes it with --csv-safe, and JSON. The page makes them itself and fetches nothing.
const columnName = (field) => ({ from: "valid_from", to: "valid_to", id: "topic_id" }[field] ?? field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`));
const MOMENTS = ["from", "to", "time"];
const cellValue = (field, value) => MOMENTS.includes(field) && typeof value === "number" ? iso(value) : value ?? null;
// A row by the names of columns; those of the page's own bookkeeping are not in it.
const recordOf = (row, fields) => Object.fromEntries(fields.filter((field) => row[field] !== undefined).map((field) => [columnName(field), cellValue(field, row[field])]));

// A text that a spreadsheet would take for a formula begins with a quote.
const FORMULA = /^[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/;
function csvCell(value) {
  if (value === null || value === undefined) return "";
  const text = typeof value === "string" && FORMULA.test(value) ? `'${value}` : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
function csvOf(records) {
  const columns = [...new Set(records.flatMap(Object.keys))];
  return [columns, ...records.map((record) => columns.map((column) => record[column]))].map((cells) => `${cells.map(csvCell).join(",")}\r\n`).join("");
}

function download(name, type, text) {
  const address = URL.createObjectURL(new Blob([text], { type }));
  make("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 60000);
}
const fileName = (...parts) => parts.map((part) => String(part).replace(/[^\w.-]+/g, "-").slice(0, 60)).join("-");

// Two buttons; what they write is asked for when they are pressed.
function downloads(host, nameOf, recordsOf, documentOf) {
  host.append(make("button", { type: "button", onclick: () => download(`${nameOf()}.csv`, "text/csv;charset=utf-8", csvOf(recordsOf())) }, "Download CSV"),
    make("button", { type: "button", onclick: () => download(`${nameOf()}.json`, "application/json", `${JSON.stringify(documentOf(), null, 1)}\n`) }, "Download JSON"));
}
