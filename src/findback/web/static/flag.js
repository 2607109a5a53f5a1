// See docs/flags.md. Keeps only what is unsent, and that in memory.
(() => {
const script = document.currentScript, data = script.dataset, waiting = [], root = document.documentElement;
const texts = {
en: { open: "Couldn't find it?", title: "What did you look for?", query: "Your search, as typed",
note: "What did you hope to find? (optional, no names)", send: "Send", close: "Close", link: "See what comes of it",
notice: "We keep your search, this page's path, the results shown and your note, with names covered and yours left out. Those who look after this search read them. They go after {days} days, unless they become a test question.",
sent: "Thank you. A reviewer reads it next.", wait: "Not sent yet. It goes by itself while this page stays open.",
bad: "It was not taken." },
de: { open: "Nicht gefunden?", title: "Was haben Sie gesucht?", query: "Ihre Suche, wie eingegeben",
note: "Was wollten Sie finden? (freiwillig, bitte ohne Namen)", send: "Senden", close: "Schließen", link: "Sehen, was daraus wird",
notice: "Wir speichern Suche, Pfad dieser Seite, gezeigte Treffer und Notiz, Namen verdeckt, Ihren gar nicht. Wer die Suche betreut, liest sie. Nach {days} Tagen wird gelöscht, was keine Prüffrage wird.",
sent: "Danke. Es wird als Nächstes gelesen.", wait: "Noch nicht gesendet. Es geht von selbst ab, solange die Seite offen ist.",
bad: "Es wurde nicht angenommen." },
ja: { open: "見つかりませんか？", title: "何を探していましたか？", query: "入力した検索語",
note: "見つけたかったもの（任意、氏名は不要）", send: "送信", close: "閉じる", link: "経過を見る",
notice: "検索語、ページのパス、表示結果、メモを氏名を伏せて保存し、検索の担当者が読みます。テスト問題にならなければ{days}日後に消去します。",
sent: "ありがとうございます。次に担当者が読みます。", wait: "未送信です。ページを開いておくと自動で送信されます。",
bad: "受け付けられませんでした。" } };
const lang = data.lang || root.lang || "en", own = texts[lang.slice(0, 2).toLowerCase()];
const t = (name) => data[name] || (own || texts.en)[name].replace("{days}", data.days || 90);
const make = (name, given, ...inside) => {
const one = document.createElement(name);
for (const key in given) one.setAttribute(key, given[key]);
one.append(...inside);
return one;
};
const find = (which) => which && document.querySelector(which);
const host = make("div", { lang: own ? lang : "en" }), shadow = host.attachShadow({ mode: "open" });
const sheet = new CSSStyleSheet();
sheet.replaceSync(`:host{font:var(--findback-font,1rem/1.5 system-ui,sans-serif)}
button,input,textarea,dialog{font:inherit;color:var(--findback-ink,CanvasText);background:var(--findback-paper,Canvas);box-sizing:border-box;border:1px solid GrayText;border-radius:var(--findback-radius,6px);padding:.5em .8em}
button{min-height:44px;cursor:pointer}
.main{background:var(--findback-accent,#0a5a8c);color:var(--findback-on-accent,#fff)}
input,textarea{width:100%}
label,p{display:block;margin:0 0 .8em}
dialog{width:min(32rem,94vw);padding:1.2em}
:focus-visible{outline:3px solid var(--findback-accent,#0a5a8c)}
a{color:inherit}[hidden]{display:none}`);
shadow.adoptedStyleSheets = [sheet];
const query = make("input", { required: "", maxlength: 2000, autocomplete: "off" }), note = make("textarea", { rows: 2, maxlength: 1000 });
const close = make("button", { type: "button" }, t("close"));
const fields = make("div", {}, make("p", {}, t("notice")), make("label", {}, t("query"), query), make("label", {}, t("note"), note),
make("p", {}, make("button", { class: "main" }, t("send"))));
const said = make("p", { role: "status" }), after = said.cloneNode(), form = make("form", {}, make("h2", { id: "t" }, t("title")), fields, said, close);
const dialog = make("dialog", { "aria-labelledby": "t" }, form);
const open = make("button", { type: "button", "aria-haspopup": "dialog" }, t("open"));
shadow.append(open, after, dialog);
const say = (name, link) => {
const to = dialog.open ? said : after;
to.replaceChildren(t(name));
if (link) to.append(" ", make("a", { href: link, target: "_blank", rel: "noopener" }, t("link")));
};
let timer, busy;
const flush = async () => {
clearTimeout(timer);
while (waiting.length && !busy) {
busy = 1;
const got = await fetch((data.server || new URL(script.src).origin) + "/v1/flags", {
method: "POST", body: waiting[0], credentials: "omit", signal: AbortSignal.timeout(15000),
headers: { "content-type": "application/json", "x-findback-token": data.token } }).catch(() => {});
const answer = got && got.ok && await got.json().catch(() => {});
busy = 0;
if (!answer && !(got && got.status < 500 && got.status != 429)) {
timer = setTimeout(flush, 1000 * (got && got.headers.get("retry-after") || 30));
return say("wait");
}
waiting.shift();
say(answer ? "sent" : "bad", answer && answer.link);
}
};
open.onclick = () => {
const typed = find(data.queryFrom);
query.value = typed ? typed.value || typed.textContent : "";
fields.hidden = false;
said.textContent = after.textContent = note.value = "";
dialog.showModal();
query.focus();
};
close.onclick = () => dialog.close();
form.onsubmit = (event) => {
event.preventDefault();
const shown = data.results ? [...document.querySelectorAll(data.results)] : [];
const flag = { query: query.value, page: location.pathname.slice(0, 500),
shown: shown.map((one) => (one.dataset.id || one.href || "").split(/[?#]/)[0]).filter((one) => one && one.length < 999).slice(0, 50) };
if (note.value.trim()) flag.note = note.value;
if (/^[a-z]{2,3}(-[a-z0-9]{1,8}){0,4}$/i.test(lang)) flag.language = lang;
waiting.push(JSON.stringify(flag));
fields.hidden = true;
close.focus();
flush();
};
addEventListener("online", flush);
const place = find(data.into);
place ? place.append(host) : (script.closest("body *") || document.body.lastChild).after(host);
})();
