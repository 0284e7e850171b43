// What the page was made from: inputs with their digests and counts, versions and options.
function startEvidence() {
  const { evidence } = DATA;
  if (!evidence) return;
  const { inputs, count, digest, changed, versions, options } = evidence;
  const code = (text) => make("code", {}, named(text));
  const line = (words, ...parts) => make("p", { class: "hint" }, `${words} `, ...parts);
  const skipped = (row) => Object.entries(row.skipped).map(([reason, size]) => `${reason} ${inFigures(size)}`).join(", ");
  const figure = (title, field) => ({ title, right: true, value: (row) => row[field], cell: (row) => row[field] === null ? "" : inFigures(row[field]) });
  const host = byId("evidence"), table = make("div");
  host.append(
    make("div", { class: "heading" }, make("h3", {}, "Inputs"), make("p", { class: "hint" }, "SHA-256 of the bytes that were there when the logs were listed.")),
    table,
    count > inputs.length ? line(`${counted(count - inputs.length, "more input")} not listed.`) : null,
    line(`SHA-256 of what sha256sum prints for ${count === 1 ? "the input" : `all ${inFigures(count)} inputs in this order`}:`, code(digest)),
    changed.length ? make("p", { class: "banner" }, `${counted(changed.length, "input")} deleted or replaced while they were read: `, ...inLine(changed, code).flatMap((part, at) => at ? [", ", part] : [part])) : null,
    line("Made by", Object.entries(versions).filter(([, version]) => version).map(([name, version]) => `${name} ${version}`).join(", ")),
    line("with", code(Object.entries(options).flatMap(([flag, values]) => [values].flat().map((value) => `${flag} ${value}`)).join("  "))),
  );
  sortedTable(table, [
    { title: "File", value: (row) => row.path, isOrder: true, cell: (row) => code(row.path) },
    { title: "SHA-256", value: (row) => row.sha256, cell: (row) => code(row.sha256) },
    figure("Bytes", "size"), figure("First offset", "first"), figure("Last offset", "last"), figure("Batches", "batches"), figure("Records", "records"),
    figure("Decoded", "decoded"), { title: "Skipped, by code", value: skipped, cell: (row) => skipped(row) || hint("none") },
  ], { caption: "Inputs" })(inputs, "There are no inputs.");
}
