import { createContext, use } from "react";
import type { Session } from "../api/session";

export const SessionContext = createContext<Session | null>(null);

/** Who is signed in; only below the gate. */
export function useSession(): Session {
  const session = use(SessionContext);
  if (!session) throw new Error("nobody is signed in");
  return session;
}
