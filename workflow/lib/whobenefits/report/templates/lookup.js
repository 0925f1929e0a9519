// Any query: its prompts, documents, answers and scores. What the page does not carry is loaded from files beside it.
const whobenefits = { records: new Map(), waiting: new Map() };
globalThis.whobenefits = whobenefits;
const recordKey = (topic, query) => `${topic}\n${query}`;
whobenefits.receive = (record) => {
  const key = recordKey(record.topic, record.query);
  whobenefits.records.set(key, record);
  const waiting = whobenefits.waiting.get(key);
  if (waiting) waiting();
};
for (const record of data("queries")) whobenefits.receive(record);
const LIST = data("query-list");
const query = { row: null, task: "", llm: "", retriever: "" };
const MOST = 60;

function load(row, done, failed) {
  const key = recordKey(row.topic, row.query);
  if (whobenefits.records.has(key)) return done(whobenefits.records.get(key));
  whobenefits.waiting.set(key, () => {
    whobenefits.waiting.delete(key);
    done(whobenefits.records.get(key));
  });
  document.head.append(el("script", { src: `queries/${row.file}`, onerror: failed }));
}
const pickedTask = () => chosen.task || query.task || places("task")[0];
const pickedLlm = () => chosen.llm || query.llm || places("llm")[0];
const pickedRetriever = () => chosen.retriever || query.retriever || places("retriever")[0];
const score = (row, retriever) => row.values[[pickedTask(), pickedLlm(), retriever].join(" ")];

function drawList() {
  const wanted = byId("query-search").value.trim().toLowerCase();
  const kept = LIST.filter(
    (row) =>
      (!chosen.topic || row.topic === chosen.topic) &&
      (row.title.toLowerCase().includes(wanted) || row.query.toLowerCase().includes(wanted)),
  );
  const lines = kept.slice(0, MOST).map((row) => {
    const alone = score(row, "none"),
      rag = score(row, pickedRetriever());
    const text = known(alone) && known(rag) ? `${number(alone * 100)} → ${number(rag * 100)}` : UNDEFINED;
    const current = query.row === row;
    return el(
      "li",
      {},
      el(
        "button",
        { type: "button", "aria-current": current ? "true" : null, onclick: () => openQuery(row) },
        el("bdi", {}, row.title),
        el("small", {}, (varies("topic") ? `${label("topic", row.topic)} · ` : "") + text),
      ),
    );
  });
  byId("query-count").textContent =
    `${kept.length} of ${LIST.length} queries` +
    (kept.length > MOST ? `, the first ${MOST} shown: search to narrow` : "") +
    `. Accuracy: LLM alone → ${label("retriever", pickedRetriever())} (${label("task", pickedTask())}, ${label("llm", pickedLlm())}).`;
  byId("query-list-shown").replaceChildren(...lines);
}
function openQuery(row) {
  query.row = row;
  history.replaceState(null, "", `#query=${encodeURIComponent(row.topic)}/${encodeURIComponent(row.query)}`);
  byId("query-detail").replaceChildren(el("p", {}, "Loading …"));
  drawList();
  const missing = el(
    "p",
    { class: "none" },
    `This page carries ${whobenefits.records.size} of ${LIST.length} queries; the record of this one is in the file queries/${row.file}, which should lie beside the page and cannot be read. Keep the folder "queries" beside index.html.`,
  );
  load(
    row,
    (record) => query.row === row && showRecord(row, record),
    () => query.row === row && byId("query-detail").replaceChildren(missing),
  );
}
function drawLookup() {
  drawList();
  if (query.row) openQuery(query.row);
}
function openFromAddress() {
  const match = /^#query=([^/]*)\/(.*)$/.exec(location.hash);
  if (!match) return;
  const [topic, name] = match.slice(1).map(decodeURIComponent);
  const row = LIST.find((one) => one.topic === topic && one.query === name);
  if (row) {
    openQuery(row);
    byId("lookup").scrollIntoView();
  }
}
function startLookup() {
  byId("query-search").addEventListener("input", drawList);
  window.addEventListener("hashchange", openFromAddress);
  redraws.push(drawLookup);
}
