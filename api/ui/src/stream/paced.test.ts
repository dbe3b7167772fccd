import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { paced } from "./paced";

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

it("acts at once, then at most once in a while, and once more after the last", async () => {
  const act = vi.fn();
  const asked = paced(act, 1_000);
  for (let times = 0; times < 3; times += 1) asked();
  expect(act).toHaveBeenCalledTimes(1);
  await vi.advanceTimersByTimeAsync(999);
  expect(act).toHaveBeenCalledTimes(1);
  await vi.advanceTimersByTimeAsync(1);
  expect(act).toHaveBeenCalledTimes(2);
  await vi.advanceTimersByTimeAsync(5_000);
  expect(act).toHaveBeenCalledTimes(2);
  asked();
  expect(act).toHaveBeenCalledTimes(3);
});

it("never acts while it acts, however long that takes or badly it ends", async () => {
  let end = () => {};
  const act = vi.fn(() => new Promise<void>((_, reject) => (end = () => reject(new Error("away")))));
  const asked = paced(act, 1_000);
  asked();
  asked();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(act).toHaveBeenCalledTimes(1);
  end();
  await vi.advanceTimersByTimeAsync(1_000);
  expect(act).toHaveBeenCalledTimes(2);
});

it("does nothing after it was stopped", async () => {
  const act = vi.fn();
  const asked = paced(act, 1_000);
  asked();
  asked();
  asked.stop();
  asked();
  await vi.advanceTimersByTimeAsync(5_000);
  expect(act).toHaveBeenCalledTimes(1);
});
