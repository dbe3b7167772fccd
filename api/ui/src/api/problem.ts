// What went wrong, in the words of the server's problem document (RFC 9457), or ours when there was no answer.

import { isObject, parseExact, type Json } from "../json/exact";

export class Problem extends Error {
  /** 0 when the server did not answer at all. */
  readonly status: number;
  readonly title: string;
  readonly code: string | undefined;
  readonly requestId: string | undefined;
  /** Seconds the server asked us to wait. */
  readonly retryAfter: number | undefined;
  /** What is wrong with which field. */
  readonly fields: ReadonlyMap<string, string>;

  constructor(
    status: number,
    title: string,
    detail: string,
    more: {
      code?: string | undefined;
      requestId?: string | undefined;
      retryAfter?: number | undefined;
      fields?: ReadonlyMap<string, string>;
    } = {},
  ) {
    super(detail || title);
    this.name = "Problem";
    this.status = status;
    this.title = title;
    this.code = more.code;
    this.requestId = more.requestId;
    this.retryAfter = more.retryAfter;
    this.fields = more.fields ?? new Map();
  }

  /** What is wrong with a field, if that is what is wrong. */
  of(field: string): string | undefined {
    return this.fields.get(field);
  }

  /** The server is not there, or not able to answer now: trying again is sensible. */
  get away(): boolean {
    return this.status === 0 || this.status === 502 || this.status === 503 || this.status === 504;
  }
}

export const AWAY = () => new Problem(0, "Weir does not answer", "The server cannot be reached.");

export async function problemOf(answer: Response): Promise<Problem> {
  const seconds = Number(answer.headers.get("retry-after") ?? "");
  const body = parsed(await answer.text().catch(() => ""));
  const word = (key: string) => (isObject(body) && typeof body[key] === "string" ? body[key] : undefined);
  const title = word("title") ?? `The server answered ${answer.status}`;
  return new Problem(answer.status, title, word("detail") ?? "", {
    code: word("code"),
    requestId: word("request_id"),
    retryAfter: seconds > 0 ? seconds : undefined,
    fields: fieldsOf(body),
  });
}

function fieldsOf(body: Json): Map<string, string> {
  const errors = isObject(body) && Array.isArray(body["errors"]) ? body["errors"] : [];
  const told = errors.filter(isObject).map(({ field, detail }): [string, string] => [String(field), String(detail)]);
  return new Map(told);
}

export function asProblem(fault: unknown): Problem {
  if (fault instanceof Problem) return fault;
  return new Problem(-1, "This page failed", fault instanceof Error ? fault.message : String(fault));
}

function parsed(text: string): Json {
  try {
    return parseExact(text);
  } catch {
    return null;
  }
}
