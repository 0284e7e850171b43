// Hosts of ACLs: an address, every host, or a range of addresses as brokers since 4.4 read it. The same is in Python, in
// kafkawire.model.acls.hosts, and a test compares this page with it.
const BITS = { 4: 32n, 6: 128n }, PREFIX = { 4: /^[0-9]{1,2}$/, 6: /^\+?0*[0-9]{1,3}$/ };
const withoutZeros = (digits) => digits.replace(/^0+(?=.)/, "");

function octetsOf(text) {
  const octets = text.split(".");
  return octets.length === 4 && octets.every((octet) => /^[0-9]{1,3}$/.test(octet) && Number(octet) < 256) ? octets.map(Number) : null;
}

// The eight numbers of an address; null if it is none.
function groupsOf(text) {
  const halves = text.split("::");
  if (halves.length > 2) return null;
  const parts = halves.map((half) => (half ? half.split(":").map(withoutZeros) : []));
  const last = parts.at(-1), octets = last.at(-1)?.includes(".") ? octetsOf(last.pop()) : [];
  if (octets === null) return null;
  if (octets.length) last.push((octets[0] * 256 + octets[1]).toString(16), (octets[2] * 256 + octets[3]).toString(16));
  const [left, right = []] = parts, lacking = 8 - left.length - right.length;
  if (halves.length === 2 ? lacking < 1 : lacking !== 0) return null;
  const groups = [...left, ...Array(lacking).fill("0"), ...right];
  return groups.every((group) => /^[0-9a-f]{1,4}$/i.test(group)) ? groups.map((group) => Number.parseInt(group, 16)) : null;
}

// {version, number} of an address; null if it is none. Zones are ignored, and IPv4 in the form of IPv6 is no address of an ACL.
function addressOf(text) {
  const join = (numbers, bits) => numbers.reduce((sum, each) => (sum << bits) + BigInt(each), 0n);
  if (!text.includes(":")) {
    const octets = octetsOf(text.split(".").map(withoutZeros).join("."));
    return octets && { version: 4, number: join(octets, 8n) };
  }
  const groups = groupsOf(text.replace(/^\[(.*)\]$/s, "$1").split("%")[0]);
  if (groups === null || (groups.slice(0, 5).every((each) => each === 0) && groups[5] === 0xffff)) return null;
  return { version: 6, number: join(groups, 16n) };
}

const SPANS = new Map();
function spanOf(host) {
  if (!SPANS.has(host)) SPANS.set(host, newSpanOf(host));
  return SPANS.get(host);
}
function newSpanOf(host) {
  const at = host.indexOf("/"), address = addressOf(at < 0 ? host : host.slice(0, at));
  if (address === null || at < 0) return address && { version: address.version, first: address.number, last: address.number };
  const { version, number } = address, prefix = host.slice(at + 1);
  if (!PREFIX[version].test(prefix) || (version === 4 && octetsOf(host.slice(0, at)) === null) || BigInt(Number(prefix)) > BITS[version]) return null;
  const free = (1n << (BITS[version] - BigInt(Number(prefix)))) - 1n;
  return { version, first: number - (number & free), last: number | free };
}

// Whether all clients of a host are clients of another one, which an ACL names.
function isWithin(host, other) {
  if (other === host || other === WILDCARD) return true;
  if (typeof host !== "string" || !other.includes("/") || host === WILDCARD) return false;
  const inner = spanOf(host), outer = spanOf(other);
  return inner !== null && outer !== null && inner.version === outer.version && outer.first <= inner.first && inner.last <= outer.last;
}
