// Numbers are of all that was read, whatever of it is on this page. A count comes as its changes. Where their times were too many,
// one change stands for all within its width, and a date inside has a number that is only near.
function unpackedCount({ before, width, steps }) {
  const points = [[-Infinity, before]];
  for (let at = 0, time = 0, count = before; at < steps.length; at += 2) points.push([(time += steps[at]), (count += steps[at + 1])]);
  return { steps: points, width };
}

function summed(counts) {
  if (counts.length === 1) return counts[0];
  const changes = counts.flatMap(({ steps }) => steps.slice(1).map(([time, count], at) => [time, count - steps[at][1]])).sort((one, other) => one[0] - other[0]);
  let count = counts.reduce((sum, { steps }) => sum + steps[0][1], 0);
  const steps = [[-Infinity, count]];
  for (const [time, change] of changes) {
    count += change;
    if (steps.at(-1)[0] === time) steps.at(-1)[1] = count; else steps.push([time, count]);
  }
  return { steps, width: counts.reduce((most, { width }) => Math.max(most, width), 1) };
}

const numbersOf = (section) => DATA.sections[section].numbers.filter((_, at) => view.cluster === null || at === view.cluster);
const totalOf = (section, field) => numbersOf(section).reduce((sum, numbers) => sum + numbers[field], 0);

// A count of a section in the clusters that are looked at: holding (of one kind of row, or of all), holders or changes.
const counts = new Map();
function countOf(section, what, kind = null) {
  const key = `${view.cluster} ${section} ${what} ${kind}`;
  if (!counts.has(key)) {
    const packed = numbersOf(section).flatMap((numbers) => what !== "holding" ? [numbers[what]] : Object.entries(numbers.holding).filter(([of]) => kind === null || of === kind).map(([, count]) => count));
    counts.set(key, summed(packed.map(unpackedCount)));
  }
  return counts.get(key);
}
const changesIn = (names) => summed(names.map((name) => countOf(name, "changes")));

function stepBefore(steps, time) {
  let low = 0, high = steps.length;
  while (low < high) { const middle = (low + high) >> 1; if (steps[middle][0] <= time) low = middle + 1; else high = middle; }
  return steps[Math.max(0, low - 1)];
}
function countAt({ steps, width }, time) {
  const [since, number] = stepBefore(steps, time);
  return { number, exact: width === 1 || time >= ended || time >= since + width - 1 };
}
const nearly = ({ number, exact }) => (exact ? "" : "≈ ") + inFigures(number);

// How many of those that hold at the date are not on this page.
const rowsAt = (section, time = view.at) => rowsOf(section).filter((row) => holds(row, time));
function notHere(section, shown = null, time = view.at) {
  if (totalOf(section, "rows") === totalOf(section, "shown")) return 0;
  return Math.max(0, countAt(countOf(section, "holding"), time).number - (shown ?? rowsAt(section, time).length));
}

// What a list found, of those on this page, of all.
function foundOf(found, here, all, noun) {
  const whole = `${nearly(all)} ${all.number === 1 ? noun : `${noun}s`}`;
  return (found < here ? `${inFigures(found)} of ${whole}` : whole) + (here < all.number ? `, ${inFigures(here)} of them on this page` : "");
}
