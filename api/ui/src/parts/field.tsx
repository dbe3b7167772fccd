// Form controls with their labels. What is wrong with a field stands under it and is read with it.

import { useId, type ComponentProps, type ReactNode } from "react";

const BOX = "h-8 rounded border border-line-strong bg-paper px-2 placeholder:text-soft";

interface Labelled {
  label: string;
  hint?: ReactNode;
  problem?: string | undefined;
}

export function Field({ label, hint, problem, className = "", ...rest }: ComponentProps<"input"> & Labelled) {
  const id = useId();
  return (
    <div className={className}>
      <label htmlFor={id} className="block text-xs font-medium">
        {label} {hint && <span className="font-normal text-soft">{hint}</span>}
      </label>
      <input
        id={id}
        autoComplete="off"
        spellCheck={false}
        aria-invalid={problem !== undefined}
        aria-describedby={`${id}-problem`}
        className={`mt-1 w-full ${BOX}`}
        {...rest}
      />
      <p id={`${id}-problem`} className="mt-0.5 text-xs text-bad empty:hidden">
        {problem}
      </p>
    </div>
  );
}

export interface Choice {
  value: string;
  label: string;
}

/** A choice whose label is for assistive technology only: in a row of filters the value says enough. */
export function Select({
  label,
  choices,
  visible = false,
  className = "",
  onChoose,
  ...rest
}: Omit<ComponentProps<"select">, "onChange"> & {
  label: string;
  choices: readonly Choice[];
  visible?: boolean;
  onChoose: (value: string) => void;
}) {
  const id = useId();
  return (
    <div className={className}>
      <label htmlFor={id} className={visible ? "block text-xs font-medium" : "sr-only"}>
        {label}
      </label>
      <select
        id={id}
        className={`${BOX} ${visible ? "mt-1 w-full" : ""}`}
        onChange={({ target }) => onChoose(target.value)}
        {...rest}
      >
        {choices.map(({ value, label }) => (
          <option key={value} value={value}>
            {label}
          </option>
        ))}
      </select>
    </div>
  );
}

export const ECOSYSTEMS: readonly Choice[] = ["pypi", "npm", "cargo", "go", "docker"].map((value) => ({
  value,
  label: value,
}));
export const ANY_ECOSYSTEM: readonly Choice[] = [{ value: "", label: "all ecosystems" }, ...ECOSYSTEMS];
