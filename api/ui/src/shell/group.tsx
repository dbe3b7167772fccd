import { Link, useRouterState } from "@tanstack/react-router";
import { ChevronDown } from "lucide-react";
import { useEffect, useRef, useState, type FocusEvent, type KeyboardEvent } from "react";
import type { PAGES } from "./pages";

interface GroupProps {
  label: string;
  pages: readonly (typeof PAGES)[number][];
}

/** Pages that share one place in the header: a button that shows their links, and says when one of them is open. */
export function Group({ label, pages }: GroupProps) {
  const [place, setPlace] = useState<{ left: number; top: number }>();
  const box = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const here = useRouterState({ select: ({ matches }) => matches.at(-1)?.routeId as string | undefined });
  const close = () => setPlace(undefined);
  const open = place !== undefined;
  useEffect(() => {
    if (!open) return;
    const outside = (event: PointerEvent) => {
      if (!box.current?.contains(event.target as Node)) close();
    };
    document.addEventListener("pointerdown", outside);
    return () => document.removeEventListener("pointerdown", outside);
  }, [open]);
  const toggle = () => {
    // Where the header is narrow, the group stands at its end: what hangs from it stays within the window.
    const { left, bottom } = button.current!.getBoundingClientRect();
    setPlace(open ? undefined : { left: Math.max(0, Math.min(left, window.innerWidth - 192)), top: bottom });
  };
  const leave = ({ relatedTarget }: FocusEvent) => {
    if (relatedTarget && !box.current?.contains(relatedTarget)) close();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== "Escape" || !open) return;
    event.preventDefault();
    close();
    button.current?.focus();
  };
  const current = pages.some(({ to }) => to === here);
  const mark = current
    ? "font-medium text-ink after:absolute after:inset-x-2 after:bottom-0 after:h-0.5 after:bg-accent"
    : "text-soft hover:text-ink";
  return (
    <div ref={box} onBlur={leave} onKeyDown={onKeyDown} className="flex shrink-0">
      <button
        ref={button}
        type="button"
        aria-expanded={open}
        onClick={toggle}
        className={`relative flex items-center gap-1 px-2 ${mark}`}
      >
        {label} <ChevronDown aria-hidden size={13} />
      </button>
      {place && (
        <ul
          aria-label={label}
          style={place}
          className="rise-in card-shadow fixed z-40 w-48 rounded-b-lg border border-line-strong bg-sheet py-1"
        >
          {pages.map(({ to, label }) => (
            <li key={to}>
              <Link
                to={to}
                activeOptions={{ exact: true, includeSearch: false }}
                onClick={close}
                className="block px-3 py-1.5 hover:bg-sunken"
                activeProps={{ className: "font-medium text-accent" }}
              >
                {label}
              </Link>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
