import { useQuery } from "@tanstack/react-query";
import { getAgentNames, type Agent } from "../api/agents";
import { may } from "../api/session";
import { useSession } from "../session/context";

/** The agents by name, where this session may see them. */
export function useAgentNames(): readonly Agent[] | undefined {
  const query = useQuery({
    queryKey: ["agents", "names"],
    queryFn: ({ signal }) => getAgentNames(signal),
    enabled: may(useSession(), "agents:read"),
    staleTime: 30_000,
  });
  return query.data;
}
