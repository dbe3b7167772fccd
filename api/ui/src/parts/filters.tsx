import { Search, X } from "lucide-react";
import { useRef, type FormEvent, type ReactNode } from "react";
import { useKeys } from "../shell/keys";
import { Button } from "./button";

/** What a list is narrowed to, by the names that the address has for it. */
type Filter = { readonly [name: string]: string | undefined };

export function narrows(filter: Filter): boolean {
  return Object.values(filter).some((word) => word !== undefined && word !== "");
}

interface FiltersProps {
  /** What the address says. */
  filter: Filter;
  /** Takes what stands in the boxes, by their names. */
  onShow: (words: Record<string, string>) => void;
  /** Without, there is no button that takes all filters away. */
  onClear?: () => void;
  verb?: string;
  children: ReactNode;
}

/** The filters of a page; they count when they are sent. `/` leads to the first of its boxes. */
export function Filters({ filter, onShow, onClear, verb = "Search", children }: FiltersProps) {
  const form = useRef<HTMLFormElement>(null);
  useKeys({ "/": () => form.current?.querySelector("input")?.focus() });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const words = [...new FormData(event.currentTarget)].map(([name, word]) => [name, String(word).trim()]);
    onShow(Object.fromEntries(words));
  };
  return (
    // With another address the boxes say what it says.
    <form key={JSON.stringify(filter)} ref={form} role="search" onSubmit={submit} className="flex flex-wrap items-center gap-2">
      {children}
      <Button type="submit" className="h-8">
        <Search aria-hidden size={13} /> {verb}
      </Button>
      {onClear && narrows(filter) && (
        <Button look="quiet" className="h-8" onClick={onClear}>
          <X aria-hidden size={13} /> Clear
        </Button>
      )}
    </form>
  );
}
