"use strict";
// The form without this script asks, too; with it the page tells how the question goes. What comes is shown as text, never as markup.
const form = document.getElementById("ask"), stop = document.getElementById("stop");
const stage = document.getElementById("stage"), draft = document.getElementById("draft"), error = document.getElementById("error");

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
  answer: ({ answer_id, corpus }) => { location.assign(`/answers/${answer_id}/report?corpus=${encodeURIComponent(corpus)}`); },
};

async function* eventsOf(reply) {
  let rest = "";
  for await (const piece of reply.body.pipeThrough(new TextDecoderStream())) {
    const blocks = (rest + piece).split("\n\n");
    rest = blocks.pop();
    for (const block of blocks) {
      const fields = Object.fromEntries(block.split("\n").filter((line) => !line.startsWith(":")).map((line) => line.split(/: (.*)/s)));
      if (fields.event) yield [fields.event, JSON.parse(fields.data)];
    }
  }
}

async function ask(event) {
  event.preventDefault();
  const { corpus, question, reader, by } = Object.fromEntries(new FormData(form)), waiting = new AbortController();
  const settings = by ? { reading: { by } } : {}, button = form.querySelector("button:not([type])");
  stage.textContent = "asking …";
  error.hidden = draft.hidden = true;
  button.disabled = true;
  stop.hidden = false;
  stop.onclick = () => waiting.abort();
  try {
    const body = JSON.stringify({ questions: [question], corpus, reader, settings });
    const reply = await fetch("/ask/stream", { method: "POST", headers: { "Content-Type": "application/json" }, body, signal: waiting.signal });
    if (!reply.ok) refuse((await reply.json()).error);
    else for await (const [name, value] of eventsOf(reply)) hear[name]?.(value);
  } catch (problem) {
    if (!waiting.signal.aborted) refuse({ what: "The query service does not answer any more.", remedy: "Start it again, then ask again." });
    else refuse({ what: "Nobody waits for the answer now.", remedy: "It is kept when it comes: load this page again." });
  }
  stage.textContent = "";
  button.disabled = false;
  stop.hidden = true;
}

form?.addEventListener("submit", ask);
