startTips();
showFilters();
rangeView("view-delta", "r_delta", "Ranges of gains", [
  el("i", {}, "R"),
  el("sup", {}, "Δ"),
  ": the largest minus the smallest gain of the groups of a category, in ROUGE-L points. By chance alone it is above 0; the mark says how much.",
]);
evenView();
rangeView("view-rag", "r_rag", "Ranges of accuracy with RAG", [
  el("i", {}, "R"),
  el("sup", {}, "rag"),
  ": the best minus the worst served group of a category with RAG, in ROUGE-L points.",
]);
unevennessView();
gapView();
correlationView();
queryLevelView();
queryCorrelationView();
startLookup();
redraw();
narrow.addEventListener("change", redraw);
openFromAddress();
document.documentElement.classList.add("ready");
