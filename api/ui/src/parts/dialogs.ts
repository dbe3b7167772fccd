// The dialogs of a page. One of them is open at a time, about what it was opened for.

import { useState, type ReactNode } from "react";

/** How a dialog ends: with something done, which is to be looked at anew, or without. */
export interface Ends {
  onDone: () => unknown;
  onClose: () => void;
}

/** Draws a dialog, about whatever else it takes. */
type Draw = (ends: Ends, ...about: never[]) => ReactNode;
type About<D extends Draw> = D extends (ends: Ends, ...about: infer What) => ReactNode ? What : never;

/** The dialogs of a page, by what they do: `open("remove", rule)` opens one, and `shown` is the one that is open. */
export function useDialogs<Dialogs extends Record<string, Draw>>(onDone: () => unknown, dialogs: Dialogs) {
  const [opened, setOpened] = useState<{ name: keyof Dialogs; about: unknown[] }>();
  const ends = { onDone, onClose: () => setOpened(undefined) };
  return {
    open: <Name extends keyof Dialogs>(name: Name, ...about: About<Dialogs[Name]>) => setOpened({ name, about }),
    // What stands beside its name is what `open` was given for this very dialog.
    shown: opened && dialogs[opened.name]?.(ends, ...(opened.about as never[])),
  };
}
