"use strict";
// The form works without this script, too; with it the page shows progress. Replies are shown as text, never as markup.
const form = document.getElementById("ask"), stop = document.getElementById("stop");
const stage = document.getElementById("stage"), draft = document.getElementById("draft"), error = document.getElementById("error");
// If the page's address has a user name, so has a bare path, and browsers refuse to fetch it.
const HERE = location.origin;
const GONE = { what: "The query service no longer answers.", remedy: "Start it again, then try again." };

function refuse({ what, remedy }) {
  const [problem, help] = error.children;
  problem.textContent = what;
  help.textContent = remedy;
  error.hidden = false;
}

const hear = {
  stage: ({ words }) => { stage.textContent = `${words} …`; },
  draft: ({ text }) => { draft.textContent = text; draft.hidden = false; },
  withdrawn: () => { draft.hidden = true; },
  error: refuse,
  answer: ({ answer_id, corpus }) => { location.assign(`/answers/${answer_id}?corpus=${encodeURIComponent(corpus)}`); },
};

async function* eventsOf(reply) {
  const reader = reply.body.getReader(), decoder = new TextDecoder();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const blocks = (rest + decoder.decode(value, { stream: true })).split("\n\n");
    rest = blocks.pop();
    for (const block of blocks) {
      const fields = Object.fromEntries(block.split("\n").filter((line) => !line.startsWith(":")).map((line) => line.split(/: (.*)/s)));
      if (fields.event) yield [fields.event, JSON.parse(fields.data)];
    }
  }
}

async function ask(event) {
  event.preventDefault();
  const { corpus, question, reader, pages, by, follow } = Object.fromEntries(new FormData(form));
  const documents = new FormData(form).getAll("documents");
  const settings = { ...(by && { reading: { by } }), ...(pages && reader === "flow" && { pages_per_answer: Number(pages) }) };
  const button = form.querySelector("button:not([type])");
  stage.textContent = "asking …";
  error.hidden = draft.hidden = true;
  button.disabled = true;
  try {
    const body = JSON.stringify({ questions: [question], corpus, reader, settings, documents, ...(follow && { follow }) });
    const reply = await fetch(`${HERE}/ask/stream`, { method: "POST", headers: { "Content-Type": "application/json" }, body });
    stop.onclick = () => { stop.disabled = true; fetch(`${HERE}${reply.headers.get("Location")}`, { method: "DELETE" }).catch(() => refuse(GONE)); };
    stop.disabled = false;
    stop.hidden = !reply.ok;
    if (!reply.ok) refuse((await reply.json()).error);
    else for await (const [name, value] of eventsOf(reply)) hear[name]?.(value);
  } catch {
    refuse(GONE);
  }
  stage.textContent = "";
  button.disabled = false;
  stop.hidden = true;
}

form?.addEventListener("submit", ask);
