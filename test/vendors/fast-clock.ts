const speed = 20;

/** Milliseconds by a clock that runs twenty times as fast as the machine's since an instant of it. */
export const fastClock = (start: number): number => start + (Date.now() - start) * speed;

/** The start of such a clock that shows an instant now, or a little later; a whole number. */
export const startShowing = (instant: number): number =>
  Math.floor((speed * Date.now() - Math.ceil(instant)) / (speed - 1));
