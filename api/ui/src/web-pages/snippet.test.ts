import { expect, test } from "vitest";
import { cyclesLeft, pieces } from "./snippet";

test("what was found stands between marks, and what is between them is text", () => {
  expect(pieces("a **queue** of <b>**queues**</b>")).toEqual([
    { text: "a ", found: false },
    { text: "queue", found: true },
    { text: " of <b>", found: false },
    { text: "queues", found: true },
    { text: "</b>", found: false },
  ]);
  expect(pieces("**queue**")).toEqual([{ text: "queue", found: true }]);
  expect(pieces("")).toEqual([]);
});

test("a mark that nothing ends is text", () => {
  expect(pieces("two **to** the power of 2**3")).toEqual([
    { text: "two ", found: false },
    { text: "to", found: true },
    { text: " the power of 2", found: false },
    { text: "**3", found: false },
  ]);
});

test("what is over is not shown for less than no cycle", () => {
  expect([cyclesLeft(9, 7), cyclesLeft(7, 7), cyclesLeft(5, 7)]).toEqual([2, 0, 0]);
});
