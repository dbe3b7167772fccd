// Nothing is shown before we know who is asking. The address is kept, so signing in leads to where one was going.

import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, type ReactNode } from "react";
import { whenUnauthorised } from "../api/client";
import { asProblem } from "../api/problem";
import { getSession } from "../api/session";
import { useRetrying } from "../parts/retrying";
import { TroublePage, wordsOf } from "../parts/trouble";
import { hub } from "../stream/hub";
import { SessionContext } from "./context";
import { SignIn } from "./sign-in";

export const SESSION = ["session"];

export function Gate({ children }: { children: ReactNode }) {
  const client = useQueryClient();
  const session = useQuery({ queryKey: SESSION, queryFn: ({ signal }) => getSession(signal), staleTime: 60_000 });
  const retry = useRetrying(session);
  const signedIn = Boolean(session.data);

  useEffect(() => {
    const end = () => {
      client.setQueryData(SESSION, null);
      client.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== SESSION[0] });
    };
    whenUnauthorised(end);
    return hub.listen((signal) => {
      if (signal.is === "session ended") end();
    });
  }, [client]);

  useEffect(() => {
    if (!signedIn) return;
    hub.start();
    return () => hub.stop();
  }, [signedIn]);

  if (session.data) return <SessionContext value={session.data}>{children}</SessionContext>;
  if (session.data === null) return <SignIn />;
  if (session.error) return <TroublePage {...wordsOf(asProblem(session.error))} {...retry} />;
  return (
    <div role="status" aria-label="Loading" className="p-4">
      <div className="skeleton mb-4 h-6 w-40" />
      <div className="skeleton h-4 w-96 max-w-full" />
    </div>
  );
}
