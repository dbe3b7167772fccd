import { Link } from "@tanstack/react-router";
import { useAgentNames } from "../agents/names";
import { nameOf } from "../agents/words";

/** An agent by its name, or by the beginning of its id where that is not known; leads to what it asked. */
export function Agent({ id }: { id: string }) {
  return (
    <Link to="/requests" search={{ agent: id }} title={`Requests of agent ${id}`} className="numbers text-xs text-accent underline">
      {nameOf(useAgentNames(), id)}
    </Link>
  );
}
