import { toast } from "sonner";

/** Copies and says so. `navigator.clipboard` is missing on plain http away from localhost: then the old way serves. */
export async function copy(text: string, what: string): Promise<void> {
  if (await toClipboard(text)) toast.success(`Copied ${what}`);
  else toast.error(`The browser did not let us copy ${what}`, { description: text.length < 300 ? text : undefined });
}

async function toClipboard(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return bySelection(text);
  }
}

function bySelection(text: string): boolean {
  const area = document.createElement("textarea");
  const focused = document.activeElement;
  area.value = text;
  area.readOnly = true;
  area.setAttribute("aria-hidden", "true");
  area.className = "fixed top-0 left-0 opacity-0";
  // Inside an open dialog, the focus trap would not let the selection out.
  (document.querySelector("[role=dialog]") ?? document.body).append(area);
  area.select();
  try {
    return document.execCommand("copy");
  } catch {
    return false;
  } finally {
    area.remove();
    if (focused instanceof HTMLElement) focused.focus();
  }
}
