const speed = 20;

/** Returns the time in milliseconds on a clock that started at an instant and runs twenty times as fast as the machine's. */
export const fastClock = (start: number): number => start + (Date.now() - start) * speed;

/** Returns the start of such a clock that now shows an instant, or slightly later. An integer. */
export const startShowing = (instant: number): number =>
  Math.floor((speed * Date.now() - Math.ceil(instant)) / (speed - 1));
