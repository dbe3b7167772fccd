// A form: what is written, sending it, what the server finds wrong with which field, and what is said when it is done.

import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { toast } from "sonner";
import { asProblem } from "../api/problem";

/** The names of the fields that hold a `V`. */
type Holding<T, V> = { [K in keyof T]-?: T[K] extends V ? K : never }[keyof T] & string;
type Target<V> = { target: V };

interface FormOptions<T, A> {
  /** What stands in the fields at first, by the names that the API has for them. */
  draft: T;
  /** Sends it: texts without the space around them, or all as it is written. */
  act: (values: T, written: T) => Promise<A>;
  /** What is said when it is done; then the dialog closes. Without, it stays open. */
  said?: (answer: A, values: T) => string;
  onDone?: () => unknown;
  /** Perhaps somebody was faster, and what stands behind has to say so. */
  onFault?: () => unknown;
  onClose?: () => void;
  /** Hears of every change. */
  onSet?: (changed: Partial<T>) => void;
  /** What else went wrong, while sending did not. */
  fault?: Error | null;
}

export function useForm<T extends object, A>(options: FormOptions<T, A>) {
  const { act, said, onDone, onFault, onClose, onSet, fault = null } = options;
  const [draft, setDraft] = useState(options.draft);
  const values = trimmed(draft);
  const sending = useMutation({
    mutationFn: (written: T) => act(trimmed(written), written),
    onSuccess: (answer, written) => {
      if (said) {
        toast(said(answer, trimmed(written)));
        onClose?.();
      }
      void onDone?.();
    },
    onError: () => void onFault?.(),
  });
  const error = sending.error ?? fault;
  const problem = error ? asProblem(error) : undefined;
  // Whoever asks what is wrong with a field has a place to say it.
  const placed = new Set<string>();

  const set = (changed: Partial<T>) => {
    setDraft((written) => ({ ...written, ...changed }));
    onSet?.(changed);
  };
  const put = (name: string, value: unknown) => set({ [name]: value } as Partial<T>);
  /** What is wrong with a field, if that is what is wrong. */
  const of = (name: string) => {
    placed.add(name);
    return problem?.of(name);
  };
  return {
    draft,
    values,
    set,
    of,
    pending: sending.isPending,
    answer: sending.data,
    send: () => sending.mutate(draft),
    /** Forgets what was wrong. */
    reset: sending.reset,
    /** What went wrong, where no field says it. For whoever is drawn after the fields. */
    elsewhere: () => (problem && ![...placed].some((name) => problem.of(name)) ? problem.message : ""),
    /** For a `Field`. */
    field: (name: Holding<T, string>) => ({
      value: draft[name] as string,
      onChange: ({ target }: Target<{ value: string }>) => put(name, target.value),
      problem: of(name),
    }),
    /** For a `Select`. */
    choice: (name: Holding<T, string>) => ({
      value: draft[name] as string,
      onChoose: (value: string) => put(name, value),
      problem: of(name),
    }),
    /** For a `Check`. */
    check: (name: Holding<T, boolean>) => ({
      checked: draft[name] as boolean,
      onChange: ({ target }: Target<{ checked: boolean }>) => put(name, target.checked),
    }),
    /** For a `Check` that puts a word on a list, and takes it off. */
    member: (name: Holding<T, readonly string[]>, word: string) => {
      const list = draft[name] as readonly string[];
      return {
        checked: list.includes(word),
        onChange: ({ target }: Target<{ checked: boolean }>) =>
          put(name, target.checked ? [...list, word] : list.filter((other) => other !== word)),
      };
    },
  };
}

/** The same without space around texts. */
export function trimmed<T extends object>(draft: T): T {
  const bare = (value: unknown) => (typeof value === "string" ? value.trim() : value);
  return Object.fromEntries(Object.entries(draft).map(([name, value]) => [name, bare(value)])) as T;
}
