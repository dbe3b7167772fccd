// Snippets of a search: plain text in which what was found stands between `**`.

export interface Piece {
  text: string;
  found: boolean;
}

/** The pieces of a snippet, in their order. A mark that nothing ends is text like any other. */
export function pieces(snippet: string): Piece[] {
  const parts = snippet.split("**");
  const last = parts.length - 1;
  const open = last % 2 === 1;
  return parts
    .map((text, at) => {
      const loose = open && at === last;
      return { text: loose ? `**${text}` : text, found: at % 2 === 1 && !loose };
    })
    .filter(({ text }) => text !== "");
}

/** How many cycles a page is still shown. */
export function cyclesLeft(expiresIn: number, cycle: number): number {
  return Math.max(0, expiresIn - cycle);
}
