// The question who could do an operation on a resource, at the date of the page or at any time, answered from the ACLs on this page.
const REASONS = { super: "super user", open: "no ACL concerned the resource, which was open to everyone" };
const aclWords = (row) => `${row.principal} ${denies(row) ? "may not" : "may"} ${row.operation} ${kindOf(row)} ${patternName(row)}${row.host === WILDCARD ? "" : ` from ${row.host}`}`;
const momentCell = (time, unknown) => Number.isFinite(time) ? asDate(time) : hint(unknown);

function startAsking() {
  const type = byId("ask-type"), operation = byId("ask-operation"), boxes = Object.fromEntries(["name", "host", "supers"].map((name) => [name, byId(`ask-${name}`)]));
  const now = { when: "date", which: "could" };
  const fillOperations = () => {
    const before = operation.value;
    operation.replaceChildren(...DATA.acls.asked[type.value].map((name) => make("option", { value: name }, name)));
    if (DATA.acls.asked[type.value].includes(before)) operation.value = before;
    boxes.name.disabled = type.value === "CLUSTER";
    boxes.name.placeholder = type.value === "CLUSTER" ? DATA.acls.clusterName : `Name of a ${type.value.replaceAll("_", " ").toLowerCase()}`;
  };
  type.append(...Object.keys(DATA.acls.asked).map((name) => make("option", { value: name }, name)));
  fillOperations();
  const table = sortedTable(byId("ask-table"), [
    { title: "Principal", isOrder: true, value: (row) => row.principal, cell: (row) => make("span", {}, principalLink(row.principal), whoElse(row), inCluster(row)) },
    { title: "Host", value: (row) => row.host, cell: (row) => row.host === WILDCARD ? make("span", {}, hint("every host"), exceptHosts(row)) : named(row.host) },
    { title: "Since (UTC)", value: (row) => row.from, cell: (row) => momentCell(row.from, row.reason === "super" ? "always" : "before this log") },
    { title: "Until (UTC)", value: (row) => row.to, cell: (row) => momentCell(row.to, row.reason === "super" ? "always" : "still at the end") },
    { title: "By", value: (row) => row.acl ? aclWords(row.acl) : "", cell: (row) => row.acl ? named(aclWords(row.acl)) : hint(REASONS[row.reason]) },
    { title: "Denied by", value: (row) => row.deniedBy ? aclWords(row.deniedBy) : "", cell: (row) => row.deniedBy ? make("span", { class: "denied" }, named(aclWords(row.deniedBy))) : "" },
  ], { caption: "Who could" });

  function show() {
    const name = type.value === "CLUSTER" ? DATA.acls.clusterName : boxes.name.value, date = now.when === "date";
    const host = boxes.host.value.trim(), when = date ? `at ${shown(view.at)} UTC` : "at any time of this log";
    byId("ask").classList.toggle("unasked", !name);
    byId("ask-hint").replaceChildren(...(name ? [`${operation.value} ${type.value} `, named(name), ...(host ? [" from ", named(host)] : []), `, ${when}: `] : []),
      "since when, until when, and by which ACL. Decided as by Kafka's own authorizer.");
    byId("ask-found").textContent = "";
    byId("ask-lacking").hidden = true;
    if (!name) { table([], "Type the name of a resource."); return; }
    const asked = date ? { first: view.at, last: view.at } : { first: -Infinity, last: Infinity };
    const question = { type: type.value, operation: operation.value, name, host, superUsers: boxes.supers.value.split(";").map((one) => one.trim()).filter(Boolean), everyone: byId("ask-everyone").checked, asked };
    const acls = rowsOf("acls"), lacking = whatIsLacking(acls, date);
    byId("ask-lacking").hidden = !lacking;
    byId("ask-lacking").textContent = lacking;
    if (lacking) { table([], "Not decided."); return; }
    const clusters = DATA.clusters.filter((_, at) => view.cluster === null || at === view.cluster);
    const rights = clusters.flatMap((cluster) => whoCould(acls.filter((row) => row.cluster === cluster), question).map((right) => ({ ...right, cluster })));
    const could = rights.filter(({ deniedBy }) => !deniedBy);
    table(now.which === "could" ? could : rights, "No principal could do it.");
    byId("ask-found").textContent = counted(new Set(could.map(({ cluster, principal }) => JSON.stringify([cluster, principal]))).size, "principal") + " could";
  }
  choice(byId("ask-when"), "ask-when", [["date", "At this date"], ["ever", "At any time"]], (when) => { now.when = when; show(); });
  choice(byId("ask-which"), "ask-which", [["could", "Who could"], ["denied", "Also who was denied"]], (which) => { now.which = which; show(); });
  for (const box of Object.values(boxes)) onSearch(box.id, show);
  type.addEventListener("change", () => { fillOperations(); show(); });
  operation.addEventListener("change", show);
  byId("ask-everyone").addEventListener("change", show);
  inSection("ask", show);
}

const exceptHosts = (row) => row.exceptedHosts.length ? make("small", {}, " except ", named(row.exceptedHosts.join(", "))) : null;
const whoElse = (row) => row.principal !== EVERYBODY ? null
  : make("small", {}, " every principal without a row", row.excepted?.length ? " except " : "", row.excepted?.length ? named(row.excepted.join(", ")) : null);

// Why an answer could be wrong; empty if it cannot.
function whatIsLacking(acls, date) {
  const nameless = acls.filter((row) => isNameless(row) && (!date || holds(row, view.at))).length, strange = acls.filter((row) => isStrange(row) && (!date || holds(row, view.at))).length;
  const cut = date ? clustersLacking(acls.filter((row) => holds(row, view.at))).size > 0 : totalOf("acls", "rows") > totalOf("acls", "shown");
  return [
    cut ? "Not all ACLs of this time are on this page. Use --max-rows with a higher number, or kafkawire acls who-could." : null,
    nameless ? `Of ${counted(nameless, "ACL")} of this time the log has the removal and no more: what they said is not known.` : null,
    strange ? `${counted(strange, "ACL")} of this time ${strange === 1 ? "has" : "have"} a kind of pattern or a permission that this page does not know.` : null,
  ].filter(Boolean).join(" ");
}
