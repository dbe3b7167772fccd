import type { ReactNode } from "react";

/** A number that a page is about, with its name and what it is of. Stands in a `<dl>`. */
export function Figure({ name, value, what }: { name: string; value: string; what: ReactNode }) {
  return (
    <div data-figure={name} className="bg-sheet px-4 py-3">
      <dt className="text-xs text-soft">{name}</dt>
      <dd>
        <span className="numbers text-xl font-semibold">{value}</span>
        <span className="mt-0.5 block text-xs text-soft">{what}</span>
      </dd>
    </div>
  );
}
