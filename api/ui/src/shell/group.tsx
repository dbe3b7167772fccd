import { Link, useLocation } from "@tanstack/react-router";
import { ChevronDown } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { Key } from "../parts/button";
import type { AnyPage } from "./pages";

/** Pages of one part of Weir behind one tab: a list of links that opens and closes. */
export function Group({ name, pages }: { name: string; pages: readonly AnyPage[] }) {
  const [open, setOpen] = useState(false);
  const place = useRef<HTMLDivElement>(null);
  const tab = useRef<HTMLButtonElement>(null);
  const path = useLocation({ select: ({ pathname }) => pathname });
  // What stands below a path prefix ends as the page's own address does.
  const here = pages.find(({ to }) => path.endsWith(to));
  useEffect(() => {
    if (!open) return;
    const away = ({ target }: PointerEvent) => {
      if (target instanceof Node && !place.current?.contains(target)) setOpen(false);
    };
    document.addEventListener("pointerdown", away);
    return () => document.removeEventListener("pointerdown", away);
  }, [open]);
  return (
    <div
      ref={place}
      className="relative flex h-full shrink-0"
      onBlur={({ relatedTarget }) => {
        if (relatedTarget && !place.current?.contains(relatedTarget)) setOpen(false);
      }}
      onKeyDown={(event) => {
        if (event.key !== "Escape" || !open) return;
        event.preventDefault();
        setOpen(false);
        tab.current?.focus();
      }}
    >
      <button
        ref={tab}
        type="button"
        aria-expanded={open}
        onClick={() => setOpen(!open)}
        className={`relative flex items-center gap-1 px-1.5 ${here ? "font-medium text-ink after:absolute after:inset-x-1.5 after:bottom-0 after:h-0.5 after:bg-accent" : "text-soft hover:text-ink"}`}
      >
        {name}
        {here && <span className="sr-only">, on {here.label}</span>}
        <ChevronDown aria-hidden size={13} className={open ? "rotate-180" : ""} />
      </button>
      {open && (
        <ul aria-label={name} className="rise-in card-shadow absolute top-full right-0 z-30 mt-px w-52 rounded-b-lg border border-line-strong bg-sheet p-1.5 sm:right-auto sm:left-0">
          {pages.map(({ to, label, key }) => (
            <li key={to}>
              <Link
                to={to}
                activeOptions={{ exact: true, includeSearch: false }}
                activeProps={{ className: "font-medium text-accent" }}
                onClick={() => setOpen(false)}
                className="flex h-8 items-center gap-1 rounded px-2.5 hover:bg-accent-wash"
              >
                <span className="flex-1">{label}</span>
                <Key>g</Key>
                <Key>{key}</Key>
              </Link>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
