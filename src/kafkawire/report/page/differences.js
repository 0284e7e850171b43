// What differs between the states of two dates, as far as the rows are on this page.
const commitRow = ({ row, offset, time, exact }) => ({ cluster: row.cluster, group: row.group, topic: row.topic, partition: row.partition, offset, time, approximate: !exact });
const stateAt = (name, time) => name === "commits" ? commitsAt(time).map(commitRow) : rowsAt(name, time);

function differencesOf(name, from, to) {
  const { identity, same } = SUBJECTS[name];
  const byThing = (rows) => new Map(rows.map((row) => [JSON.stringify(identity.map((field) => row[field])), row]));
  const before = byThing(stateAt(name, from)), after = byThing(stateAt(name, to)), found = [];
  for (const [thing, row] of after) {
    const old = before.get(thing);
    if (!old) found.push({ section: name, change: "gained", before: null, after: row });
    else if (!same(old, row)) found.push({ section: name, change: "changed", before: old, after: row });
  }
  for (const [thing, row] of before) if (!after.has(thing)) found.push({ section: name, change: "lost", before: row, after: null });
  return found;
}
const rowOf = ({ before, after }) => after ?? before;

// What it was and what it is, in words.
function differenceText({ section, before, after }) {
  const { value } = SUBJECTS[section];
  if (!before || !after) return value(after ?? before) ?? "";
  if (section === "topics") return "deleted and created again";
  const [old, now] = [value(before), value(after)];
  if (section === "commits" && before.offset <= after.offset) return `${old} → ${now} (+${inFigures(after.offset - before.offset)})`;
  return old === now ? "set again, with another value" : `${old} → ${now}`;
}

// The field that has the value of a thing; ACLs have none.
const VALUE_FIELDS = { topics: "id", quotas: "value", configs: "value", users: "iterations", partitions: "state", tokens: "expires", brokers: "state", controllers: "endpoints", features: "level", commits: "offset" };
function differenceRecord({ section, change, before, after }) {
  const field = VALUE_FIELDS[section], values = field ? { before: before?.[field] ?? null, after: after?.[field] ?? null } : {};
  if (section === "commits") values.approximate = Boolean(before?.approximate || after?.approximate);
  return { table: section, change, ...recordOf(after ?? before, SUBJECTS[section].identity), ...values };
}
function differencesDocument(from, to, differences) {
  const rowFields = (name) => [...SUBJECTS[name].identity, ...(VALUE_FIELDS[name] ? [VALUE_FIELDS[name]] : []), ...(name === "commits" ? ["time", "approximate"] : ["from", "to"])];
  const sections = Object.keys(SUBJECTS).map((name) => {
    const own = differences.filter(({ section }) => section === name), fields = rowFields(name);
    const rows = (change) => own.filter((one) => one.change === change).map((one) => recordOf(rowOf(one), fields));
    const changed = own.filter(({ change }) => change === "changed").map(({ before, after }) => ({ before: recordOf(before, fields), after: recordOf(after, fields) }));
    return [name, { gained: rows("gained"), lost: rows("lost"), changed }];
  });
  return { title: DATA.title, from: iso(from), to: iso(to), ...Object.fromEntries(sections) };
}
