// One way to speak to the server: JSON both ways, the CSRF header on every change, a deadline on every wait.

import { parseExact, stringifyExact, type Json } from "../json/exact";
import { api } from "../root";
import { AWAY, Problem, problemOf } from "./problem";

const DEADLINE = 15_000;

interface Ask {
  method?: "GET" | "POST" | "PUT" | "DELETE";
  body?: Json;
  /** Sent as it is, in place of a body: lines of JSON. */
  raw?: string;
  signal?: AbortSignal | undefined;
}

type Unauthorised = () => void;
let onUnauthorised: Unauthorised = () => {};

let written: { position: string; at: number } | undefined;
// Longer than a read model is behind; shorter than it takes to restore a log under an open page.
const REMEMBERED = 10_000;

/** Where this page last wrote, for `min_position`: a list read after a change shows the change. */
export function lastWritten(): string | undefined {
  return written && Date.now() - written.at < REMEMBERED ? written.position : undefined;
}

/** What a list has to know of: what the stream told of, and what this page wrote. */
export function atLeast(known: bigint | undefined): bigint | undefined {
  const mine = lastWritten();
  if (mine === undefined) return known;
  return known !== undefined && known > BigInt(mine) ? known : BigInt(mine);
}

/** Registers what happens when the session has ended while the page was open. */
export function whenUnauthorised(listener: Unauthorised): void {
  onUnauthorised = listener;
}

/** Asks `/api/<path>`; gives the parsed body (`null` when there is none) or throws a `Problem`. */
export async function ask(path: string, asked: Ask = {}): Promise<Json> {
  const answer = await send(path, "application/json", asked);
  const text = await answer.text();
  if (text === "") return null;
  try {
    return parseExact(text);
  } catch {
    throw new Problem(
      answer.status,
      "The answer is not JSON",
      `GET /api/${path} gave something else; is a proxy in the way?`,
    );
  }
}

/** Asks for something that is no JSON: its text as it came, never as a document, and what it is said to be. */
export async function askText(path: string, signal?: AbortSignal): Promise<{ text: string; type: string }> {
  const answer = await send(path, "text/plain, application/problem+json", { signal });
  return { text: await answer.text(), type: answer.headers.get("weir-content-type") ?? "" };
}

async function send(path: string, accept: string, { method = "GET", body, raw, signal }: Ask): Promise<Response> {
  const headers: Record<string, string> = { accept };
  if (method !== "GET") {
    headers["content-type"] = "application/json";
    headers["x-weir-csrf"] = "1";
  }
  const deadline = AbortSignal.timeout(DEADLINE);
  let answer: Response;
  try {
    answer = await fetch(api(path), {
      method,
      headers,
      body: method === "GET" ? null : (raw ?? stringifyExact(body ?? {})),
      credentials: "same-origin",
      cache: "no-store",
      signal: signal ? AbortSignal.any([signal, deadline]) : deadline,
    });
  } catch (fault) {
    if (signal?.aborted) throw fault;
    throw AWAY();
  }
  if (!answer.ok) {
    const problem = await problemOf(answer);
    if (problem.status === 401 && path !== "session") onUnauthorised();
    throw problem;
  }
  const position = answer.headers.get("weir-position");
  if (method !== "GET" && position !== null) written = { position, at: Date.now() };
  return answer;
}

const SILENCE = 60_000;

/** Sends something that is worked on while it is answered: a line of JSON at a time. To stop reading ends the work. */
export async function* lines(path: string, body: Json, signal: AbortSignal): AsyncGenerator<Json> {
  const silent = new AbortController();
  let timer = 0;
  const wait = () => {
    window.clearTimeout(timer);
    timer = window.setTimeout(() => silent.abort(), SILENCE);
  };
  try {
    wait();
    const answer = await fetch(api(path), {
      method: "POST",
      headers: { accept: "application/x-ndjson", "content-type": "application/json", "x-weir-csrf": "1" },
      body: stringifyExact(body),
      credentials: "same-origin",
      cache: "no-store",
      signal: AbortSignal.any([signal, silent.signal]),
    });
    if (!answer.ok || !answer.body) {
      const problem = await problemOf(answer);
      if (problem.status === 401) onUnauthorised();
      throw problem;
    }
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = "";
    for (;;) {
      wait();
      const { value, done } = await reader.read();
      if (done) return;
      const all = (rest + value).split("\n");
      rest = all.pop() ?? "";
      for (const line of all) yield parseExact(line);
    }
  } catch (fault) {
    if (signal.aborted || fault instanceof Problem) throw fault;
    throw AWAY();
  } finally {
    window.clearTimeout(timer);
    silent.abort();
  }
}

/** Builds a query string, leaving out what is empty. */
export function query(parameters: Record<string, string | number | bigint | undefined>): string {
  const search = new URLSearchParams();
  for (const [key, value] of Object.entries(parameters)) {
    if (value !== undefined && value !== "") search.set(key, String(value));
  }
  const text = search.toString();
  return text === "" ? "" : `?${text}`;
}
