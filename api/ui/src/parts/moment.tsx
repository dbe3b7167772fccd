import { clock, day } from "./format";

/** When something was, to the second. */
export function Moment({ at }: { at: string }) {
  return (
    <time dateTime={at} className="numbers text-xs whitespace-nowrap">
      <span className="text-soft">{day(at)}</span> {clock(at).slice(0, 8)}
    </time>
  );
}

/** Until when something holds, to the minute. */
export function Until({ at }: { at: string }) {
  return (
    <time dateTime={at} className="numbers text-xs whitespace-nowrap">
      {day(at)} {clock(at).slice(0, 5)}
    </time>
  );
}
