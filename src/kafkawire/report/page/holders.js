// Boxes of who has what: one for each principal with its ACLs, or one for each resource with all ACLs that apply to it.
const patternName = (row) => row.patternType === "PREFIXED" ? `${row.resourceName}*` : row.resourceName === WILDCARD ? "* (every one)" : row.resourceName;
const kindOf = (row) => row.resourceType.replaceAll("_", " ") + ({ LITERAL: "", PREFIXED: " PREFIX" }[row.patternType] ?? ` ${row.patternType}`);
const patternWords = (row) => [make("span", { class: "kind" }, kindOf(row)), patternLink(row)];
const fromHost = (row) => row.host === "*" ? null : make("small", {}, " from ", named(row.host));

// All that ever were, in order, each made once: comparing as people do is slow.
const everyone = new Map();
function allHolders(by) {
  const order = `${by} ${view.cluster}`;
  if (!everyone.has(order)) everyone.set(order, [...(by === "principal" ? allPrincipals() : allResources()).values()].sort((one, other) => compare(one.order, other.order)));
  return everyone.get(order);
}

function allPrincipals() {
  const holders = new Map();
  for (const row of rowsOf("acls")) {
    if (isNameless(row)) continue;
    const key = `${CLUSTER_NUMBERS.get(row.cluster)} ${row.principal}`;
    if (!holders.has(key)) holders.set(key, { key, order: row.principal, cluster: row.cluster, principal: row.principal, rows: [] });
    holders.get(key).rows.push(row);
  }
  return holders;
}

// Resources that an ACL names, topics, and groups with committed offsets; and patterns that stand for many.
function allResources() {
  const holders = new Map();
  function add(row, type, name, pattern = "LITERAL") {
    const key = patternKey(row.cluster, type, pattern, name), isPattern = pattern !== "LITERAL" || name === WILDCARD;
    if (!holders.has(key)) holders.set(key, { key, order: `${type} ${isPattern ? "" : " "}${name}`, cluster: row.cluster, type, name, isPattern, pattern: { resourceType: type, resourceName: name, patternType: pattern }, words: `${type} ${name}`.toLowerCase(), rows: [] });
    holders.get(key).rows.push(row);
  }
  for (const row of rowsOf("acls")) if (!isNameless(row)) add(row, row.resourceType, row.resourceName, row.patternType);
  for (const row of rowsOf("topics")) add(row, "TOPIC", row.topic);
  for (const row of rowsOf("commits")) add(row, "GROUP", row.group);
  return holders;
}

// Principals with an ACL that is wanted at the date, as {holder, rows}.
function principalsAt(wanted) {
  return allHolders("principal").flatMap((holder) => {
    const rows = holder.rows.filter((row) => holds(row, view.at) && wanted(row));
    return rows.length ? [{ holder, rows }] : [];
  });
}

// Resources that are there at the date and that are looked for by their own words, or by an ACL that applies to them.
function resourcesAt(patterns, acls, words, ofKind) {
  const wantedBy = new Map(); // words that a resource lacks, to the patterns with an ACL that has them
  const patternsWith = (rest) => {
    const key = rest.join(" "), matches = matcher(rest);
    if (!wantedBy.has(key)) wantedBy.set(key, new Set(acls.filter((row) => ofKind(row) && matches(row)).map(keyOfAcl)));
    return wantedBy.get(key);
  };
  return allHolders("resource").flatMap((holder) => {
    if (!holder.rows.some((row) => holds(row, view.at))) return [];
    const rest = words.filter((word) => !holder.words.includes(word));
    if (rest.length || ofKind !== ofEveryKind) {
      const found = patternsWith(rest);
      if (!patterns.concerning(holder).some((key) => found.has(key))) return [];
    }
    return [{ holder, wanted: rest.length || ofKind !== ofEveryKind ? (row) => ofKind(row) && matcher(rest)(row) : null }];
  });
}
const ofEveryKind = () => true;

function chip(row) {
  return make("span", { class: denies(row) ? "chip deny" : "chip", tip: `${row.permission} ${row.operation}\n${row.from === null ? "since before this log" : `since ${shown(row.from)}`}` },
    named(row.operation), fromHost(row));
}
const byOperation = (one, other) => denies(other) - denies(one) || compare(one.operation, other.operation);

