// Profiles: the stricter policies that tokens can name.

import type { Json } from "../json/exact";
import { ask } from "./client";
import { list, text } from "./events";
import { maybe, number, object } from "./read";

/** How much a token may download; `null` is not counted. */
export interface Quota {
  downloadsPerHour: number | null;
  downloadsPerDay: number | null;
  bytesPerDay: number | null;
}

export interface Profile {
  name: string;
  /** `enforce` or `audit`; `null`: as the ecosystem says. */
  mode: string | null;
  /** 0: as old as the settings say. */
  minAgeHours: number;
  /** `null`: as the settings say. */
  severityFloor: string | null;
  quota: Quota;
  /** What a person has to answer. */
  hold: string[];
}

export async function getProfiles(signal?: AbortSignal): Promise<Profile[]> {
  const answer = object(await ask("registry/profiles", { signal }), "the list of profiles");
  return list(answer["profiles"]).map(toProfile);
}

export async function setProfile({ name, mode, minAgeHours, severityFloor, quota, hold }: Profile): Promise<void> {
  const body: { [key: string]: Json } = {
    mode,
    min_age_hours: minAgeHours,
    severity_floor: severityFloor,
    quota: {
      downloads_per_hour: quota.downloadsPerHour,
      downloads_per_day: quota.downloadsPerDay,
      bytes_per_day: quota.bytesPerDay,
    },
    hold,
  };
  await ask(`registry/profiles/${encodeURIComponent(name)}`, { method: "PUT", body });
}

export async function removeProfile(name: string): Promise<void> {
  await ask(`registry/profiles/${encodeURIComponent(name)}`, { method: "DELETE" });
}

export function toProfile(value: Json): Profile {
  const it = object(value, "a profile");
  return {
    name: text(it["name"]),
    mode: maybe(it["mode"]),
    minAgeHours: number(it["min_age_hours"], "min_age_hours"),
    severityFloor: maybe(it["severity_floor"]),
    quota: toQuota(it["quota"]),
    hold: list(it["hold"]).map(text),
  };
}

export function toQuota(value: Json | undefined): Quota {
  const it = object(value, "a quota");
  const limit = (key: string) => (it[key] === null || it[key] === undefined ? null : number(it[key], key));
  return {
    downloadsPerHour: limit("downloads_per_hour"),
    downloadsPerDay: limit("downloads_per_day"),
    bytesPerDay: limit("bytes_per_day"),
  };
}
