// Light, dark, or what the system says; remembered. `t` goes round.

export type Theme = "system" | "light" | "dark";

const ORDER: Theme[] = ["system", "light", "dark"];
const KEY = "weir.theme";
const watchers = new Set<() => void>();

export function theme(): Theme {
  try {
    const stored = localStorage.getItem(KEY);
    return ORDER.find((candidate) => candidate === stored) ?? "system";
  } catch {
    return "system"; // Storage may be forbidden; then each page starts with the system's.
  }
}

export function setTheme(next: Theme): void {
  try {
    localStorage.setItem(KEY, next);
  } catch {
    // Shown now, forgotten later.
  }
  apply(next);
  for (const watcher of watchers) watcher();
}

export function nextTheme(): Theme {
  const next = ORDER[(ORDER.indexOf(theme()) + 1) % ORDER.length] ?? "system";
  setTheme(next);
  return next;
}

export function watchTheme(watcher: () => void): () => void {
  watchers.add(watcher);
  return () => watchers.delete(watcher);
}

export function apply(chosen: Theme): void {
  if (chosen === "system") delete document.documentElement.dataset["theme"];
  else document.documentElement.dataset["theme"] = chosen;
}
