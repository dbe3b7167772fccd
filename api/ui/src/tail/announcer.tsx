import { useEffect, useRef, useState } from "react";
import { plural } from "../parts/format";

const EVERY = 5_000;

/** Says how many events came in, politely and at most every five seconds. */
export function Announcer({ paused, arrived, waiting }: { paused: boolean; arrived: number; waiting: number }) {
  const [message, setMessage] = useState("");
  const now = useRef({ paused, arrived, waiting });
  now.current = { paused, arrived, waiting };
  useEffect(() => {
    let said = now.current;
    const timer = setInterval(() => {
      const { paused, arrived, waiting } = now.current;
      const change = paused ? waiting - (said.paused ? said.waiting : 0) : arrived - said.arrived;
      if (change > 0)
        setMessage(paused ? `Paused, ${plural(waiting, "new event")} waiting` : plural(change, "new event"));
      said = now.current;
    }, EVERY);
    return () => clearInterval(timer);
  }, []);
  return (
    <div aria-live="polite" role="status" className="sr-only" data-testid="announcer">
      {message}
    </div>
  );
}
