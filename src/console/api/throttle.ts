/** Returns a function that collects calls, and calls `act` once, the given time after the first of them. */
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
