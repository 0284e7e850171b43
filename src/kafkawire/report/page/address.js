// What is looked at is in the address: a link, a bookmark or a reload shows the same again.
function startAddress() {
  const searches = [...document.querySelectorAll("input[type=search]")], select = byId("cluster");
  const picked = () => [...document.querySelectorAll("input[type=radio]:checked")].filter((box) => !box.defaultChecked);
  const opensAt = view.at;
  let timer = 0;

  function write() {
    const state = new URLSearchParams();
    if (view.at !== opensAt) state.set("at", iso(view.at));
    if (view.cluster !== null) state.set("cluster", clusterName(DATA.clusters[view.cluster]));
    for (const box of searches) if (box.value) state.set(box.id, box.value);
    for (const box of picked()) state.set(box.name, box.value);
    history.replaceState(null, "", state.size ? `#${state}` : location.href.split("#")[0]);
  }

  function read() {
    if (!location.hash.includes("=")) return;
    const state = new URLSearchParams(location.hash.slice(1)), time = Date.parse(state.get("at"));
    if (!Number.isNaN(time)) go(time);
    const cluster = DATA.clusters.findIndex((name) => clusterName(name) === state.get("cluster"));
    if (cluster >= 0) {
      select.value = cluster;
      select.dispatchEvent(new Event("change"));
    }
    for (const box of searches) {
      box.value = state.get(box.id) ?? "";
      box.dispatchEvent(new Event("input"));
    }
    for (const box of document.querySelectorAll("input[type=radio]")) {
      const wanted = state.has(box.name) ? box.value === state.get(box.name) : box.defaultChecked;
      if (wanted && !box.checked) box.click();
    }
  }

  // Browsers limit the rate of changes of the address.
  const later = () => { clearTimeout(timer); timer = setTimeout(write, 400); };
  onView(later);
  for (const kind of ["input", "change"]) document.addEventListener(kind, later);
  addEventListener("hashchange", () => { read(); later(); });
  read();
}
