"use strict";
// Keys, the search among documents, and the page that stands beside the answer: without this script all of it is links and forms.
const proof = document.getElementById("proof"), frame = proof.querySelector("iframe"), box = document.querySelector("#ask textarea");
const keys = document.getElementById("keys"), calm = matchMedia("(prefers-reduced-motion: reduce)");
const isShown = (element) => getComputedStyle(element).display !== "none";
let walked = -1;

function walk(step) {
  const cited = [...document.querySelectorAll("#talk .citations a.number")];
  if (!cited.length) return;
  walked = Math.min(Math.max(walked + step, 0), cited.length - 1);
  cited[walked].focus();
  cited[walked].click();
}

const does = { "/": () => { box?.focus(); }, "?": () => keys.showModal(), j: () => walk(1), k: () => walk(-1) };
addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && event.target === box) return box.form.requestSubmit();
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, textarea, select, dialog") || !does[event.key]) return;
  event.preventDefault();
  does[event.key]();
});

// On a narrow screen the page is a place of its own: whatever opens it goes there.
addEventListener("click", ({ target }) => {
  if (target.closest("a[target=page]") && !isShown(proof)) location.hash = "proof";
});
frame?.addEventListener("load", () => {
  frame.contentDocument?.addEventListener("keydown", ({ key }) => { if (key === "/" || key === "?") does[key](); });
  if (!calm.matches) frame.animate([{ opacity: 0.25 }, { opacity: 1 }], 350);
});

const find = document.getElementById("find");
if (find) {
  find.hidden = false;
  find.addEventListener("input", () => {
    const words = find.value.toLowerCase().split(/\s+/);
    for (const line of document.querySelectorAll(".shelf > li")) {
      const name = line.querySelector(".title").textContent.toLowerCase();
      line.hidden = !words.every((word) => name.includes(word));
    }
  });
}

const copy = document.getElementById("copy");
if (copy && navigator.clipboard) {
  copy.textContent = "Copy as Markdown";
  copy.addEventListener("click", async (event) => {
    event.preventDefault();
    await navigator.clipboard.writeText(await (await fetch(copy.href)).text());
    copy.textContent = "Copied";
  });
}
