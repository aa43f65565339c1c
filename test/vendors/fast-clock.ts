const speed = 20;

/** Returns the time in milliseconds on a clock that started at an instant and runs twenty times as fast as real time. */
export const fastClock = (start: number): number => start + (Date.now() - start) * speed;

/** Returns the integer start of a fast clock whose current time is this instant or slightly later. */
export const clockStart = (instant: number): number =>
  Math.floor((speed * Date.now() - Math.ceil(instant)) / (speed - 1));
