// @ts-check
/** Keys, selection and saving without a reload. Every decision also works without this file. */

const TYPING = "input:not([type=radio]):not([type=checkbox]), textarea, select, [contenteditable]";
const notice = /** @type {HTMLElement} */ (document.getElementById("notice"));

/** @param {string} text @param {boolean} [bad] */
function say(text, bad = false) {
  notice.textContent = text;
  notice.classList.toggle("bad", bad);
  notice.hidden = !text;
}

/** Put the page the server answered in place of this one, and stay where the reader was.
 * @param {Response} answer @returns {Promise<string>} what is wrong, where the server only says that */
async function show(answer) {
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const main = page.querySelector("main");
  // A page that only says what is wrong takes the place of nothing: what was typed stays where it is.
  if (page.body.dataset.page === "fault") return main?.querySelector("p")?.textContent || "the server refused it";
  const here = document.querySelector("main");
  if (!main || !here || answer.status >= 500) throw new Error("no page came back");
  const focused = document.activeElement?.id;
  const moved = new URL(answer.url).pathname !== location.pathname;
  here.replaceWith(document.adoptNode(main));
  document.title = page.title;
  document.body.dataset.page = page.body.dataset.page ?? "";
  const keys = page.getElementById("keys");
  if (keys) document.getElementById("keys")?.replaceWith(document.adoptNode(keys));
  if (moved) history.pushState(null, "", answer.url);
  prepare();
  const place = (!moved && focused && document.getElementById(focused)) || document.getElementById("main");
  place?.focus({ preventScroll: !moved });
  if (moved) scrollTo(0, 0);
  return "";
}

/** Whether a form is on its way, and the keys pressed meanwhile: they wait for the page they were meant for. */
let busy = false;
/** @type {string[]} */
const pressed = [];

/** Send a form and show what the server made of it; what could not be sent stays on the page.
 * @param {HTMLFormElement} form @param {HTMLElement | null} button */
async function send(form, button) {
  if (busy) return;
  busy = true;
  const body = new URLSearchParams();
  // @ts-ignore: a form holds texts only
  for (const [name, value] of new FormData(form, button)) body.append(name, value);
  say("Saving…");
  const from = location.pathname;
  try {
    const answer = await fetch(form.action, { method: "POST", body, headers: { accept: "text/html" } });
    const refused = await show(answer);
    const said = refused ? `Not saved: ${refused}` : !answer.ok ? "Not saved: see below." : (location.pathname !== from && became()) || "Saved.";
    say(said, !answer.ok);
    if (answer.ok) setTimeout(() => notice.textContent === said && say(""), said === "Saved." ? 2500 : 6000);
  } catch {
    pressed.length = 0;
    say("Not saved: the server did not answer. What you chose is still on this page; press it again.", true);
  }
  busy = false;
  while (!busy && pressed.length) press(pressed.shift() ?? "");
}

/** Return what became of the candidate one comes from, as the page says it: said once more, a screen reader reads it out. */
function became() {
  return document.querySelector("[data-outcome] span")?.textContent ?? "";
}

document.addEventListener("submit", (event) => {
  const form = /** @type {HTMLFormElement} */ (event.target);
  if (form.method !== "post" || !("save" in form.dataset)) return;
  event.preventDefault();
  void send(form, /** @type {SubmitEvent} */ (event).submitter);
});

addEventListener("popstate", () => location.reload());

document.addEventListener("keydown", (event) => {
  const target = /** @type {HTMLElement} */ (event.target);
  if (event.key === "Escape" && target.closest("details[open]")) return close(target);
  if (event.ctrlKey || event.metaKey || event.altKey || target.closest(TYPING)) return;
  if (event.key.startsWith("Arrow") && target.closest(".choices")) {
    event.preventDefault();
    return choose(target, /Right|Down/.test(event.key) ? 1 : -1);
  }
  if (document.querySelector("dialog[open]") && event.key !== "?") return;
  if (busy && event.key.length === 1) {
    event.preventDefault();
    pressed.push(event.key);
  } else if ((target.closest(".words[data-place]") && pick(event)) || press(event.key)) {
    event.preventDefault();
  }
});

/** Do what a key stands for, and say whether it stands for anything. @param {string} key */
function press(key) {
  const row = document.activeElement?.closest(".pool > li");
  const own = row?.querySelector(/^[0-3]$/.test(key) ? `[data-grade="${key}"]` : `[data-row-key="${CSS.escape(key)}"]`);
  const found = own ?? [...document.querySelectorAll(`[data-key="${CSS.escape(key)}"]`)].find((one) => one.checkVisibility());
  if (found instanceof HTMLElement) {
    if (found.matches("input, select, textarea, .words")) found.focus();
    else if (found.matches(".choices")) (found.querySelector("[aria-pressed=true]") ?? found.querySelector("button"))?.focus();
    else if (found.matches("summary")) unfold(found);
    else found.click();
  } else if (/^[0-3]$/.test(key) && !row) {
    step(1);
  } else if (key === "g") {
    location.assign("/queue");
  } else if (key === "?") {
    open("keys");
  } else if (key === "j" || key === "k") {
    step(key === "j" ? 1 : -1);
  } else {
    return false;
  }
  return true;
}

/** Open what a summary folds away, and go to its first field. @param {HTMLElement} summary */
function unfold(summary) {
  summary.closest("details")?.setAttribute("open", "");
  const field = summary.closest("details")?.querySelector("input:not([type=hidden]), textarea, select");
  (field instanceof HTMLElement ? field : summary).focus();
  summary.closest("details")?.scrollIntoView({ block: "nearest" });
}

