// How pages ask: who may, how often, when not, and how to have it asked again.

import {
  keepPreviousData,
  useInfiniteQuery,
  useQuery,
  useQueryClient,
  type InfiniteData,
  type QueryKey,
} from "@tanstack/react-query";
import { useCallback } from "react";
import { may } from "../api/session";
import { useSession } from "../session/context";

interface Asking {
  key: QueryKey;
  /** What a token must hold; without, whoever is signed in may ask. */
  scope?: string;
}

interface AskAnswer<T> extends Asking {
  read: (signal: AbortSignal) => Promise<T> | T;
  /** Milliseconds until it is asked again; without, it is not. */
  every?: number | ((last: T | undefined) => number);
  /** What stands there remains until another question is answered. */
  keep?: boolean;
}

function useMay(scope: string | undefined): boolean {
  const session = useSession();
  return scope === undefined || may(session, scope);
}

/** One answer. While the server is away the countdown asks, not the clock. */
export function useAnswer<T>({ key, scope, read, every, keep = false }: AskAnswer<T>) {
  return useQuery<T>({
    queryKey: key,
    queryFn: ({ signal }) => read(signal),
    enabled: useMay(scope),
    refetchInterval: ({ state }) => (state.error ? false : typeof every === "function" ? every(state.data) : (every ?? false)),
    ...(keep && { placeholderData: keepPreviousData }),
  });
}

interface AskPages<P, C> extends Asking {
  /** Reads the page at a cursor, or the first one. */
  read: (cursor: C | undefined, signal: AbortSignal) => Promise<P>;
  every?: number;
}

/** A list that is read page by page. Who has paged back is reading: nothing moves under the eyes. */
export function usePages<P extends { next: C | undefined } | null, C = string>({ key, scope, read, every }: AskPages<P, C>) {
  return useInfiniteQuery<P, Error, InfiniteData<P, C | undefined>, QueryKey, C | undefined>({
    queryKey: key,
    // The client gives back what the pages said, without its type.
    queryFn: ({ pageParam, signal }) => read(pageParam as C | undefined, signal),
    initialPageParam: undefined,
    getNextPageParam: (page) => page?.next,
    enabled: useMay(scope),
    refetchInterval: ({ state }) => (state.error || (state.data?.pages.length ?? 0) > 1 ? false : (every ?? false)),
  });
}

/** Has all that was asked by these names asked again; stays the same. */
export function useLook(...names: string[]): () => Promise<unknown> {
  const client = useQueryClient();
  const all = names.join("\n");
  return useCallback(
    () => Promise.all(all.split("\n").map((name) => client.invalidateQueries({ queryKey: [name] }))),
    [client, all],
  );
}
