// The theme, and the keys of the console.  Pages work without this script.
"use strict";
const root = document.documentElement;
const kept = localStorage.getItem("theme");
if (kept) root.dataset.theme = kept;

document.getElementById("theme").addEventListener("click", () => {
  const isDark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = isDark ? "light" : "dark";
  localStorage.setItem("theme", root.dataset.theme);
});

// On a phone the menu is one line that scrolls: its entry of this page comes into view.
const menu = document.querySelector("nav");
const here = menu.querySelector("[aria-current]");
if (here) menu.scrollLeft = here.offsetLeft - (menu.clientWidth - here.offsetWidth) / 2;

// The overview says when its numbers are old, because the server ended or cannot be reached.
const silent = document.getElementById("silent");
if (silent) {
  document.addEventListener("htmx:sseError", () => { silent.hidden = false; });
  document.addEventListener("htmx:sseOpen", () => { silent.hidden = true; });
}

const pages = new Map([...document.querySelectorAll("nav a")].map((link) => [link.dataset.key, link]));
let afterG = false;
document.addEventListener("keydown", (event) => {
  if (event.target.closest("input, textarea, select") || event.ctrlKey || event.metaKey || event.altKey) return;
  const page = afterG ? pages.get(event.key) : undefined;
  afterG = !page && event.key === "g";
  if (page) page.click();
  else if (event.key === "/") { event.preventDefault(); document.querySelector("[data-search]")?.focus(); }
  else if (event.key === "r") location.reload();
  else if (event.key === "?") document.getElementById("keys").showModal();
});
