// Who is signed in. The token itself never stays in the page: it becomes an HttpOnly cookie.

import { isObject, type Json } from "../json/exact";
import { ask } from "./client";
import { list, text } from "./events";
import { Problem } from "./problem";

export interface Session {
  principal: string;
  scopes: string[];
}

/** The session, or `null` when nobody is signed in. */
export async function getSession(signal?: AbortSignal): Promise<Session | null> {
  try {
    return toSession(await ask("session", { signal }));
  } catch (fault) {
    if (fault instanceof Problem && fault.status === 401) return null;
    throw fault;
  }
}

export async function signIn(token: string): Promise<Session> {
  return toSession(await ask("session", { method: "POST", body: { token } }));
}

export async function signOut(): Promise<void> {
  await ask("session", { method: "DELETE" });
}

/** May this session do `scope`? The server decides; this only spares people buttons that would be refused. */
export function may(session: Session, scope: string): boolean {
  return session.scopes.includes("admin") || session.scopes.includes(scope);
}

function toSession(value: Json): Session {
  if (!isObject(value)) throw new TypeError("the session is not an object");
  return { principal: text(value["principal"]), scopes: list(value["scopes"]).map(text) };
}
