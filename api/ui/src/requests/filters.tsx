import { short } from "../agents/words";
import type { Agent } from "../api/agents";
import { REQUEST_STATES, type RequestFilter } from "../api/web-requests";
import { Box, Select } from "../parts/field";
import { Filters } from "../parts/filters";

const STATES = [
  { value: "", label: "all states" },
  ...REQUEST_STATES.map((value) => ({ value, label: value === "submitted" ? "pending" : value })),
];
const CACHED = [
  { value: "", label: "cached or not" },
  { value: "true", label: "cached" },
  { value: "false", label: "not cached" },
];
const BOX = "numbers text-xs";

interface RequestFiltersProps {
  filter: RequestFilter;
  /** Where this session may see them. */
  agents: readonly Agent[] | undefined;
  onShow: (wanted: RequestFilter) => void;
  onClear: () => void;
}

export function RequestFilters({ filter, agents, onShow, onClear }: RequestFiltersProps) {
  return (
    <Filters filter={filter} onShow={onShow} onClear={onClear}>
      <Box
        name="q"
        label="Words in address or purpose"
        placeholder="address or purpose"
        defaultValue={filter.q}
        maxLength={200}
        className={`${BOX} w-44`}
      />
      <Box name="host" label="Filter by host" placeholder="host" defaultValue={filter.host} className={`${BOX} w-32`} />
      <Box
        name="cycle"
        label="Filter by cycle"
        placeholder="cycle"
        inputMode="numeric"
        pattern="\d{1,15}"
        title="A cycle is a number"
        defaultValue={filter.cycle}
        className={`${BOX} w-20`}
      />
      {agents === undefined ? (
        <Box
          name="agent"
          label="Filter by agent"
          placeholder="agent’s id"
          defaultValue={filter.agent}
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
    </Filters>
  );
}

/** The agents there are, and the one that is asked for, whoever it is. */
function agentChoices(agents: readonly Agent[], chosen: string | undefined) {
  const choices = [{ value: "", label: "all agents" }, ...agents.map(({ id, name }) => ({ value: id, label: name }))];
  if (chosen && !agents.some(({ id }) => id === chosen)) choices.push({ value: chosen, label: short(chosen) });
  return choices;
}
