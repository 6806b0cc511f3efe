"use strict";
const cells = [...document.querySelectorAll(".gpu")];
const detail = document.getElementById("detail");
function mark(cell) {
  const groups = new Set((cell.dataset.g || "").split(" ").filter(Boolean));
  for (const other of cells) {
    other.classList.toggle("on", other === cell || (other.dataset.g || "").split(" ").some((group) => groups.has(group)));
  }
  detail.textContent = cell.querySelector("title").textContent;
}
function focusOn(cell) {
  for (const other of cells) other.setAttribute("tabindex", other === cell ? "0" : "-1");
  cell.focus();
}
cells.forEach((cell, number) => {
  cell.setAttribute("tabindex", number ? "-1" : "0");
  cell.addEventListener("mouseenter", () => mark(cell));
  cell.addEventListener("focus", () => mark(cell));
  cell.addEventListener("keydown", (event) => {
    const row = [...cell.parentNode.querySelectorAll(".gpu")];
    const steps = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: row.length, ArrowUp: -row.length };
    const next = cells[number + (steps[event.key] || 0)];
    if (event.key in steps) event.preventDefault();
    if (event.key in steps && next) focusOn(next);
  });
});
