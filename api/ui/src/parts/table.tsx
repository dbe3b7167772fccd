import type { ReactNode } from "react";

const HEAD =
  "sticky top-0 z-10 bg-sunken text-2xs tracking-wide text-soft [&_th]:h-7 [&_th]:border-y [&_th]:border-line [&_th]:px-3 [&_th]:font-normal [&_th:first-child]:pl-4 [&_th:last-child]:pr-4";
export const ROW =
  "border-b border-line/70 hover:bg-sunken/60 [&>td]:h-10 [&>td]:px-3 [&>td:first-child]:pl-4 [&>td:last-child]:pr-4";

interface TableProps {
  testid: string;
  heads: readonly string[];
  /** Which of the heads stand over numbers, and so at the right. */
  right?: readonly string[];
  /** The last column holds buttons, which need no head that is seen. */
  actions?: boolean;
  /** What it lists, for who does not see what stands above it. */
  caption?: string;
  /** The name of the frame in which it scrolls; without, the page scrolls. */
  region?: string;
  /** How narrow it may become. */
  className?: string;
  /** Its rows, which look like `ROW`. */
  children: ReactNode;
}

export function Table({ testid, heads, right = [], actions = false, caption, region, className = "", children }: TableProps) {
  const table = (
    <table data-testid={testid} className={`w-full border-collapse text-left ${className}`}>
      {caption && <caption className="sr-only">{caption}</caption>}
      <thead className={HEAD}>
        <tr>
          {heads.map((name) => (
            <th key={name} scope="col" className={right.includes(name) ? "text-right" : ""}>
              {name}
            </th>
          ))}
          {actions && (
            <th scope="col">
              <span className="sr-only">actions</span>
            </th>
          )}
        </tr>
      </thead>
      <tbody>{children}</tbody>
    </table>
  );
  if (region === undefined) return table;
  return (
    <div className="overflow-x-auto" tabIndex={0} role="region" aria-label={region}>
      {table}
    </div>
  );
}
