// The bar of filters, which holds for every figure and table of the page.
const chosen = Object.fromEntries(KINDS.map((kind) => [kind, ""]));
const redraws = [];
// Rows of the LLM alone belong to every retriever.
const passes = (row) =>
  KINDS.every((kind) => !chosen[kind] || !(kind in row) || row[kind] === chosen[kind] || row[kind] === "none");
const varies = (kind) => !chosen[kind] && places(kind).length > 1;

function chooser(kind) {
  const options = places(kind).map((name) => el("option", { value: name }, label(kind, name)));
  const pick = el("select", { id: `filter-${kind}`, onchange: (event) => choose(kind, event.target.value) });
  pick.append(el("option", { value: "" }, options.length > 1 ? "all" : label(kind, places(kind)[0])));
  if (options.length > 1) pick.append(...options);
  return el("label", {}, el("span", {}, HEADS[kind]), pick);
}
function choose(kind, name) {
  chosen[kind] = name;
  byId(`filter-${kind}`).value = name;
  redraw();
}
function redraw() {
  hideTip();
  for (const draw of redraws) draw();
  const parts = KINDS.filter((kind) => chosen[kind]).map((kind) => label(kind, chosen[kind]));
  byId("shown").textContent = parts.length ? `Shown: ${parts.join(", ")}` : "Shown: everything";
}
function showFilters() {
  const reset = () => {
    for (const kind of KINDS) chosen[kind] = byId(`filter-${kind}`).value = "";
    redraw();
  };
  byId("filters").append(
    ...KINDS.map(chooser),
    el("button", { type: "button", id: "reset", onclick: reset }, "Show all"),
    el("span", { id: "shown", role: "status" }),
  );
}

// One tip for whatever has a text in data-tip, by pointer, touch or keyboard.
const tip = el("div", { id: "tip", role: "tooltip", hidden: true });
function hideTip() {
  tip.hidden = true;
}
function showTip(event) {
  const target = event.target.closest && event.target.closest("[data-tip]");
  if (!target) return hideTip();
  tip.textContent = target.getAttribute("data-tip");
  tip.hidden = false;
  const box = target.getBoundingClientRect();
  const x = event.clientX === undefined ? box.left : event.clientX;
  const y = event.type === "focusin" ? box.bottom : event.clientY;
  const left = Math.max(4, Math.min(x + 12, document.documentElement.clientWidth - tip.offsetWidth - 4));
  const below = y + 16 + tip.offsetHeight < window.innerHeight;
  tip.style.left = `${left}px`;
  tip.style.top = `${below ? y + 16 : Math.max(4, y - tip.offsetHeight - 10)}px`;
}
function startTips() {
  document.body.append(tip);
  for (const name of ["pointerover", "pointermove", "focusin", "click"]) document.addEventListener(name, showTip);
  document.addEventListener("keydown", (event) => event.key === "Escape" && hideTip());
  document.addEventListener("scroll", hideTip, true);
}
