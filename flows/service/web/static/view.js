"use strict";
// Arrows turn pages, + and - change the size, also of the page that stands beside an answer; all of it is links, too.
const turns = { ArrowLeft: "[rel=prev]", ArrowRight: "[rel=next]", "+": ".sizes [aria-current] + a", "-": ".sizes a:has(+ [aria-current])" };
addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest?.("[tabindex], summary")) return;
  const view = document.querySelector("iframe")?.contentDocument ?? document;
  const link = turns[event.key] && view.querySelector(turns[event.key]);
  if (!link) return;
  event.preventDefault();
  link.click();
});

// A fragment would scroll the page that this one stands in, too.
const lit = document.querySelector(".framed .lit, .framed mark, .framed tr.cited"), sheet = document.querySelector(".sheet-scroll");
if (lit) {
  const { top, left } = lit.getBoundingClientRect();
  scrollTo(0, top - innerHeight / 3);
  sheet?.scrollTo(left - innerWidth / 3, 0);
}
if (parent !== window) document.querySelector(".alone")?.remove();
