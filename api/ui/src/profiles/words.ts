// What a profile says, in words; and what a person writes into its form, as the API takes it.

import type { Profile, Quota } from "../api/profiles";
import type { Used } from "../api/tokens";
import { bytes, duration, grouped } from "../parts/format";

export const GROUNDS = [
  { name: "new-package", what: "nothing of the package was ever let through here" },
  { name: "new-version", what: "the version was never let through here" },
  { name: "advisory", what: "an advisory warns of it; malware never passes" },
];

const MEGABYTE = 1_000_000;

/** One limit of a quota, and what was used of it. */
export interface Use {
  name: string;
  used: string;
  limit: string;
  /** From 0 to 1. */
  share: number;
}

/** What of a quota is counted, and how much of it is used. */
export function uses({ downloadsThisHour, downloadsToday, bytesToday, quota }: Used): Use[] {
  const rows: [string, number, number | null, (value: number) => string][] = [
    ["files this hour", downloadsThisHour, quota.downloadsPerHour, grouped],
    ["files today", downloadsToday, quota.downloadsPerDay, grouped],
    ["today", bytesToday, quota.bytesPerDay, bytes],
  ];
  return rows.flatMap(([name, used, limit, say]) =>
    limit === null
      ? []
      : [{ name, used: say(used), limit: say(limit), share: limit === 0 ? 1 : Math.min(1, used / limit) }],
  );
}

/** The limits of a quota, in words. */
export function limits({ downloadsPerHour, downloadsPerDay, bytesPerDay }: Quota): string[] {
  const rows: (string | undefined)[] = [
    downloadsPerHour === null ? undefined : `${grouped(downloadsPerHour)} files an hour`,
    downloadsPerDay === null ? undefined : `${grouped(downloadsPerDay)} files a day`,
    bytesPerDay === null ? undefined : `${bytes(bytesPerDay)} a day`,
  ];
  return rows.filter((row) => row !== undefined);
}

/** The least age, in words. */
export function age(hours: number): string {
  return hours === 0 ? "as the settings say" : duration(hours * 3_600);
}

/** A profile as it stands in the form, by the names that the API has where it has them. */
export interface Draft {
  name: string;
  mode: string;
  min_age_hours: string;
  severity_floor: string;
  downloadsPerHour: string;
  downloadsPerDay: string;
  megabytesPerDay: string;
  hold: string[];
}

export const NEW: Draft = {
  name: "",
  mode: "",
  min_age_hours: "",
  severity_floor: "",
  downloadsPerHour: "",
  downloadsPerDay: "",
  megabytesPerDay: "",
  hold: [],
};

export function toDraft({ name, mode, minAgeHours, severityFloor, quota, hold }: Profile): Draft {
  const written = (value: number | null) => (value === null ? "" : String(value));
  return {
    name,
    mode: mode ?? "",
    min_age_hours: minAgeHours === 0 ? "" : String(minAgeHours),
    severity_floor: severityFloor ?? "",
    downloadsPerHour: written(quota.downloadsPerHour),
    downloadsPerDay: written(quota.downloadsPerDay),
    megabytesPerDay: quota.bytesPerDay === null ? "" : String(quota.bytesPerDay / MEGABYTE),
    hold,
  };
}

/** The profile that a form says; an empty field is not counted, and what is no number is for the server to refuse. */
export function fromDraft(draft: Draft): Profile {
  const count = (text: string) => (text.trim() === "" ? null : Number(text));
  const megabytes = count(draft.megabytesPerDay);
  return {
    name: draft.name.trim(),
    mode: draft.mode === "" ? null : draft.mode,
    minAgeHours: count(draft.min_age_hours) ?? 0,
    severityFloor: draft.severity_floor === "" ? null : draft.severity_floor,
    quota: {
      downloadsPerHour: count(draft.downloadsPerHour),
      downloadsPerDay: count(draft.downloadsPerDay),
      bytesPerDay: megabytes === null ? null : Math.round(megabytes * MEGABYTE),
    },
    hold: GROUNDS.map(({ name }) => name).filter((name) => draft.hold.includes(name)),
  };
}
