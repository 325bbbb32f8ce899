// Keys and live events; every page works without them.
"use strict";

document.documentElement.classList.add("scripted");
const inField = (target) => target.closest("input:not([type=hidden]), textarea, select") !== null;

// A button with data-key is pressed by that key; j and k go through the items of a list.
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || inField(event.target)) return;
  const pressed = document.querySelector(`[data-key="${CSS.escape(event.key.toLowerCase())}"]`);
  if (pressed) {
    event.preventDefault();
    pressed.click();
    return;
  }
  const step = { j: 1, k: -1 }[event.key];
  const links = [...document.querySelectorAll("ol.items > li > a, ol.items > li a.item")];
  if (step && links.length) {
    const at = links.indexOf(document.activeElement);
    links[Math.min(Math.max(at + step, 0), links.length - 1)].focus();
  }
});

// Times are told as ages, however they came into the page; the exact one is on hover.
const units = { d: 86_400, h: 3_600, min: 60 };
const tellAges = () => {
  for (const time of document.querySelectorAll("time")) {
    const age = (Date.now() - Date.parse(time.dateTime)) / 1000;
    const unit = Object.keys(units).find((name) => age >= units[name]);
    const told = unit ? `${Math.floor(age / units[unit])} ${unit} ago` : age >= 0 ? "just now" : time.title;
    if (time.textContent !== told) time.textContent = told;
  }
};
tellAges();
setInterval(tellAges, 30_000);
new MutationObserver(tellAges).observe(document.getElementById("main"), { childList: true, subtree: true });

// A part that takes long to read comes behind its page, for those who stay on it.
const fetchPart = async (link) => {
  const page = new DOMParser().parseFromString(await (await fetch(link.href)).text(), "text/html");
  const part = page.getElementById(link.dataset.part);
  if (part) document.getElementById(link.dataset.part).replaceChildren(...part.childNodes);
};
setTimeout(() => document.querySelectorAll("a[data-soon]").forEach(fetchPart), 400);

// The new lines of a long text are in sight.
for (const line of document.querySelectorAll(".diff .added:not(.added + .added)")) line.parentElement.scrollTop = line.offsetTop - 100;

document.addEventListener("click", (event) => {
  const copied = event.target.closest("[data-copy]");
  const part = event.target.closest("a[data-part]");
  if (part) {
    event.preventDefault();
    fetchPart(part);
  }
  if (copied) navigator.clipboard.writeText(copied.dataset.copy).then(() => (copied.textContent = "Copied"));
});

// What was sent once is not sent again by a second click; whoever comes back can.
const enable = (is) => document.querySelectorAll("form[method=post] button").forEach((one) => (one.disabled = !is));
document.addEventListener("submit", (event) => event.target.method === "post" && setTimeout(enable, 0, false));
window.addEventListener("pageshow", () => enable(true));

// The events of a run that goes on; what a finished iteration did, and the answer, take their place in the page.
const events = document.getElementById("events");
if (events) {
  const source = new EventSource(events.dataset.events);
  const phases = {
    created: "asked", working: "a worker has begun", planned: "the plan is made", turned: "it turned to another way",
    paused: "paused", resumed: "it goes on", stopping: "it is being stopped", signal: "something was wrong; it is being mended",
  };
  const told = {
    phase: (data) => phases[data.phase] ?? `${data.phase} ${data.iteration ?? data.number} is done`,
    query: (data) => `searched: ${data.query} (${data.results} found)`,
    source: (data) => `read: [${data.number}] ${data.title}`,
    finding: (data) => `found: ${data.tag} ${data.text}`,
    usage: (data) => `spent: ${data.tokens} tokens, ${data.usd} US dollars`,
  };
  let due = 0;
  const renew = async () => {
    const page = new DOMParser().parseFromString(await (await fetch(window.location.href)).text(), "text/html");
    const live = page.getElementById("live");
    const shown = document.getElementById("live");
    if (live?.localName !== shown.localName) return window.location.reload(); // signed out, or another part is live
    if (source.readyState === EventSource.CLOSED && page.getElementById("events")) return; // from before the end
    const focused = [...shown.querySelectorAll("a, button")].indexOf(document.activeElement);
    page.getElementById("events")?.replaceWith(events);
    shown.replaceWith(live);
    live.querySelectorAll("a, button")[focused]?.focus();
    if (source.readyState === EventSource.CLOSED) live.querySelector("h2")?.focus();
    if (live.querySelector("[data-again]")) due = setTimeout(renew, 1000);
  };
  for (const [name, tell] of Object.entries(told)) {
    source.addEventListener(name, (event) => {
      const data = JSON.parse(event.data);
      events.append(Object.assign(document.createElement("li"), { className: name, textContent: tell(data) }));
      if (!data.phase) return;
      if (data.phase === "iteration") events.replaceChildren();
      clearTimeout(due); // of many at once, the page shows the last
      due = setTimeout(renew, 200);
    });
  }
  const end = () => {
    source.close();
    renew();
  };
  source.addEventListener("answer", end);
  source.addEventListener("error", (event) => {
    const type = event.data && JSON.parse(event.data).error.type; // without one, the connection was lost
    if (type && !["unavailable", "leaving"].includes(type)) end(); // the run has failed
  });
}
