/* A button at each block of code copies it; of a session at a terminal, the commands without their prompts. */
"use strict";

const copied = text => {
  const lines = text.replace(/\n$/, "").split("\n");
  if (!lines[0].startsWith("$ ")) return lines.join("\n");
  return lines
    .filter((line, i) => line.startsWith("$ ") || (i && lines[i - 1].endsWith("\\")))
    .map(line => line.replace(/^\$ /, ""))
    .join("\n");
};

document.addEventListener("DOMContentLoaded", () => {
  if (!navigator.clipboard) return;  // a page that is not served by https
  for (const code of document.querySelectorAll("div.highlight > pre")) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "copy";
    button.textContent = "Copy";
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(copied(code.textContent));
      button.textContent = "Copied";
      setTimeout(() => { button.textContent = "Copy"; }, 2000);
    });
    code.after(button);
  }
});
