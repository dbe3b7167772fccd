import { createContext, use } from "react";
import { lacking, type Session } from "../api/session";

export const SessionContext = createContext<Session | null>(null);

/** Who is signed in; only below the gate. */
export function useSession(): Session {
  const session = use(SessionContext);
  if (!session) throw new Error("nobody is signed in");
  return session;
}

/** Why who is signed in may not do `scope`, in words for a button; nothing where they may. */
export function useLacking(scope: string): string | undefined {
  return lacking(useSession(), scope);
}
