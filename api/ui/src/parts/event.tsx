import { Link } from "@tanstack/react-router";

/** The position of an event, which leads to it in the tail. */
export function Event({ at }: { at: bigint }) {
  return (
    <Link to="/" search={{ at: String(at) }} className="numbers text-accent underline" aria-label={`Event ${at} in the tail`}>
      {String(at)}
    </Link>
  );
}
