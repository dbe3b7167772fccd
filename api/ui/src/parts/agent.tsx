import { Link } from "@tanstack/react-router";

/** An agent by the beginning of its id; leads to what it did, in the log. */
export function Agent({ id }: { id: string }) {
  return (
    <Link
      to="/"
      search={{ q: `stream:web/agent/${id}` }}
      title={`Agent ${id}, in the tail`}
      className="numbers text-xs text-accent underline"
    >
      {id.slice(0, 12)}…
    </Link>
  );
}
