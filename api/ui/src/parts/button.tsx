import { Plus } from "lucide-react";
import type { ComponentProps } from "react";

const LOOK = {
  plain: "border border-line-strong/60 bg-sheet text-ink hover:border-accent hover:text-accent",
  primary: "border border-accent bg-accent text-accent-ink hover:brightness-110",
  danger: "border border-bad bg-bad-wash text-bad hover:brightness-95",
  quiet: "border border-transparent text-soft hover:bg-sunken hover:text-ink",
};

interface ButtonProps extends ComponentProps<"button"> {
  look?: keyof typeof LOOK;
  /** Why it does nothing for whoever is here, where it does nothing. */
  lacking?: string | undefined;
}

export function Button({ look = "plain", lacking, className = "", disabled, title, ...rest }: ButtonProps) {
  return (
    <button
      type="button"
      disabled={disabled || lacking !== undefined}
      title={lacking ?? title}
      className={`inline-flex h-7 shrink-0 items-center justify-center gap-1.5 whitespace-nowrap rounded px-2.5 text-xs font-medium transition-colors disabled:cursor-not-allowed disabled:opacity-60 ${LOOK[look]} ${className}`}
      {...rest}
    />
  );
}

/** The button of a page that makes one more of what it lists. */
export function NewButton({ children, ...rest }: Omit<ButtonProps, "look" | "className">) {
  return (
    <Button look="primary" className="h-8" {...rest}>
      <Plus aria-hidden size={14} /> {children}
    </Button>
  );
}

/** A square button with an icon; the label is its name and tooltip. */
export function IconButton({ label, className = "", ...rest }: ComponentProps<"button"> & { label: string }) {
  return (
    <button
      type="button"
      aria-label={label}
      title={label}
      className={`inline-flex size-7 shrink-0 items-center justify-center rounded text-soft transition-colors hover:bg-sunken hover:text-ink ${className}`}
      {...rest}
    />
  );
}

export function Key({ children }: { children: string }) {
  return (
    <kbd className="inline-flex h-[18px] min-w-[18px] items-center justify-center rounded-[3px] border border-line-strong/60 bg-sunken px-1 text-2xs text-soft">
      {children}
    </kbd>
  );
}
