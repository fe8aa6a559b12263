// The colours, before anything is drawn: as the system has them, unless this browser was told otherwise. No module, because modules
// come after the first picture.

(() => {
  const KEY = "posthaste-theme";
  const root = document.documentElement;
  const apply = (theme) => (theme === "system" ? delete root.dataset.theme : (root.dataset.theme = theme));
  const saved = () => {
    try {
      const theme = localStorage.getItem(KEY);
      return theme === "light" || theme === "dark" ? theme : "system";
    } catch {
      // A browser that keeps nothing is one that follows the system.
      return "system";
    }
  };
  apply(saved());
  globalThis.posthasteTheme = {
    get: saved,
    set(theme) {
      apply(theme);
      try {
        if (theme === "system") localStorage.removeItem(KEY);
        else localStorage.setItem(KEY, theme);
      } catch {
        // Then it counts for this page only.
      }
    },
  };
})();
