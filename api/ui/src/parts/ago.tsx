import { useEffect, useState } from "react";
import { ago } from "./format";

/** Relative time that keeps up with the clock. */
export function Ago({ at }: { at: string }) {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1_000);
    return () => clearInterval(timer);
  }, []);
  return <time dateTime={at}>{ago(at, now)}</time>;
}
