// News may come in by the hundred. What they set off is done at once, and then again only when it is done and a while has
// passed; but always once more after the last.

export interface Paced {
  (): void;
  /** Does nothing any more, also not what is due. */
  stop: () => void;
}

/** `act`, never twice at the same time, and with `ms` milliseconds in between. */
export function paced(act: () => unknown, ms: number): Paced {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let [busy, due, stopped] = [false, false, false];
  const rest = () => {
    if (stopped) return;
    timer = setTimeout(() => {
      busy = false;
      if (due) call();
    }, ms);
  };
  const call = () => {
    [busy, due] = [true, false];
    void Promise.resolve(act()).then(rest, rest);
  };
  const asked = () => {
    if (stopped) return;
    if (busy) due = true;
    else call();
  };
  return Object.assign(asked, {
    stop: () => {
      stopped = true;
      clearTimeout(timer);
    },
  });
}
