"use strict";
// Arrows turn pages, + and - change the size, also of the page that stands beside an answer; all of it is links, too.
const turns = { ArrowLeft: "[rel=prev]", ArrowRight: "[rel=next]", "+": ".sizes [aria-current] + a", "-": ".sizes a:has(+ [aria-current])" };
addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest?.("summary, input, textarea, select, dialog")) return;
  const wide = event.target.closest?.("[tabindex]");
  if (wide && wide.scrollWidth > wide.clientWidth) return;
  const view = document.querySelector("iframe")?.contentDocument ?? document;
  const link = turns[event.key] && view.querySelector(turns[event.key]);
  if (!link) return;
  event.preventDefault();
  link.click();
});

// A fragment would scroll the page that this one stands in, too.
const lit = document.querySelector(".framed .lit") ?? document.querySelector(".framed .cited"), sheet = document.querySelector(".sheet-scroll");
if (lit) {
  const { top, left } = lit.getBoundingClientRect();
  scrollTo(0, top - innerHeight / 3);
  sheet?.scrollTo(left - innerWidth / 3, 0);
}

// The next page follows below, once the end of this one is seen; what is in view has its own row of links above.
const bars = new Map(), last = () => [...document.querySelectorAll(".leaf-of")].at(-1);
const inView = new IntersectionObserver((entries) => {
  for (const { target, isIntersecting } of entries) if (isIntersecting) document.querySelector(".turning").replaceWith(bars.get(target));
}, { rootMargin: "-50% 0px -50% 0px" });
const atEnd = new IntersectionObserver(async ([{ isIntersecting, target }]) => {
  const next = bars.get(target).querySelector("[rel=next]");
  if (!isIntersecting || !next) return;
  atEnd.disconnect();
  const reply = await fetch(location.origin + next.getAttribute("href")).catch(() => null);
  if (!reply?.ok) return;
  const page = new DOMParser().parseFromString(await reply.text(), "text/html");
  target.after(page.querySelector(".leaf-of"));
  begin(last(), page.querySelector(".turning"));
}, { rootMargin: "0px 0px 50% 0px", threshold: [0, 0.5, 1] });
function begin(leaf, bar) {
  bars.set(leaf, bar);
  if (parent !== window) bar.querySelector(".alone")?.remove();
  inView.observe(leaf);
  atEnd.observe(leaf);
}
if (document.querySelector(".leaf-of")) begin(last(), document.querySelector(".turning"));
