import { useEffect, useState } from "react";
import { hub } from "../stream/hub";

const SECONDS = 40;

/** Arrivals of the last 40 seconds, one bar each, and the mean of the last five. */
export function useRate(): { bars: number[]; perSecond: number } {
  const [bars, setBars] = useState<number[]>(() => new Array<number>(SECONDS).fill(0));
  useEffect(() => {
    let count = 0;
    const forget = hub.listen((signal) => {
      if (signal.is === "events") count += signal.events.length;
    });
    const timer = setInterval(() => {
      const arrived = count;
      count = 0;
      // A silent log changes nothing, and then nothing is drawn again.
      setBars((bars) => (arrived === 0 && bars.every((bar) => bar === 0) ? bars : [...bars.slice(1), arrived]));
    }, 1_000);
    return () => {
      forget();
      clearInterval(timer);
    };
  }, []);
  return { bars, perSecond: bars.slice(-5).reduce((sum, bar) => sum + bar, 0) / 5 };
}
