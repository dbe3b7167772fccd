import { expect, it } from "vitest";
import { toEvent } from "../api/events";
import { chain } from "./chain";

const event = (position: number, id: string, cause: string | null) =>
  toEvent({ position, meta: { event_id: id, causation_id: cause } });
const drawn = (...events: Parameters<typeof event>[]) =>
  chain(events.map((parts) => event(...parts))).map(({ event, depth }) => `${"-".repeat(depth)}${event.position}`);

it("indents effects under their cause, siblings by position", () => {
  expect(drawn([1, "a", null], [2, "b", "a"], [3, "c", "b"], [4, "d", "a"], [5, "e", "b"])).toEqual([
    "1",
    "-2",
    "--3",
    "--5",
    "-4",
  ]);
});

it("starts a new root where the cause is not in the correlation", () => {
  expect(drawn([7, "x", "gone"], [8, "y", "x"], [9, "z", null])).toEqual(["7", "-8", "9"]);
});

it("shows events that cause each other in a ring once each", () => {
  expect(drawn([1, "a", "b"], [2, "b", "a"], [3, "c", "c"]).sort()).toEqual(["1", "2", "3"]);
});
