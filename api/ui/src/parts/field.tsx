// Form controls with their labels. What is wrong with a field stands under it and is read with it.

import { useId, type ComponentProps, type ReactNode } from "react";

const BOX = "h-8 rounded border border-line-strong bg-paper px-2 placeholder:text-soft";

interface Labelled {
  label: string;
  hint?: ReactNode;
  problem?: string | undefined;
}

/** What is wrong with a field, beneath it. */
export function Wrong({ id, children }: { id?: string; children: string | undefined }) {
  return (
    <p id={id} className="mt-0.5 text-xs text-bad empty:hidden">
      {children}
    </p>
  );
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
      <Wrong id={`${id}-problem`}>{problem}</Wrong>
    </div>
  );
}

export interface Choice {
  value: string;
  label: string;
}

interface SelectProps extends Omit<ComponentProps<"select">, "onChange"> {
  label: string;
  choices: readonly Choice[];
  visible?: boolean;
  problem?: string | undefined;
  onChoose: (value: string) => void;
}

/** A choice whose label is for assistive technology only: in a row of filters the value says enough. */
export function Select({ label, choices, visible = false, problem, className = "", onChoose, ...rest }: SelectProps) {
  const id = useId();
  return (
    <div className={className}>
      <label htmlFor={id} className={visible ? "block text-xs font-medium" : "sr-only"}>
        {label}
      </label>
      <select
        id={id}
        aria-invalid={problem !== undefined}
        aria-describedby={problem && `${id}-problem`}
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
      <Wrong id={`${id}-problem`}>{problem}</Wrong>
    </div>
  );
}

/** A box in a row of filters: what it is for is said to assistive technology, and hinted at within. */
export function Box({ label, className = "", ...rest }: ComponentProps<"input"> & { label: string }) {
  return <input aria-label={label} autoComplete="off" spellCheck={false} className={`${BOX} ${className}`} {...rest} />;
}

/** Something to tick, with what that means. */
export function Check({ children, hint, className = "", ...rest }: ComponentProps<"input"> & { hint?: ReactNode }) {
  return (
    <label className={`flex items-start gap-2 ${className}`}>
      <input type="checkbox" className="mt-1 accent-accent" {...rest} />
      <span>
        {children}
        {hint && <span className="block text-xs text-soft">{hint}</span>}
      </span>
    </label>
  );
}

export const ECOSYSTEMS: readonly Choice[] = ["pypi", "npm", "cargo", "go", "docker"].map((value) => ({
  value,
  label: value,
}));
export const ANY_ECOSYSTEM: readonly Choice[] = [{ value: "", label: "all ecosystems" }, ...ECOSYSTEMS];
