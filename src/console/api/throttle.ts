/** Returns a function that calls `act` once, the given time after the first of the calls that come meanwhile. */
export function throttled(delayMs: number, act: () => void): () => void {
  let isWaiting = false;
  return () => {
    if (isWaiting) return;
    isWaiting = true;
    setTimeout(() => {
      isWaiting = false;
      act();
    }, delayMs);
  };
}
