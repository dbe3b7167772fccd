// What can be sent to be filtered, and how much of a text is drawn.

/** The largest text that is filtered, as the gateway has it. */
export const MAX_BYTES = 2 * 1_024 * 1_024;
/** A text longer than this slows the page down and tells nobody more. */
const DRAWN = 200_000;

/** Types to choose from; the empty one is found out by the filter itself. */
export const TYPES = [
  { value: "", label: "found out by itself" },
  { value: "text/html", label: "HTML" },
  { value: "text/markdown", label: "Markdown" },
  { value: "text/plain", label: "plain text" },
  { value: "application/json", label: "JSON" },
  { value: "application/atom+xml", label: "a feed (XML)" },
];

const BY_ENDING: Record<string, string> = {
  html: "text/html",
  htm: "text/html",
  xhtml: "text/html",
  md: "text/markdown",
  markdown: "text/markdown",
  txt: "text/plain",
  text: "text/plain",
  json: "application/json",
  xml: "application/atom+xml",
  atom: "application/atom+xml",
  rss: "application/atom+xml",
};

/** The type that a file's name speaks of; none where it says nothing. */
export function typeOf(name: string): string {
  const ending = name.includes(".") ? name.slice(name.lastIndexOf(".") + 1).toLowerCase() : "";
  return BY_ENDING[ending] ?? "";
}

/** In bytes of UTF-8. */
export function sizeOf(text: string): number {
  return new TextEncoder().encode(text).length;
}

/** What is drawn of a text, and how many characters are not. */
export function drawn(text: string): { shown: string; beyond: number } {
  const beyond = Math.max(0, text.length - DRAWN);
  return { shown: beyond === 0 ? text : text.slice(0, DRAWN), beyond };
}

/** The digits of a size, if that is what they are and it is one. */
export function sizeFrom(typed: string): number | undefined {
  const size = Number(typed);
  return /^\d{1,7}$/.test(typed.trim()) && size >= 1 && size <= MAX_BYTES ? size : undefined;
}
