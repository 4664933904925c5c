"use strict";
// Files are sent one after another; each becomes an ingest. A line with `data-ingest`, here or on the shelf, shows how far that is.
const choosing = document.querySelector(".upload"), list = document.querySelector(".reading-in");
const corpus = encodeURIComponent(choosing.elements.corpus.value), address = `${HERE}/api/v1/corpora/${corpus}`;
const WATCH_MILLISECONDS = 700;
const later = (milliseconds) => new Promise((done) => { setTimeout(done, milliseconds); });
const parsed = (text) => { try { return JSON.parse(text); } catch { return { error: GONE }; } };

function addLine(name) {
  const line = document.createElement("li"), title = document.createElement("bdi"), words = document.createElement("span");
  const bar = document.createElement("progress");
  title.textContent = bar.ariaLabel = name;
  words.className = "now";
  words.role = "status";
  line.append(title, bar, words);
  list.append(line);
  return line;
}

function cancelBy(line, stop) {
  const button = line.querySelector("button") ?? line.appendChild(document.createElement("button"));
  const name = line.querySelector("progress").ariaLabel;
  Object.assign(button, { type: "button", textContent: "Cancel", ariaLabel: `Cancel ${name}`, onclick: () => { button.disabled = true; stop(); } });
}

function send(file, line) {
  return new Promise((done) => {
    const request = new XMLHttpRequest();
    request.open("PUT", `${address}/uploads/${encodeURIComponent(file.name)}`);
    request.upload.onprogress = ({ loaded, total }) => { line.querySelector("progress").value = loaded / total; };
    request.onload = () => done(parsed(request.responseText));
    request.onerror = () => done({ error: GONE });
    request.onabort = () => done({ error: { what: "cancelled", remedy: "" } });
    line.querySelector(".now").textContent = "sending …";
    cancelBy(line, () => request.abort());
    request.send(file);
  });
}

async function asJson(path, options) {
  try { return await (await fetch(path, options)).json(); } catch { return { error: GONE }; }
}

function outcome({ name, state }, file) {
  return state.replace("_", " ") + (name === file ? "" : ` as the same document as ${name}`);
}

// Say how far it is, and whether it goes on.
function show(line, { state, words, page, pages, error, result }) {
  const bar = line.querySelector("progress"), told = line.querySelector(".now");
  if (["waiting", "at work"].includes(state)) {
    if (pages) Object.assign(bar, { max: pages, value: page });
    else bar.removeAttribute("value");
    if (told.textContent !== words) told.textContent = words;
    return true;
  }
  told.textContent = error ? [error.what, error.remedy].filter(Boolean).join("; ")
    : result?.documents.map((document) => outcome(document, bar.ariaLabel)).join(", ") || state;
  delete line.dataset.ingest;
  bar.remove();
  line.querySelector("button").remove();
  return false;
}

function follow(line, id) {
  line.dataset.ingest = id;
  cancelBy(line, () => asJson(`${address}/ingests/${id}`, { method: "DELETE" }));
}

const awaited = () => [...document.querySelectorAll("[data-ingest]")];
let watching = false;
async function watch() {
  if (watching) return;
  watching = true;
  for (let lines = awaited(); lines.length; lines = awaited()) {
    const { ingests = [], error = GONE } = await asJson(`${address}/ingests`);
    const going = lines.map((line) => show(line, ingests.find(({ id }) => id === line.dataset.ingest) ?? { error }));
    if (going.includes(false)) await refresh();
    await later(WATCH_MILLISECONDS);
  }
  watching = false;
}

function begin() {
  for (const line of awaited()) follow(line, line.dataset.ingest);
  watch();
}

async function refresh() {
  const reply = await fetch(`${HERE}/?corpus=${corpus}`).catch(() => null);
  if (!reply?.ok) return;
  if (!document.getElementById("ask")) return location.reload();
  put(new DOMParser().parseFromString(await reply.text(), "text/html").getElementById("documents"));
}

// The shelf as it is now; a row where somebody is at work stays.
function put(fresh) {
  const old = document.getElementById("documents"), ticked = [...old.querySelectorAll(":checked")].map(({ value }) => value);
  for (const row of old.querySelectorAll(".shelf > li")) {
    if (row.querySelector("[type=password]:focus")) fresh.querySelector(`[id="${row.id}"]`)?.replaceWith(row);
  }
  old.replaceWith(fresh);
  for (const tick of fresh.querySelectorAll("[name=documents]")) tick.checked = ticked.includes(tick.value);
  fresh.querySelector("#find")?.removeAttribute("hidden");
  begin();
}

async function take(files) {
  choosing.scrollIntoView({ block: "nearest" });
  for (const [file, line] of [...files].map((file) => [file, addLine(file.name)])) {
    const ingest = await send(file, line);
    if (ingest.error) show(line, ingest);
    else { follow(line, ingest.id); watch(); }
  }
}

choosing.hidden = false;
begin();
choosing.addEventListener("submit", (event) => event.preventDefault());
choosing.elements.files.addEventListener("change", ({ target }) => { take(target.files); });
// A file is taken wherever it falls, also on the page beside: a browser would leave ours for it.
function catchFiles(event) {
  if (!event.dataTransfer.types.includes("Files")) return;
  event.preventDefault();
  choosing.classList.toggle("over", event.type === "dragover");
  if (event.type !== "drop") return;
  location.hash = "library";
  take(event.dataTransfer.files);
}
for (const name of ["dragover", "dragleave", "drop"]) hearBeside(name, catchFiles);

// A document is read again without leaving the question beside it.
addEventListener("submit", async (event) => {
  const form = event.target;
  if (!form.matches(".shelf .again")) return;
  event.preventDefault();
  form.querySelector("button").disabled = true;
  const body = new URLSearchParams(new FormData(form));
  const reply = await fetch(HERE + form.getAttribute("action"), { method: "POST", body, headers: { Accept: "text/html" } }).catch(() => null);
  const page = new DOMParser().parseFromString((await reply?.text()) ?? "", "text/html"), shelf = page.getElementById("documents");
  if (shelf) {
    form.closest("li").removeAttribute("id");
    return put(shelf);
  }
  const said = [...page.querySelectorAll("main h1, main .lead")].map(({ textContent }) => textContent);
  form.previousElementSibling.textContent = said.join("; ") || GONE.what;
  form.querySelector("button").disabled = false;
});
