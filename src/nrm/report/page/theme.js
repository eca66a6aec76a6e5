/* Light or dark: the system's choice until the reader chooses. */

function startTheme() {
  const button = $("theme");
  const system = matchMedia("(prefers-color-scheme: dark)");
  const stored = () => { try { return localStorage.getItem("nrm-theme"); } catch { return null; } };
  const isDark = () => (document.documentElement.dataset.theme || (system.matches ? "dark" : "light")) === "dark";
  const tell = () => {
    button.textContent = isDark() ? "☀ Light" : "☾ Dark";
    button.setAttribute("aria-label", `Switch to ${isDark() ? "light" : "dark"} colours`);
  };
  if (["light", "dark"].includes(stored())) document.documentElement.dataset.theme = stored();
  button.addEventListener("click", () => {
    document.documentElement.dataset.theme = isDark() ? "light" : "dark";
    try { localStorage.setItem("nrm-theme", document.documentElement.dataset.theme); } catch { /* a page from disk may not remember */ }
    tell();
  });
  system.addEventListener("change", tell);
  tell();
}
