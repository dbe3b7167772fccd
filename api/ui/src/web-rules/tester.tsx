import { useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { Search } from "lucide-react";
import { useRef, useState, type FormEvent, type ReactNode } from "react";
import { useAgentNames } from "../agents/names";
import { asProblem, type Problem } from "../api/problem";
import { may } from "../api/session";
import { getCheck, METHODS, type Check, type Question } from "../api/web-rules";
import { Button } from "../parts/button";
import { Field, Select } from "../parts/field";
import { Nothing, Page } from "../parts/page";
import { useSession } from "../session/context";
import { useKeys } from "../shell/keys";
import { Verdict } from "./verdict";
import { WaiverDialog } from "./waiver-dialog";
import { waiverPattern } from "./words";

const route = getRouteApi("/web-rules");
const CHOICES = METHODS.map((value) => ({ value, label: value }));

type Answer = { check: Check } | { refused: Problem } | null;

/** Would this address pass, for this agent, now? */
export function TesterTab({ tabs }: { tabs: ReactNode }) {
  const { url = "", agent = "", method = "GET" } = route.useSearch();
  const question: Question = { url, agent, method };
  const navigate = route.useNavigate();
  const client = useQueryClient();
  const session = useSession();
  const [asking, setAsking] = useState<string>();
  const query = useQuery({
    queryKey: ["web-check", question],
    queryFn: async ({ signal }): Promise<Answer> => {
      if (url === "") return null;
      try {
        return { check: await getCheck(question, signal) };
      } catch (fault) {
        // It is the question that is wrong: to ask it again does not help.
        const problem = asProblem(fault);
        if (problem.status === 400) return { refused: problem };
        throw fault;
      }
    },
    enabled: may(session, "web:read"),
    staleTime: 0,
  });
  const ask = (wanted: Question) => {
    void navigate({ search: { tab: "test", ...wanted } });
    // The same question again is asked again: now is another now.
    void client.invalidateQueries({ queryKey: ["web-check", wanted] });
  };
  return (
    <Page title="Web rules" about="Nothing is asked of the outside, and nothing goes on record" scope="web:read" query={query} tabs={tabs}>
      {(answer) => (
        <>
          <Asked
            key={JSON.stringify(question)}
            question={question}
            refused={answer && "refused" in answer ? answer.refused : undefined}
            onAsk={ask}
          />
          {answer === null ? (
            <Nothing title="Would this address pass?">
              Name an address, and an agent if it is about one: every gate of the road says what it would say to a request now.
            </Nothing>
          ) : (
            "check" in answer && <Verdict check={answer.check} onWaive={() => setAsking(waiverPattern(answer.check))} />
          )}
          {asking !== undefined && (
            <WaiverDialog
              pattern={asking}
              onDone={() => void client.invalidateQueries({ queryKey: ["web-waivers"] })}
              onClose={() => setAsking(undefined)}
            />
          )}
        </>
      )}
    </Page>
  );
}

interface AskedProps {
  question: Question;
  refused: Problem | undefined;
  onAsk: (question: Question) => void;
}

function Asked({ question, refused, onAsk }: AskedProps) {
  const form = useRef<HTMLFormElement>(null);
  const agents = useAgentNames() ?? [];
  const [draft, setDraft] = useState(question);
  useKeys({ "/": () => form.current?.querySelector("input")?.focus() });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const [url, agent] = [draft.url.trim(), draft.agent.trim().toLowerCase()];
    if (url !== "") onAsk({ ...draft, url, agent });
  };
  const elsewhere = refused && !refused.of("url") && !refused.of("agent");
  return (
    <form ref={form} onSubmit={submit} className="border-b border-line px-4 py-3">
      <div className="grid max-w-5xl items-start gap-3 md:grid-cols-[3fr_7rem_3fr_auto]">
        <Field
          label="Address"
          hint="with its scheme"
          placeholder="https://docs.rs/serde"
          value={draft.url}
          onChange={({ target }) => setDraft({ ...draft, url: target.value })}
          problem={refused?.of("url")}
        />
        <Select
          visible
          label="Method"
          value={draft.method}
          choices={CHOICES}
          onChoose={(method) => setDraft({ ...draft, method })}
        />
        <Field
          label="Agent"
          hint="its id; its own gates are asked then"
          list="agents-known"
          value={draft.agent}
          onChange={({ target }) => setDraft({ ...draft, agent: target.value })}
          problem={refused?.of("agent")}
        />
        <Button type="submit" look="primary" className="h-8 md:mt-[20px]" disabled={draft.url.trim() === ""}>
          <Search aria-hidden size={13} /> Would it pass?
        </Button>
      </div>
      <datalist id="agents-known">
        {agents.map(({ id, name }) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </datalist>
      <p role="alert" className="text-xs text-bad empty:hidden">
        {elsewhere ? refused.message : ""}
      </p>
    </form>
  );
}
