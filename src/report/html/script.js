// The page is complete without this: it adds buttons that copy a table, and opens on
// paper what is folded.
(() => {
  const text = (table) => [...table.rows]
    .map((row) => [...row.cells].map((cell) => cell.innerText.replace(/\s+/g, " ").trim()).join("\t"))
    .join("\n");
  if (navigator.clipboard) {
    for (const table of document.querySelectorAll("table")) {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = "copy";
      button.setAttribute("aria-label", "copy the table: " + (table.caption?.innerText ?? ""));
      button.addEventListener("click", async () => {
        await navigator.clipboard.writeText(text(table));
        button.textContent = "copied";
        setTimeout(() => { button.textContent = "copy"; }, 1500);
      });
      table.closest(".frame").prepend(button);
    }
  }
  addEventListener("beforeprint", () => {
    document.querySelectorAll("details").forEach((details) => { details.open = true; });
  });
})();
