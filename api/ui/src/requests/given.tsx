import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { asProblem } from "../api/problem";
import { getContent, type WebRequest } from "../api/web-requests";
import { Button } from "../parts/button";
import { bytes, grouped } from "../parts/format";

// More is not drawn at once: a page that cannot be scrolled helps nobody.
const MOST_CHARS = 100_000;

const NOTHING: Record<string, string> = {
  submitted: "Nothing yet: it is under way.",
  blocked: "Nothing: it was refused.",
  failed: "Nothing: it came to nothing.",
};

/** The words an agent was given, as plain text: nothing of it is run, drawn or followed. */
export function Given({ request }: { request: WebRequest }) {
  const [shown, setShown] = useState(false);
  const query = useQuery({
    queryKey: ["web-content", request.agent, request.id],
    queryFn: ({ signal }) => getContent(request, signal),
    enabled: shown,
    staleTime: Infinity,
  });
  const nothing = NOTHING[request.state];
  if (nothing) return <p className="text-soft">{nothing}</p>;
  if (!shown) {
    return (
      <Button onClick={() => setShown(true)}>
        Show {bytes(request.contentSize)} as plain text
      </Button>
    );
  }
  if (query.error) {
    return (
      <p role="alert" className="flex flex-wrap items-center gap-3 text-xs text-bad">
        {asProblem(query.error).message}
        <Button onClick={() => void query.refetch()}>Try again</Button>
      </p>
    );
  }
  if (!query.data) {
    return (
      <p role="status" className="text-soft">
        Loading the content…
      </p>
    );
  }
  const { text, type } = query.data;
  if (text === "") return <p className="text-soft">An answer without a body.</p>;
  return (
    <>
      <p className="mb-1 text-xs text-soft">
        {type === "" ? "of no type" : type}
        {text.length > MOST_CHARS && `; the first ${grouped(MOST_CHARS)} of ${grouped(text.length)} characters`}
      </p>
      <pre
        data-testid="content"
        tabIndex={0}
        role="region"
        aria-label="What the agent was given"
        className="max-h-[50vh] overflow-auto rounded border border-line bg-paper p-3 text-xs break-words whitespace-pre-wrap"
      >
        {text.slice(0, MOST_CHARS)}
      </pre>
    </>
  );
}
