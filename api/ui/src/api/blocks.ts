// Refused downloads.

import { toInteger, type Json } from "../json/exact";
import { ask, query } from "./client";
import { list, text, type Position } from "./events";
import { maybe, object } from "./read";

export interface Block {
  position: Position;
  at: string;
  ecosystem: string;
  package: string;
  version: string | null;
  file: string;
  source: string;
  ruleId: string | null;
  reason: string;
  mask: string;
  principal: string;
  advisory: { id: string; severity: string; hit: string; fixedBy: string | null } | null;
}

export const BLOCK_FILTERS = ["ecosystem", "package", "version", "source", "rule", "advisory", "principal"] as const;
export type BlockFilter = { [K in (typeof BLOCK_FILTERS)[number]]?: string | undefined };

export async function getBlocks(
  filter: BlockFilter,
  cursor: string | undefined,
  signal?: AbortSignal,
): Promise<{ blocks: Block[]; next: string | undefined }> {
  const answer = object(await ask(`blocks${query({ ...filter, limit: 50, cursor })}`, { signal }), "the block log");
  return { blocks: list(answer["blocks"]).map(toBlock), next: maybe(answer["next"]) ?? undefined };
}

function toBlock(value: Json): Block {
  const it = object(value, "a block");
  const advisory = it["advisory"] ? object(it["advisory"], "an advisory") : null;
  return {
    position: toInteger(it["position"], "position"),
    at: text(it["at"]),
    ecosystem: text(it["ecosystem"]),
    package: text(it["package"]),
    version: maybe(it["version"]),
    file: text(it["file"]),
    source: text(it["source"]),
    ruleId: maybe(it["rule_id"]),
    reason: text(it["reason"]),
    mask: text(it["mask"]),
    principal: text(it["principal"]),
    advisory: advisory && {
      id: text(advisory["id"]),
      severity: text(advisory["severity"]),
      hit: text(advisory["hit"]),
      fixedBy: maybe(advisory["fixed_by"]),
    },
  };
}
