// A JSON document as a tree that folds. Numbers are shown as the log wrote them.

import { ChevronRight } from "lucide-react";
import { useState, type CSSProperties } from "react";
import { ExactNumber, isObject, type Json } from "../json/exact";

const CHUNK = 100;
const LONG = 240;

export function JsonTree({ value, label }: { value: Json; label: string }) {
  return (
    <div aria-label={label} role="group" className="font-mono text-xs leading-[1.6]">
      <Node value={value} depth={0} />
    </div>
  );
}

function Node({ value, name, depth }: { value: Json; name?: string; depth: number }) {
  if (!Array.isArray(value) && !isObject(value)) {
    return (
      <div className="flex gap-1.5 pl-4">
        {name !== undefined && <Name name={name} />}
        <Leaf value={value} />
      </div>
    );
  }
  return <Branch value={value} {...(name === undefined ? {} : { name })} depth={depth} />;
}

function Branch({ value, name, depth }: { value: Json[] | { [key: string]: Json }; name?: string; depth: number }) {
  const [open, setOpen] = useState(depth < 3);
  const [shown, setShown] = useState(CHUNK);
  const array = Array.isArray(value);
  const items: [string, Json][] = array ? value.map((item, index) => [String(index), item]) : Object.entries(value);
  const [left, right] = array ? ["[", "]"] : ["{", "}"];
  if (items.length === 0) {
    return (
      <div className="flex gap-1.5 pl-4">
        {name !== undefined && <Name name={name} />}
        <span className="text-soft">{left + right}</span>
      </div>
    );
  }
  const size = `${items.length} ${array ? "item" : "key"}${items.length === 1 ? "" : "s"}`;
  return (
    <div>
      <button
        type="button"
        aria-expanded={open}
        onClick={() => setOpen(!open)}
        className="flex items-center gap-1 rounded-sm text-left hover:bg-sunken"
      >
        <ChevronRight
          aria-hidden
          size={12}
          className={`shrink-0 text-soft transition-transform ${open ? "rotate-90" : ""}`}
        />
        {name !== undefined && <Name name={name} />}
        <span className="text-soft">{open ? left : `${left} ${size} ${right}`}</span>
      </button>
      {open && (
        <div className="ml-[5px] border-l border-line pl-2">
          {items.slice(0, shown).map(([key, item]) => (
            <Node key={key} name={key} value={item} depth={depth + 1} />
          ))}
          {items.length > shown && (
            <button type="button" className="pl-4 text-accent underline" onClick={() => setShown(shown + CHUNK * 5)}>
              {items.length - shown} more
            </button>
          )}
        </div>
      )}
    </div>
  );
}

function Name({ name }: { name: string }) {
  return <span className="shrink-0 text-soft">{name}:</span>;
}

function Leaf({ value }: { value: null | boolean | number | string | ExactNumber }) {
  const [whole, setWhole] = useState(false);
  if (typeof value !== "string") {
    const word = value === null || typeof value === "boolean";
    return (
      <span className="hue" style={{ "--hue": word ? 305 : 45 } as CSSProperties}>
        {String(value)}
      </span>
    );
  }
  const cut = value.length > LONG && !whole;
  return (
    <span className="min-w-0 break-words [overflow-wrap:anywhere]">
      <span className="hue" style={{ "--hue": 150 } as CSSProperties}>
        {JSON.stringify(cut ? value.slice(0, LONG) : value)}
      </span>
      {cut && (
        <button type="button" className="ml-1 text-accent underline" onClick={() => setWhole(true)}>
          all {value.length} characters
        </button>
      )}
    </span>
  );
}
