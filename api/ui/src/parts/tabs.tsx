// The views of one page. Each has an address of its own, so they are links; the page makes them, this is how they look.

import type { ReactNode } from "react";

export function Tabs({ label, children }: { label: string; children: ReactNode }) {
  return (
    <nav aria-label={label} className="flex gap-5 overflow-x-auto border-b border-line px-4">
      {children}
    </nav>
  );
}

/** For a link of `Tabs`. Only an equal address is the same to the router; which view it is, the page knows. */
export function tab(current: boolean) {
  const look = current ? "border-accent font-medium text-ink" : "border-transparent text-soft hover:text-ink";
  return {
    activeOptions: { exact: true, includeSearch: true },
    "aria-current": current ? ("page" as const) : undefined,
    className: `-mb-px flex h-8 shrink-0 items-center border-b-2 ${look}`,
  };
}
