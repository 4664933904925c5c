"use strict";
// Files are sent one after another; each becomes an ingest, with a bar until its documents are there.
const upload = document.getElementById("upload"), choosing = upload.querySelector("form"), list = upload.querySelector(".reading-in");
const WATCH_MILLISECONDS = 700;
const later = (milliseconds) => new Promise((done) => { setTimeout(done, milliseconds); });
const parsed = (text) => { try { return JSON.parse(text); } catch { return { error: GONE }; } };

function row(name) {
  const line = document.createElement("li"), bar = document.createElement("progress"), words = document.createElement("span");
  const cancel = document.createElement("button");
  const title = document.createElement("bdi");
  title.textContent = bar.ariaLabel = name;
  cancel.type = "button";
  cancel.textContent = "Cancel";
  line.append(title, bar, words, cancel);
  list.append(line);
  return { name, bar, words, cancel };
}

function send(file, address, shown) {
  return new Promise((done) => {
    const request = new XMLHttpRequest();
    request.open("PUT", `${address}/uploads/${encodeURIComponent(file.name)}`);
    request.upload.onprogress = ({ loaded, total }) => { shown.bar.value = loaded / total; };
    request.onload = () => done(parsed(request.responseText));
    request.onerror = () => done({ error: GONE });
    request.onabort = () => done({ error: { what: "cancelled", remedy: "" } });
    shown.words.textContent = "sending …";
    shown.cancel.onclick = () => request.abort();
    request.send(file);
  });
}

async function asJson(address, options) {
  try { return await (await fetch(address, options)).json(); } catch { return { error: GONE }; }
}

function outcome({ name, state, reason }, file) {
  const same = name === file ? "" : ` as the same document as ${name}`;
  return [state.replace("_", " ") + same, reason].filter(Boolean).join(": ");
}

async function watch(ingest, address, shown, corpus) {
  const path = `${address}/ingests/${ingest.id}`;
  shown.cancel.onclick = () => { shown.cancel.disabled = true; asJson(path, { method: "DELETE" }); };
  while (!ingest.error && ["waiting", "at work"].includes(ingest.state)) {
    if (ingest.documents) shown.bar.value = ingest.done / ingest.documents;
    else shown.bar.removeAttribute("value");
    shown.words.textContent = ingest.state === "waiting" ? "waiting …" : "reading …";
    await later(WATCH_MILLISECONDS);
    ingest = await asJson(path);
  }
  shown.bar.remove();
  shown.cancel.remove();
  const documents = ingest.result?.documents ?? [];
  shown.words.textContent = ingest.error ? [ingest.error.what, ingest.error.remedy].filter(Boolean).join("; ")
    : documents.map((document) => outcome(document, shown.name)).join(", ") || ingest.state;
  await refresh(corpus);
}

async function refresh(corpus) {
  const address = `${HERE}/?corpus=${encodeURIComponent(corpus)}`;
  const reply = await fetch(address).catch(() => null);
  if (!reply?.ok) return;
  if (!document.getElementById("ask")) return location.assign(address);
  const fresh = new DOMParser().parseFromString(await reply.text(), "text/html").getElementById("documents");
  const old = document.getElementById("documents"), ticked = [...old.querySelectorAll(":checked")].map(({ value }) => value);
  if (!fresh) return;
  old.replaceWith(fresh);
  for (const tick of fresh.querySelectorAll("[name=documents]")) tick.checked = ticked.includes(tick.value);
  fresh.querySelector("#find")?.removeAttribute("hidden");
}

async function take(files) {
  const { corpus } = Object.fromEntries(new FormData(choosing));
  const address = `${HERE}/api/v1/corpora/${encodeURIComponent(corpus)}`, watched = [];
  for (const [file, shown] of [...files].map((file) => [file, row(file.name)])) {
    watched.push(watch(await send(file, address, shown), address, shown, corpus));
  }
  await Promise.all(watched);
}

upload.hidden = false;
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
