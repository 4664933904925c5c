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
