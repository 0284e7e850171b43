// What is looked at is in the address: a link, a bookmark or a reload shows the same again, and Back goes to what was seen before.
function startAddress() {
  const searches = [...document.querySelectorAll("input[type=search]")], select = byId("cluster");
  const kept = [...document.querySelectorAll("select.kept")], marks = [...document.querySelectorAll("input[type=checkbox]")];
  const picked = () => [...document.querySelectorAll("input[type=radio]:checked")].filter((box) => !box.defaultChecked);
  const opensAt = view.at, title = document.title;
  let timer = null, scrolled = 0, known = location.hash;

  function stateNow() {
    const state = new URLSearchParams(), { from, to } = view.compared;
    if (view.entity) state.set(view.entity.kind, view.entity.name);
    if (view.at !== opensAt) state.set("at", iso(view.at));
    if (view.cluster !== null) state.set("cluster", clusterName(DATA.clusters[view.cluster]));
    if (from !== began || to !== ended) for (const [end, time] of [["from", from], ["to", to]]) state.set(end, iso(time));
    for (const box of searches) if (box.value) state.set(box.id, box.value);
    for (const box of picked()) state.set(box.name, box.value);
    for (const box of kept) if (box.selectedIndex > 0) state.set(box.id, box.value);
    for (const box of marks) if (box.checked) state.set(box.id, "yes");
    return state;
  }
  function write() {
    clearTimeout(timer);
    timer = null;
    if (location.hash !== known) return; // another address was followed, and its event comes
    const state = stateNow();
    history.replaceState(null, "", state.size ? `#${state}` : location.href.split("#")[0]);
    known = location.hash;
  }

  // An option that is not there changes nothing; without a word it is the first one.
  function choose(box, value) {
    const index = value === null ? 0 : [...box.options].findIndex((option) => option.value === value);
    if (index < 0 || index === box.selectedIndex) return;
    box.selectedIndex = index;
    box.dispatchEvent(new Event("change", { bubbles: true }));
  }

  function lookAt(entity) {
    if (!view.entity && entity) {
      scrolled = scrollY;
      view.whole = String(stateNow());
    }
    const moved = JSON.stringify(entity) !== JSON.stringify(view.entity), back = view.entity && !entity;
    view.entity = entity;
    byId("entity").hidden = !entity;
    document.body.classList.toggle("one", Boolean(entity));
    document.title = entity ? `${shortened(visible(entity.name))} · ${title}` : title;
    if (!moved) return;
    redraw();
    if (entity) byId("entity-name").focus({ preventScroll: true });
    const place = { top: back ? scrolled : 0, behavior: "instant" };
    scrollTo(place);
    if (back) whenDrawn(() => scrollTo(place));
  }

  // A link within the page, such as #topics, says nothing of the state. One to a principal or topic begins without searches.
  function read() {
    known = location.hash;
    const state = new URLSearchParams(location.hash.includes("=") ? location.hash.slice(1) : "");
    const kind = Object.keys(KINDS).find((name) => state.has(name));
    lookAt(kind ? { kind, name: state.get(kind) } : null);
    if (!state.size) return;
    const time = Date.parse(state.get("at"));
    if (!Number.isNaN(time)) go(time);
    const dates = ["from", "to"].map((end) => Date.parse(state.get(end)));
    if (!dates.some(Number.isNaN)) compareDates({ from: dates[0], to: dates[1] });
    else if (!kind) compareDates({ from: began, to: ended });
    const cluster = DATA.clusters.findIndex((name) => clusterName(name) === state.get("cluster"));
    if (cluster >= 0) {
      select.value = cluster;
      select.dispatchEvent(new Event("change"));
    }
    for (const box of kept.toReversed()) choose(box, state.get(box.id));
    for (const box of marks) if (box.checked !== state.has(box.id)) box.click();
    for (const box of searches) {
      if (box.value === (state.get(box.id) ?? "")) continue;
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
  // Before a link is followed, the address has the state that Back returns to.
  document.addEventListener("click", ({ target }) => { if (timer !== null && target.closest?.("a.to, #entity-back")) write(); }, true);
  addEventListener("hashchange", () => { read(); later(); });
  history.scrollRestoration = "manual";
  read();
  if (/[#&]from=/.test(location.hash) && !view.entity) whenDrawn(() => bringUp(byId("compare")));
}
