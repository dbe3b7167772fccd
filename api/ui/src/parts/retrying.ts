import { useEffect, useState } from "react";
import { asProblem } from "../api/problem";
import { backoff } from "../stream/backoff";

/** A query, of one answer or of pages. */
export interface Asked {
  error: Error | null;
  errorUpdateCount: number;
  isSuccess: boolean;
  refetch: () => Promise<unknown>;
}

/** Asks a failed query again with backoff while the server is away, and says when. */
export function useRetrying(query: Asked): { retryAt: number | undefined; onRetry: () => void } {
  const { error, errorUpdateCount, isSuccess, refetch } = query;
  const [retryAt, setRetryAt] = useState<number>();
  const [failures, setFailures] = useState(0);

  useEffect(() => {
    if (isSuccess && !error) setFailures(0);
  }, [isSuccess, error]);

  useEffect(() => {
    if (!error) return setRetryAt(undefined);
    const problem = asProblem(error);
    if (!problem.away && problem.status !== 429) return setRetryAt(undefined);
    const delay = Math.max((problem.retryAfter ?? 0) * 1_000, backoff(failures, 1_000));
    setRetryAt(Date.now() + delay);
    const timer = setTimeout(() => {
      setFailures((count) => count + 1);
      void refetch();
    }, delay);
    return () => clearTimeout(timer);
    // One timer per failure: `errorUpdateCount` moves with each.
  }, [error, errorUpdateCount, refetch]);

  return { retryAt, onRetry: () => void refetch() };
}
