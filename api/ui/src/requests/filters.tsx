import { Search, X } from "lucide-react";
import { useRef, type FormEvent } from "react";
import { short } from "../agents/words";
import type { Agent } from "../api/agents";
import { REQUEST_STATES, type RequestFilter } from "../api/web-requests";
import { Button } from "../parts/button";
import { Select } from "../parts/field";
import { useKeys } from "../shell/keys";

const STATES = [
  { value: "", label: "all states" },
  ...REQUEST_STATES.map((value) => ({ value, label: value === "submitted" ? "pending" : value })),
];
const CACHED = [
  { value: "", label: "cached or not" },
  { value: "true", label: "cached" },
  { value: "false", label: "not cached" },
];
const BOX = "numbers h-8 rounded border border-line-strong bg-paper px-2 text-xs placeholder:text-soft";

interface FiltersProps {
  filter: RequestFilter;
  /** Where this session may see them. */
  agents: readonly Agent[] | undefined;
  onShow: (wanted: RequestFilter) => void;
  onClear: (() => void) | undefined;
}

export function Filters({ filter, agents, onShow, onClear }: FiltersProps) {
  const first = useRef<HTMLInputElement>(null);
  useKeys({ "/": () => first.current?.focus() });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const word = (name: string) => String(form.get(name) ?? "").trim();
    onShow({
      q: word("q"),
      host: word("host"),
      cycle: word("cycle"),
      ...(agents === undefined ? { agent: word("agent") } : {}),
    });
  };
  return (
    <form role="search" onSubmit={submit} className="flex flex-wrap items-center gap-2">
      <input
        ref={first}
        name="q"
        aria-label="Words in address or purpose"
        placeholder="address or purpose"
        defaultValue={filter.q}
        maxLength={200}
        spellCheck={false}
        autoComplete="off"
        className={`${BOX} w-44`}
      />
      <input
        name="host"
        aria-label="Filter by host"
        placeholder="host"
        defaultValue={filter.host}
        spellCheck={false}
        autoComplete="off"
        className={`${BOX} w-32`}
      />
      <input
        name="cycle"
        aria-label="Filter by cycle"
        placeholder="cycle"
        inputMode="numeric"
        pattern="\d{1,15}"
        title="A cycle is a number"
        defaultValue={filter.cycle}
        autoComplete="off"
        className={`${BOX} w-20`}
      />
      {agents === undefined ? (
        <input
          name="agent"
          aria-label="Filter by agent"
          placeholder="agent’s id"
          defaultValue={filter.agent}
          spellCheck={false}
          autoComplete="off"
          className={`${BOX} w-32`}
        />
      ) : (
        <Select
          label="Agent"
          className="[&_select]:max-w-40"
          value={filter.agent ?? ""}
          choices={agentChoices(agents, filter.agent)}
          onChoose={(agent) => onShow({ agent })}
        />
      )}
      <Select label="State" value={filter.state ?? ""} choices={STATES} onChoose={(state) => onShow({ state })} />
      <Select label="Cached" value={filter.cached ?? ""} choices={CACHED} onChoose={(cached) => onShow({ cached })} />
      <Button type="submit" className="h-8">
        <Search aria-hidden size={13} /> Search
      </Button>
      {onClear && (
        <Button look="quiet" className="h-8" onClick={onClear}>
          <X aria-hidden size={13} /> Clear
        </Button>
      )}
    </form>
  );
}

/** The agents there are, and the one that is asked for, whoever it is. */
function agentChoices(agents: readonly Agent[], chosen: string | undefined) {
  const choices = [{ value: "", label: "all agents" }, ...agents.map(({ id, name }) => ({ value: id, label: name }))];
  if (chosen && !agents.some(({ id }) => id === chosen)) choices.push({ value: chosen, label: short(chosen) });
  return choices;
}
