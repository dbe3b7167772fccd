import { expect, it } from "vitest";
import { age, fromDraft, limits, NEW, toDraft, uses } from "./words";

const quota = { downloadsPerHour: null, downloadsPerDay: 200, bytesPerDay: 1_500_000_000 };

it("shows of a quota what is counted, and never more than all of it as used", () => {
  const used = { downloadsThisHour: 9, downloadsToday: 50, bytesToday: 2_000_000_000, quota };
  expect(uses(used)).toEqual([
    { name: "files today", used: "50", limit: "200", share: 0.25 },
    { name: "today", used: "2 GB", limit: "1.5 GB", share: 1 },
  ]);
  const none = { downloadsPerHour: 0, downloadsPerDay: null, bytesPerDay: null };
  expect(uses({ ...used, quota: none })).toEqual([{ name: "files this hour", used: "9", limit: "0", share: 1 }]);
  expect(limits(quota)).toEqual(["200 files a day", "1.5 GB a day"]);
});

it("says an age as people do", () => {
  expect([0, 1, 24, 168].map(age)).toEqual(["as the settings say", "1 h 0 min", "24 h 0 min", "7 d"]);
});

it("takes a profile through the form unchanged", () => {
  const profile = {
    name: "agent",
    mode: "enforce",
    minAgeHours: 168,
    severityFloor: "low",
    quota: { ...quota, bytesPerDay: 1_500_001 },
    hold: ["new-package", "advisory"],
  };
  expect(fromDraft(toDraft(profile))).toEqual(profile);
});

it("takes what is not said for not counted", () => {
  expect(fromDraft({ ...NEW, name: " agent ", hold: ["advisory", "new-package"], downloadsPerDay: " " })).toEqual({
    name: "agent",
    mode: null,
    minAgeHours: 0,
    severityFloor: null,
    quota: { downloadsPerHour: null, downloadsPerDay: null, bytesPerDay: null },
    hold: ["new-package", "advisory"],
  });
});
