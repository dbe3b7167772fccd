// Server-sent events, as the HTML standard frames them (section 9.2.6), fed chunk by chunk.

export interface Frame {
  event: string;
  data: string;
  /** The last id seen up to this frame; what a reconnect sends as `Last-Event-ID`. */
  id: string;
}

const MAX_FRAME = 4 * 1024 * 1024;

export class SseParser {
  /** Survives frames, as the standard says: a frame without `id:` keeps the one before. */
  lastId: string;
  /** The server's wish in milliseconds, from `retry:`. */
  retry: number | undefined;
  #rest = "";
  #event = "";
  #data: string[] = [];
  #size = 0;
  #idSoFar: string;
  #started = false;

  constructor(lastId = "") {
    this.lastId = lastId;
    this.#idSoFar = lastId;
  }

  /** Takes decoded text and gives back the frames it completed. Throws when a frame outgrows the bound. */
  push(chunk: string): Frame[] {
    if (!this.#started && chunk !== "") {
      this.#started = true;
      if (chunk.startsWith("\ufeff")) chunk = chunk.slice(1);
    }
    const frames: Frame[] = [];
    let text = this.#rest + chunk;
    // A CR at the very end may be half of a CRLF: it waits for the next chunk.
    const held = text.endsWith("\r") ? "\r" : "";
    if (held) text = text.slice(0, -1);
    const lines = text.split(/\r\n|\n|\r/);
    this.#rest = (lines.pop() ?? "") + held;
    for (const line of lines) {
      if (line === "") this.#dispatch(frames);
      else this.#field(line);
    }
    if (this.#size + this.#rest.length > MAX_FRAME) throw new RangeError("an event of the stream is larger than 4 MiB");
    return frames;
  }

  #field(line: string): void {
    const colon = line.indexOf(":");
    if (colon === 0) return;
    const name = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + (line[colon + 1] === " " ? 2 : 1));
    if (name === "data") {
      this.#data.push(value);
      this.#size += value.length;
    } else if (name === "event") this.#event = value;
    else if (name === "id" && !value.includes("\0")) this.#idSoFar = value;
    else if (name === "retry" && /^\d+$/.test(value)) this.retry = Number(value);
  }

  #dispatch(frames: Frame[]): void {
    // The id counts even when there is no data: Weir's first frame is exactly that. The standard shows no event then;
    // we report it as `open`, because it says how far the log is.
    const moved = this.lastId !== this.#idSoFar;
    this.lastId = this.#idSoFar;
    if (this.#data.length > 0)
      frames.push({ event: this.#event || "message", data: this.#data.join("\n"), id: this.lastId });
    else if (moved) frames.push({ event: "open", data: "", id: this.lastId });
    this.#event = "";
    this.#data = [];
    this.#size = 0;
  }
}