// A box is filled when it is opened; what the user opened or closed stays so. A large one takes the whole width.
const opened = new Map(), fillings = new WeakMap();
function holderBox(key, title, text, openAtFirst, linesOf, render) {
  const box = make("details", { class: "holder", open: opened.get(key) ?? openAtFirst },
    make("summary", { onclick: ({ target }) => { if (!target.closest("a")) { opened.set(key, !box.open); filled(box); } } }, ...title, hint(text)));
  fillings.set(box, () => {
    const lines = linesOf(), body = make("div"), list = inPages(body, render, { size: FOLDED });
    box.append(body, ...(lines.length > FOLDED ? [list.more] : []));
    box.classList.toggle("large", lines.length > FOLDED);
    list.show(lines);
  });
  if (box.open) filled(box);
  return box;
}
function filled(box) {
  fillings.get(box)?.();
  fillings.delete(box);
}

function principalBox({ holder, rows }, openAtFirst) {
  const refused = rows.filter(denies).length;
  const text = counted(rows.length, "ACL") + (refused ? `, ${refused} of them denying` : "");
  const grants = () => Object.values(Object.groupBy(rows, keyOfAcl)).sort(([one], [other]) => compare(kindOf(one), kindOf(other)) || compare(one.resourceName, other.resourceName));
  return holderBox(holder.key, [make("span", {}, principalLink(holder.principal), inCluster(holder))], text, openAtFirst && rows.length <= FOLDED, grants, (own) =>
    make("div", { class: "grant" }, make("div", {}, ...patternWords(own[0])), make("div", { class: "chips" }, ...inLine(own.sort(byOperation), chip))));
}

function resourceBox({ holder, wanted }, rows, isDecided, openAtFirst) {
  const principals = Object.values(Object.groupBy(rows, (row) => row.principal)).sort(([one], [other]) => compare(one.principal, other.principal));
  const shownOnes = wanted ? principals.filter((own) => own.some(wanted)) : principals;
  const ofPattern = (test) => rows.filter(test).length;
  const from = [["of its own", ofPattern((row) => keyOfAcl(row) === holder.key)], ["of prefixes", ofPattern((row) => keyOfAcl(row) !== holder.key && row.patternType === "PREFIXED")],
    ["of *", ofPattern((row) => keyOfAcl(row) !== holder.key && row.resourceName === WILDCARD && row.patternType === "LITERAL")]].filter(([, count]) => count).map(([what, count]) => `${inFigures(count)} ${what}`);
  const who = shownOnes.length < principals.length ? `${inFigures(shownOnes.length)} of ${counted(principals.length, "principal")}` : counted(principals.length, "principal");
  const text = !rows.length ? `no ACL ${isDecided ? "" : "on this page "}applies` : `${who}, ${counted(rows.length, "ACL")}${holder.isPattern || rows.every((row) => keyOfAcl(row) === holder.key) ? "" : `: ${from.join(", ")}`}`;
  const lines = () => shownOnes.length ? shownOnes : [null];
  return holderBox(holder.key, [make("span", {}, ...patternWords(holder.pattern), inCluster(holder))], text, openAtFirst && rows.length > 0 && rows.length <= FOLDED, lines, (own) => own === null
    ? make("p", { class: "grant hint" }, isDecided ? "No ACL applies: super users may do everything, and everyone else nothing, or everything where brokers set allow.everyone.if.no.acl.found." : UNDECIDED)
    : make("div", { class: "grant" }, make("div", {}, principalLink(own[0].principal), own[0].principal === EVERYBODY ? hint(" every other principal") : null),
      make("div", {}, holder.isPattern ? null : mayDo(rows, own[0].principal, isDecided), ...sources(rows, own[0].principal, holder))));
}

const UNDECIDED = "Not decided: ACLs of this date are not on this page.";
function mayDo(rows, principal, isDecided) {
  if (!isDecided) return make("p", { class: "hint" }, UNDECIDED);
  return make("div", { class: "chips may" }, ...verdictsOn(rows, principal).map(({ operation, may, only, except }) =>
    make("span", { class: may ? "chip" : "chip deny" }, named(operation === "ALL" ? "ALL" : operation),
      only?.length ? make("small", {}, " from ", named(only.join(", "))) : null, except?.length ? make("small", {}, " except from ", named(except.join(", "))) : null)));
}

// Where it comes from: the ACLs that say something of the principal, by their pattern.
function sources(rows, principal, holder) {
  const own = rows.filter((row) => isAbout(row, principal) && (!holder.isPattern || row.principal === principal));
  return Object.values(Object.groupBy(own, (row) => `${row.principal === EVERYBODY} ${keyOfAcl(row)}`)).map((group) =>
    make("p", { class: "source" }, make("span", { class: "kind" }, kindOf(group[0])), named(patternName(group[0])),
      group[0].principal === EVERYBODY && principal !== EVERYBODY ? ` for ${EVERYBODY}` : "", ": ",
      ...inLine(group.sort(byOperation), (row, at) => make("span", {}, at ? ", " : "", make("span", { class: denies(row) ? "denied" : null }, `${row.permission} `, named(row.operation), fromHost(row))))));
}
