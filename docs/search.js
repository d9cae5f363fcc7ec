// Searches INDEX, which search-index.js gives; sections that hold all words, those with them in headings first.
"use strict";
const field = document.getElementById("search"), found = document.getElementById("found");
const page = document.getElementById("page"), menu = document.querySelector("nav details");
const MOST = 30, AROUND = 160;

if (window.matchMedia("(max-width: 52rem)").matches) menu.open = false;

function score(entry, words) {
  const heading = `${entry.heading} ${entry.page}`.toLowerCase(), text = entry.text.toLowerCase();
  let sum = 0;
  for (const word of words) {
    if (heading.includes(word)) sum += 10;
    else if (text.includes(word)) sum += 1;
    else return 0;
  }
  return sum;
}

function line(entry, words) {
  const link = document.createElement("a"), where = document.createElement("small"), text = document.createElement("div");
  const at = Math.max(0, entry.text.toLowerCase().indexOf(words[0]) - AROUND / 4);
  link.href = entry.to;
  link.textContent = entry.heading;
  link.addEventListener("click", clear);
  where.textContent = entry.page;
  text.textContent = (at ? "… " : "") + entry.text.slice(at, at + AROUND) + (at + AROUND < entry.text.length ? " …" : "");
  return [link, where, text];
}

function clear() {
  field.value = "";
  show();
}

function show() {
  const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
  found.hidden = !words.length;
  page.hidden = !!words.length;
  document.body.classList.toggle("searching", !!words.length);
  if (!words.length) return;
  const best = INDEX.map(entry => [score(entry, words), entry]).filter(each => each[0] > 0)
    .sort((a, b) => b[0] - a[0]).slice(0, MOST);
  const nothing = document.createElement("p");
  nothing.textContent = "Nothing has these words.";
  found.replaceChildren(...(best.length ? best.flatMap(each => line(each[1], words)) : [nothing]));
}

field.addEventListener("input", show);
field.addEventListener("keydown", event => { if (event.key === "Escape") clear(); });
const asked = new URLSearchParams(location.search).get("q");
if (asked) { field.value = asked; menu.open = true; show(); }