/** Fold it away again. @param {HTMLElement} inside */
function close(inside) {
  const details = inside.closest("details[open]");
  details?.removeAttribute("open");
  details?.querySelector("summary")?.focus();
}

/** Go to the next or the previous of several choices. @param {HTMLElement} from @param {number} by */
function choose(from, by) {
  const all = [...(from.closest(".choices")?.querySelectorAll("button") ?? [])];
  const at = all.indexOf(/** @type {HTMLButtonElement} */ (from.closest("button")));
  all[(at + by + all.length) % all.length]?.focus();
}

/** Go to the next or the previous document of the list. @param {number} by */
function step(by) {
  const rows = /** @type {HTMLElement[]} */ ([...document.querySelectorAll(".pool > li")]);
  if (!rows.length) return;
  const at = rows.findIndex((row) => row.contains(document.activeElement));
  const row = rows[Math.min(rows.length - 1, Math.max(0, at + by))];
  row.focus();
  row.scrollIntoView({ block: "nearest" });
}

/** Choose words with the arrow keys, while the text has the focus. @param {KeyboardEvent} event */
function pick(event) {
  const selection = getSelection();
  if (!selection || !["ArrowLeft", "ArrowRight", "Enter"].includes(event.key)) return false;
  const words = /** @type {HTMLElement} */ (/** @type {HTMLElement} */ (event.target).closest(".words"));
  if (event.key === "Enter") {
    if (selection.isCollapsed) return false;
    // The browser tells of a changed selection later, and the last letter must not be missed.
    take();
    document.getElementById("redact-type")?.focus();
  } else {
    if (!selection.anchorNode || !words.contains(selection.anchorNode)) selection.collapse(words, 0);
    const way = event.key === "ArrowRight" ? "forward" : "backward";
    selection.modify(event.shiftKey ? "extend" : "move", way, event.shiftKey ? "character" : "word");
  }
  event.preventDefault();
  return true;
}

/** A place in a text as the server counts it: code points of the stored text. Inside what is marked, its near or far edge.
 * @param {Element} words @param {Node} node @param {number} offset @param {boolean} far */
function position(words, node, offset, far) {
  let count = 0;
  for (const [at, piece] of [...words.childNodes].entries()) {
    if (node === words && at >= offset) return count;
    const stored = piece instanceof HTMLElement ? piece.dataset.length : undefined;
    const length = stored === undefined ? [...(piece.textContent ?? "")].length : Number(stored);
    if (piece !== node && !piece.contains(node)) {
      count += length;
    } else if (stored !== undefined) {
      return count + (far ? length : 0);
    } else {
      const range = document.createRange();
      range.selectNodeContents(piece);
      range.setEnd(node, offset);
      return count + [...range.toString()].length;
    }
  }
  return count;
}

/** Put the words that are selected into the form that redacts them. */
function take() {
  const form = document.getElementById("redact");
  const selection = getSelection();
  if (!(form instanceof HTMLFormElement) || !selection?.rangeCount || selection.isCollapsed) return;
  const range = selection.getRangeAt(0);
  const inside = range.startContainer.parentElement?.closest(".words[data-place]");
  const same = range.endContainer.parentElement?.closest(".words[data-place]");
  if (!(inside instanceof HTMLElement)) return;
  const start = position(inside, range.startContainer, range.startOffset, false);
  const last = same === inside ? { node: range.endContainer, at: range.endOffset } : { node: inside, at: inside.childNodes.length };
  const end = position(inside, last.node, last.at, true);
  const values = { place: inside.dataset.place, position: inside.dataset.position, start, end };
  for (const [name, value] of Object.entries(values)) {
    /** @type {HTMLInputElement} */ (form.elements.namedItem(name)).value = String(value ?? "");
  }
  const chosen = document.getElementById("redact-chosen");
  if (chosen) chosen.textContent = selection.toString().slice(0, 200);
  form.closest("details")?.setAttribute("open", "");
}

document.addEventListener("selectionchange", take);

document.addEventListener("mouseup", (event) => {
  const text = /** @type {HTMLElement} */ (event.target).closest("[data-quotes]");
  const field = text instanceof HTMLElement && document.getElementById(text.dataset.quotes ?? "");
  const chosen = getSelection()?.toString().trim();
  if (field instanceof HTMLTextAreaElement && chosen) field.value = chosen;
});

/** @param {string} id */
function open(id) {
  const dialog = document.getElementById(id);
  if (dialog instanceof HTMLDialogElement && !dialog.open) dialog.showModal();
}

document.addEventListener("click", (event) => {
  const opener = /** @type {HTMLElement} */ (event.target).closest("[data-opens]");
  if (opener instanceof HTMLElement) open(opener.dataset.opens ?? "");
});

/** Make what only works with this file visible, and start the clock of a weekly session. */
function prepare() {
  for (const one of document.querySelectorAll("[data-opens][hidden], [data-script][hidden]")) one.removeAttribute("hidden");
  for (const row of document.querySelectorAll(".pool > li")) row.setAttribute("tabindex", "-1");
}

setInterval(() => {
  for (const clock of document.querySelectorAll("[data-until]")) {
    const left = Math.max(0, Math.round((Date.parse(/** @type {HTMLElement} */ (clock).dataset.until ?? "") - Date.now()) / 1000));
    clock.textContent = `${Math.floor(left / 60)}:${String(left % 60).padStart(2, "0")}`;
  }
}, 1000);

prepare();
