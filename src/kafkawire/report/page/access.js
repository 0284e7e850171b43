// Who has what at the date of the page, and when they had it.
const access = { by: "principal", which: "all" };
const WHICH = { all: ofEveryKind, allow: (row) => !denies(row), deny: denies };

function startHolders() {
  const cards = make("div", { class: "cards" }), nothing = make("p", { class: "nothing" }), lacking = make("p", { class: "lacking", role: "status", hidden: true });
  const now = { few: false, patterns: null, missing: new Set() };
  const list = inPages(cards, (found, at) => {
    const openAtFirst = now.few || at < 12;
    return access.by === "principal" ? principalBox(found, openAtFirst)
      : resourceBox(found, now.patterns.applying(found.holder), !now.missing.has(found.holder.cluster), openAtFirst);
  }, { size: 40, keyOf: ({ holder }) => holder, drawnOf: (found) => access.by === "principal" ? found.rows
    : [byId("access-search").value, access.which, now.missing.has(found.holder.cluster), ...now.patterns.applying(found.holder)] });
  byId("access-holders").append(lacking, cards, list.more, nothing);

  return () => {
    const words = wordsOf(byId("access-search").value), ofKind = WHICH[access.which], matches = matcher(words);
    const acls = rowsAt("acls"), ofEveryone = acls.filter((row) => row.principal === EVERYBODY).length;
    now.patterns = patternsOf(acls);
    now.missing = clustersLacking(acls);
    const found = access.by === "principal" ? principalsAt((row) => ofKind(row) && matches(row)) : resourcesAt(now.patterns, acls, words, ofKind);
    now.few = found.length < FOLDED;
    list.show(found);
    const all = countAt(countOf("acls", "holding"), view.at), missing = notHere("acls", acls.length);
    nothing.hidden = Boolean(found.length);
    nothing.textContent = all.number ? "Nothing matches." : ALL.acls.length ? "No ACLs at this date." : "No ACLs in these logs.";
    byId("access-found").textContent = access.by === "principal" ? textOfPrincipals(found, words, all) : textOfResources(found, missing);
    byId("access-hint").textContent = access.by === "principal" ? `What each principal, a user or a service, may do as of ${shown(view.at)} UTC.${ofEveryone ? ` What ${EVERYBODY} has, each of them has.` : ""}`
      : `Who may do what with each resource as of ${shown(view.at)} UTC: all ACLs that apply to it, and what they come to. What ACLs deny is denied, whatever others allow.`;
    const nameless = acls.filter(isNameless).length, strange = acls.filter(isStrange).length;
    const notes = [
      missing ? `${inFigures(missing)} of the ${nearly(all)} ACLs of this date are not on this page: these lists lack them, and who may do what is not decided.` : null,
      nameless ? `Of ${counted(nameless, "ACL")} of this date the log has the removal and no more: what they said is not known.` : null,
      strange ? `${counted(strange, "ACL")} of this date ${strange === 1 ? "has" : "have"} a kind of pattern or a permission that this page does not know: what comes of ${strange === 1 ? "it" : "them"} is not decided.` : null,
    ].filter(Boolean);
    lacking.hidden = !notes.length;
    lacking.textContent = notes.join(" ");
  };
}

function textOfPrincipals(found, words, all) {
  const acls = found.reduce((sum, { rows }) => sum + rows.length, 0);
  if (words.length || access.which !== "all") return `${counted(acls, "ACL")} of ${nearly(all)}, ${counted(found.length, "principal")}`;
  const principals = countAt(countOf("acls", "holders"), view.at);
  return `${nearly(all)} ${all.number === 1 ? "ACL" : "ACLs"}, ${foundOf(found.length, found.length, principals, "principal")}`;
}

function textOfResources(found, missing) {
  const patterns = found.filter(({ holder }) => holder.isPattern).length, lacks = missing + notHere("topics") + notHere("commits");
  return counted(found.length - patterns, "resource") + (patterns ? `, ${counted(patterns, "pattern")}` : "") + (lacks ? ", out of what is on this page" : "");
}

// Clusters some of whose ACLs of this date are not on this page. Nothing is missing after the last row that is not here.
function clustersLacking(acls) {
  const cut = DATA.sections.acls.numbers.map(({ completeFrom }) => completeFrom);
  const suspects = DATA.clusters.filter((_, at) => cut[at] !== null && view.at < cut[at]);
  if (!suspects.length) return new Set();
  const here = countedBy(acls, (row) => row.cluster);
  return new Set(suspects.filter((cluster) => {
    const { number, exact } = countAt(aclsOf(cluster), view.at);
    return !exact || number > (here.get(cluster) ?? 0);
  }));
}
const aclCounts = new Map();
function aclsOf(cluster) {
  if (!aclCounts.has(cluster)) aclCounts.set(cluster, summed(Object.values(DATA.sections.acls.numbers[CLUSTER_NUMBERS.get(cluster)].holding).map(unpackedCount)));
  return aclCounts.get(cluster);
}

function startAccess() {
  const matches = onSearch("access-search", () => { showHolders(); showLanes(); });
  const showHolders = startHolders();
  const drawLanes = lanesIn(byId("acl-lanes"), SUBJECTS.acls.look, () => rowsOf("acls").length ? "Nothing matches." : "No ACLs.");
  const showLanes = () => drawLanes(lanesOf(rowsOf("acls").filter(matches()), SUBJECTS.acls.lane));
  choice(byId("access-by"), "access-by", [["principal", "By principal"], ["resource", "By resource"]], (by) => { access.by = by; showHolders(); });
  choice(byId("access-which"), "access-which", [["all", "All"], ["allow", "Allowing"], ["deny", "Denying"]], (which) => { access.which = which; showHolders(); });
  let legend = () => {};
  const drawCharts = ofCluster(() => {
    const series = [
      { kind: "allow", label: "Allowing", count: countOf("acls", "holding", "ALLOW") },
      { kind: "deny", label: "Denying", count: countOf("acls", "holding", "DENY") },
    ];
    legend = stepChart(byId("acl-chart"), series, "Number of ACLs");
    const rows = totalOf("acls", "rows"), here = totalOf("acls", "shown");
    byId("lanes-lacking").textContent = here < rows ? `${inFigures(here)} of ${inFigures(rows)} ACLs are on this page: all that are valid at the end of the log, and the newest that ended.` : "";
    showLanes();
  });
  inSection("access", () => { drawCharts(); legend(); showHolders(); });
}
