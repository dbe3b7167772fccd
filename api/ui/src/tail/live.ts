// The one tail of this page, fed by the hub. It outlives a visit to another page: coming back shows what went by.

import { getPage } from "../api/events";
import { hub } from "../stream/hub";
import { TailStore } from "./store";

export const tail = new TailStore(getPage);

let forget: (() => void) | undefined;

/** Connects the tail to the stream; undone on sign-out, so that the next person starts with nothing. */
export function connectTail(): void {
  forget ??= hub.listen((signal) => {
    tail.take(signal);
    if (signal.is === "stopped") tail.stop();
  });
}
