// The filter: one line of the query grammar, with suggestions (the combobox pattern of ARIA).

import { CircleX, Search } from "lucide-react";
import {
  useEffect,
  useId,
  useImperativeHandle,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
  type KeyboardEvent,
  type Ref,
} from "react";
import type { EventView, Kind } from "../api/events";
import { IconButton, Key } from "../parts/button";
import { parseQuery } from "../query/grammar";
import { suggest, type Suggestion } from "../query/suggest";

const TYPING_PAUSE = 350;

interface FilterBoxProps {
  ref: Ref<HTMLInputElement>;
  /** The query that is shown; typing runs ahead of it. */
  text: string;
  kinds: readonly Kind[];
  events: readonly EventView[];
  onCommit: (text: string, replace?: boolean) => void;
  onLeave: () => void;
}

export function FilterBox({ ref, text, kinds, events, onCommit, onLeave }: FilterBoxProps) {
  const input = useRef<HTMLInputElement>(null);
  useImperativeHandle(ref, () => input.current as HTMLInputElement);
  const [draft, setDraft] = useState(text);
  const [caret, setCaret] = useState(text.length);
  const [open, setOpen] = useState(false);
  const [chosen, setChosen] = useState(-1);
  const id = useId();
  // Where the caret goes once the text is there; before the next key, or fast typing lands in the wrong place.
  const wanted = useRef<number>(undefined);
  useLayoutEffect(() => {
    if (wanted.current !== undefined) input.current?.setSelectionRange(wanted.current, wanted.current);
    wanted.current = undefined;
  }, [draft]);

  useEffect(() => {
    setDraft((draft) => (draft.trim() === text ? draft : text));
  }, [text]);

  const suggestions = useMemo(
    () => (open ? suggest(draft, caret, kinds, streamsOf(events)) : []),
    [open, draft, caret, kinds, events],
  );
  const problems = useMemo(() => problemsOf(draft, kinds), [draft, kinds]);

  // Typing applies by itself once it pauses on something whole; half a kind's name would only be refused.
  useEffect(() => {
    if (draft.trim() === text || problems.length > 0) return;
    const timer = setTimeout(() => onCommit(draft, true), TYPING_PAUSE);
    return () => clearTimeout(timer);
  }, [draft, text, problems, onCommit]);

  const take = ({ text, caret }: Suggestion) => {
    setDraft(text);
    setCaret(caret);
    setChosen(-1);
    wanted.current = caret;
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const suggestion = suggestions[chosen];
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      setOpen(true);
      const count = suggestions.length;
      if (count > 0) setChosen(event.key === "ArrowDown" ? (chosen + 1) % count : (chosen <= 0 ? count : chosen) - 1);
    } else if (event.key === "Tab" && !event.shiftKey && open && suggestion) {
      event.preventDefault();
      take(suggestion);
    } else if (event.key === "Enter") {
      event.preventDefault();
      if (suggestion) take(suggestion);
      else {
        onCommit(draft);
        setOpen(false);
        onLeave();
      }
    } else if (event.key === "Escape") {
      event.preventDefault();
      if (open && suggestions.length > 0) setOpen(false);
      else onLeave();
    }
  };

  return (
    <div className="min-w-0 flex-1" role="search">
      <div className="relative">
        <Search aria-hidden size={14} className="absolute top-[9px] left-2.5 text-soft" />
        <input
          ref={input}
          role="combobox"
          aria-label="Filter events"
          aria-expanded={open && suggestions.length > 0}
          aria-controls={`${id}-list`}
          aria-autocomplete="list"
          aria-activedescendant={chosen >= 0 && suggestions[chosen] ? `${id}-${chosen}` : undefined}
          aria-describedby={`${id}-problems`}
          spellCheck={false}
          autoComplete="off"
          autoCapitalize="off"
          placeholder="subsystem:registry kind:PackageBlocked stream:registry/rules text"
          value={draft}
          onChange={({ target }) => {
            setDraft(target.value);
            setCaret(target.selectionStart ?? target.value.length);
            setOpen(true);
            setChosen(-1);
          }}
          onSelect={({ currentTarget }) => setCaret(currentTarget.selectionStart ?? currentTarget.value.length)}
          onFocus={() => setOpen(true)}
          onBlur={() => {
            setOpen(false);
            setChosen(-1);
          }}
          onKeyDown={onKeyDown}
          className="numbers h-8 w-full rounded border border-line-strong/60 bg-paper pr-16 pl-8 text-xs placeholder:text-soft"
        />
        <span className="absolute inset-y-0 right-1 flex items-center gap-1">
          {draft !== "" ? (
            <IconButton
              label="Clear the filter"
              className="!size-[26px]"
              onClick={() => {
                setDraft("");
                onCommit("");
                input.current?.focus();
              }}
            >
              <CircleX size={14} />
            </IconButton>
          ) : (
            <span aria-hidden className="mr-1">
              <Key>/</Key>
            </span>
          )}
        </span>
        <ul
          id={`${id}-list`}
          role="listbox"
          aria-label="Suggestions"
          hidden={!open || suggestions.length === 0}
          className="rise-in card-shadow absolute top-9 left-0 z-30 max-h-80 w-full max-w-2xl overflow-y-auto rounded-md border border-line-strong bg-sheet p-1"
        >
          {suggestions.map((suggestion, index) => (
            <li
              key={suggestion.label}
              id={`${id}-${index}`}
              role="option"
              aria-selected={index === chosen}
              // Before the blur, which would close the list under the click.
              onMouseDown={(event) => {
                event.preventDefault();
                take(suggestion);
              }}
              className={`flex h-7 cursor-pointer items-center gap-3 rounded px-2 ${index === chosen ? "bg-accent-wash" : "hover:bg-sunken"}`}
            >
              <code className="shrink-0 text-xs">{suggestion.label}</code>
              <span className="min-w-0 truncate text-xs text-soft">{suggestion.hint}</span>
            </li>
          ))}
        </ul>
      </div>
      <p id={`${id}-problems`} className="text-xs text-warn empty:hidden">
        {!open || suggestions.length === 0 ? problems.join("; ") : ""}
      </p>
    </div>
  );
}

/** What is wrong with a query, as far as the catalogue knows. */
export function problemsOf(text: string, kinds: readonly Kind[]): string[] {
  const { filter, problems } = parseQuery(text);
  if (kinds.length === 0) return problems;
  const names = new Set(kinds.map(({ name }) => name));
  const subsystems = new Set(kinds.map(({ subsystem }) => subsystem));
  return [
    ...problems,
    ...filter.kinds.filter((kind) => !names.has(kind)).map((kind) => `no kind is called “${kind}”`),
    ...filter.subsystems.filter((name) => !subsystems.has(name)).map((name) => `no sub-system is called “${name}”`),
  ];
}

function streamsOf(events: readonly EventView[]): string[] {
  return [...new Set(events.slice(-500).map(({ stream }) => stream))].sort();
}
