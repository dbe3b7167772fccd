// Who is signed in. The token never stays in the browser: it opens a session, whose HttpOnly cookie no script reads.

import { isObject, type Json } from "../json/exact";
import { ask } from "./client";
import { list, text } from "./events";

export interface Session {
  principal: string;
  scopes: string[];
}

/** The session, or `null` when nobody is signed in. */
export async function getSession(signal?: AbortSignal): Promise<Session | null> {
  return toSession(await ask("session", { signal }));
}

export async function signIn(token: string): Promise<Session> {
  const session = toSession(await ask("session", { method: "POST", body: { token } }));
  if (session === null) throw new TypeError("the server signed nobody in");
  return session;
}

export async function signOut(): Promise<void> {
  await ask("session", { method: "DELETE" });
}

/** May this session do `scope`? The server decides; this only spares people buttons that would be refused. */
export function may(session: Session, scope: string): boolean {
  return session.scopes.includes("admin") || session.scopes.includes(scope);
}

/** Why this session may not do `scope`, in words for a button; nothing where it may. */
export function lacking(session: Session, scope: string): string | undefined {
  return may(session, scope) ? undefined : `Your token lacks the scope ${scope}`;
}

function toSession(value: Json): Session | null {
  if (!isObject(value)) throw new TypeError("the session is not an object");
  if (value["principal"] === null) return null;
  return { principal: text(value["principal"]), scopes: list(value["scopes"]).map(text) };
}
