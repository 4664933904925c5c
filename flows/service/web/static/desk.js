"use strict";
// Keys, the search among documents, and the page that stands beside the answer: without this script all of it is links and forms.
const proof = document.getElementById("proof"), frame = proof.querySelector("iframe"), box = document.querySelector("#ask textarea");
const keys = document.getElementById("keys"), calm = matchMedia("(prefers-reduced-motion: reduce)");
const isShown = (element) => getComputedStyle(element).display !== "none";
const cited = [...document.querySelectorAll("#talk .citations a.number")];
let walked = -1;

function walk(step) {
  const next = cited[Math.min(Math.max(walked + step, 0), cited.length - 1)];
  next?.focus();
  next?.click();
}

const does = { "/": () => { box?.focus(); }, "?": () => keys.showModal(), j: () => walk(1), k: () => walk(-1) };
function press(event) {
  if (event.key === "Enter" && !event.shiftKey && !event.isComposing && event.target === box) {
    event.preventDefault();
    return box.form.requestSubmit();
  }
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest?.("input, textarea, select, dialog") || !does[event.key]) return;
  event.preventDefault();
  does[event.key]();
}

// The page keeps its size. On a narrow screen it is a place of its own: whatever opens it goes there.
addEventListener("click", (event) => {
  const link = event.target.closest("a[target=page]");
  if (!link || !frame || event.ctrlKey || event.metaKey || event.shiftKey) return;
  walked = cited.findIndex(({ href }) => href === link.href);
  event.preventDefault();
  const page = new URL(link.href), zoom = new URLSearchParams(frame.contentWindow.location.search).get("zoom");
  if (zoom) page.searchParams.set("zoom", zoom);
  if (isShown(proof)) return frame.contentWindow.location.assign(page);
  frame.contentWindow.location.replace(page);
  location.hash = "proof";
});
// One form removes any document; without this script the document's own page has it.
addEventListener("click", (event) => {
  const link = event.target.closest("a.remove"), form = document.querySelector("#removal form");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  form.action = link.href.replace(/\?(.*)#.*/, "/remove?$1");
  form.querySelector("bdi").textContent = link.closest("li").querySelector(".title").textContent;
  form.parentElement.showModal();
});
// What is heard here is heard there: of each page that is opened beside, and of one that was there before this script.
function hearBeside(name, hear) {
  addEventListener(name, hear);
  const listen = () => frame.contentWindow.addEventListener(name, hear);
  frame?.addEventListener("load", listen);
  if (frame?.contentDocument?.readyState === "complete") listen();
}
hearBeside("keydown", press);
frame?.addEventListener("load", () => { if (!calm.matches) frame.animate([{ opacity: 0.25 }, { opacity: 1 }], 350); });

// Ticks stand in another place than the question that they limit; a browser that comes back has kept them.
function showTicks() {
  const only = document.getElementById("only"), ticked = document.querySelectorAll(".shelf :checked").length;
  if (only) only.textContent = ticked ? `Only of ${ticked} ticked` : "";
}
addEventListener("change", showTicks);
addEventListener("pageshow", showTicks);
document.getElementById("find")?.removeAttribute("hidden");
addEventListener("input", ({ target }) => {
  if (target.id !== "find") return;
  const words = target.value.toLowerCase().split(/\s+/);
  for (const line of document.querySelectorAll(".shelf > li")) {
    const name = line.querySelector(".title").textContent.toLowerCase();
    line.hidden = !words.every((word) => name.includes(word));
  }
});

const copy = document.getElementById("copy");
if (copy && navigator.clipboard) {
  copy.textContent = "Copy Markdown";
  copy.addEventListener("click", async (event) => {
    event.preventDefault();
    const reply = await fetch(location.origin + copy.getAttribute("href")).catch(() => null);
    if (!reply?.ok) return location.assign(copy.href);
    await navigator.clipboard.writeText(await reply.text());
    copy.textContent = "Copied";
    setTimeout(() => { copy.textContent = "Copy Markdown"; }, 2000);
  });
}
