// Numbers at the date. Each leads to the list of what it counts: its section, without a search, with the choice that shows just these.
function startTiles() {
  const ofDate = (name) => () => pick(`${name}-which`, "now");
  const tiles = [
    ["access", "ACLs", "acls", "holding", () => pick("access-which", "all")],
    ["access", "principals", "acls", "holders", () => { pick("access-by", "principal"); pick("access-which", "all"); }],
    ["topics", "topics", "topics", "holding", ofDate("topics")],
    ["partitions", "unhealthy partitions", "partitions", "holding", ofDate("partitions")],
    ["quotas", "quotas", "quotas", "holding", ofDate("quotas")],
    ["configs", "configurations", "configs", "holding", ofDate("configs")],
    ["users", "SCRAM users", "users", "holders", ofDate("users")],
    ["tokens", "delegation tokens", "tokens", "holding", ofDate("tokens")],
    ["brokers", "brokers", "brokers", "holding", ofDate("brokers")],
    ["commits", "groups", "commits", "holders", () => {}],
    ["alerts", "alerts", "alerts", "changes", () => pick("alerts-which", "")],
  ];
  const several = DATA.clusters.length > 1 ? "In all clusters together:\na principal, user or group that is in two of them counts twice." : null;
  const figures = tiles.map(([target, label, section, what, choose]) => {
    const figure = make("b"), picture = make("span"), search = byId(`${target}-search`);
    byId("tiles").append(make("a", { class: "tile", href: `#${target}`, tip: what === "holders" ? several : null, onclick: (event) => { event.preventDefault(); lead(target, search, choose); } }, figure, make("span", {}, label), picture));
    let count = null;
    const draw = ofCluster(() => {
      count = countOf(section, what);
      picture.replaceChildren(sparkline(count.steps, greatest(count.steps)));
    });
    return () => {
      draw();
      figure.textContent = nearly(countAt(count, view.at));
    };
  });
  onView(() => { for (const figure of figures) figure(); });
}

function lead(target, search, choose) {
  if (search.value) {
    search.value = "";
    search.dispatchEvent(new Event("input", { bubbles: true }));
  }
  choose();
  const heading = byId(target).querySelector("h2");
  heading.tabIndex = -1;
  heading.focus({ preventScroll: true });
  bringUp(byId(target === "access" ? "access-list" : target));
}
