"use strict";
// Arrows turn pages, + and - change the size; all of it is links, too.
const turns = { ArrowLeft: "[rel=prev]", ArrowRight: "[rel=next]", "+": ".sizes [aria-current] + a", "-": ".sizes a:has(+ [aria-current])" };
addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const link = turns[event.key] && document.querySelector(turns[event.key]);
  if (!link) return;
  event.preventDefault();
  link.click();
});

// A fragment would scroll the page that this one stands in, too.
const lit = document.querySelector(".lit, mark, tr.cited"), sheet = document.querySelector(".sheet-scroll");
if (lit) {
  const { top, left } = lit.getBoundingClientRect();
  scrollTo(0, top - innerHeight / 3);
  sheet?.scrollTo(left - innerWidth / 3, 0);
}
