import { X } from "lucide-react";
import { Dialog as Radix } from "radix-ui";
import type { ReactNode } from "react";
import { IconButton } from "./button";

interface DialogProps {
  title: string;
  description?: ReactNode;
  onClose: () => void;
  children: ReactNode;
  /** `sheet` stands at the right edge, `card` in the middle. */
  form?: "card" | "sheet";
  width?: string;
}

/** A modal dialog: Escape and a click outside close it, focus goes in and comes back. */
export function Dialog({ title, description, onClose, children, form = "card", width = "max-w-lg" }: DialogProps) {
  const place =
    form === "sheet"
      ? "sheet-in inset-y-0 right-0 h-full border-l"
      : "rise-in top-[12vh] left-1/2 max-h-[76vh] -translate-x-1/2 rounded-lg border";
  return (
    <Radix.Root open onOpenChange={(open) => !open && onClose()}>
      <Radix.Portal>
        <Radix.Overlay className="fixed inset-0 z-40 bg-veil" />
        <Radix.Content
          {...(description ? {} : { "aria-describedby": undefined })}
          className={`card-shadow fixed z-50 flex w-[calc(100%-2rem)] flex-col border-line-strong bg-sheet outline-none ${place} ${width}`}
        >
          <div className="flex items-start gap-3 border-b border-line px-4 py-3">
            <div className="min-w-0 flex-1">
              <Radix.Title className="text-base font-semibold">{title}</Radix.Title>
              {description && (
                <Radix.Description asChild>
                  <div className="mt-0.5 text-xs text-soft">{description}</div>
                </Radix.Description>
              )}
            </div>
            <Radix.Close asChild>
              <IconButton label="Close (Esc)">
                <X size={16} />
              </IconButton>
            </Radix.Close>
          </div>
          <div className="min-h-0 flex-1 overflow-y-auto" tabIndex={-1}>
            {children}
          </div>
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}
