// Projections, their replays and their dead letters.

import { ExactNumber, isObject, toInteger, type Json } from "../json/exact";
import { ask, query } from "./client";
import { list, text, type Position } from "./events";

export interface Replay {
  build: string;
  position: Position;
  target: Position;
  rate: number;
  etaSeconds: number | null;
  startedAt: string;
  state: "running" | "interrupted";
}

export interface Projection {
  name: string;
  subsystem: string;
  version: string;
  actor: string;
  state: string;
  position: Position;
  lagEvents: Position;
  lagSeconds: number;
  rate: number;
  owner: string | null;
  deadLetters: number;
  replay: Replay | null;
}

export interface DeadLetter {
  position: Position;
  stream: string;
  kind: string;
  actor: string;
  error: string;
  attempts: number;
  parkedAt: string;
}

export async function getProjections(signal?: AbortSignal): Promise<{ head: Position; projections: Projection[] }> {
  const answer = await ask("projections", { signal });
  if (!isObject(answer)) throw new TypeError("the list of projections is not an object");
  return { head: toInteger(answer["head"], "head"), projections: list(answer["projections"]).map(toProjection) };
}

export async function startReplay(name: string, from: Position | undefined): Promise<void> {
  // A double may not hold the position, and JSON.stringify knows no bigint.
  await ask(`projections/${encodeURIComponent(name)}/replay`, {
    method: "POST",
    body: from === undefined ? {} : { from: new ExactNumber(String(from)) },
  });
}

export async function cancelReplay(name: string): Promise<void> {
  await ask(`projections/${encodeURIComponent(name)}/replay`, { method: "DELETE" });
}

export async function getDeadLetters(
  name: string,
  cursor: string | undefined,
  signal?: AbortSignal,
): Promise<{ letters: DeadLetter[]; next: string | undefined }> {
  const answer = await ask(`projections/${encodeURIComponent(name)}/dead-letters${query({ limit: 50, cursor })}`, {
    signal,
  });
  if (!isObject(answer)) throw new TypeError("the list of dead letters is not an object");
  return { letters: list(answer["dead_letters"]).map(toDeadLetter), next: text(answer["next"]) || undefined };
}

export async function redeliver(name: string, position: Position): Promise<void> {
  await ask(`projections/${encodeURIComponent(name)}/dead-letters/${position}/redeliver`, { method: "POST" });
}

function toProjection(value: Json): Projection {
  if (!isObject(value)) throw new TypeError("a projection is not an object");
  return {
    name: text(value["name"]),
    subsystem: text(value["subsystem"]),
    version: String(value["version"] ?? ""),
    actor: text(value["actor"]),
    state: text(value["state"]),
    position: toInteger(value["position"], "position"),
    lagEvents: toInteger(value["lag_events"], "lag_events"),
    lagSeconds: Number(value["lag_seconds"]),
    rate: Number(value["rate"]),
    owner: text(value["owner"]) || null,
    deadLetters: Number(value["dead_letters"]),
    replay: toReplay(value["replay"]),
  };
}

function toReplay(value: Json | undefined): Replay | null {
  if (!isObject(value)) return null;
  return {
    build: String(value["build"] ?? ""),
    position: toInteger(value["position"], "replay position"),
    target: toInteger(value["target"], "replay target"),
    rate: Number(value["rate"]),
    etaSeconds:
      value["eta_seconds"] === null || value["eta_seconds"] === undefined ? null : Number(value["eta_seconds"]),
    startedAt: text(value["started_at"]),
    state: value["state"] === "interrupted" ? "interrupted" : "running",
  };
}

function toDeadLetter(value: Json): DeadLetter {
  if (!isObject(value)) throw new TypeError("a dead letter is not an object");
  return {
    position: toInteger(value["position"], "position"),
    stream: text(value["stream"]),
    kind: text(value["kind"]),
    actor: text(value["actor"]),
    error: text(value["error"]),
    attempts: Number(value["attempts"]),
    parkedAt: text(value["parked_at"]),
  };
}
