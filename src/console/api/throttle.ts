/** Returns a function that coalesces calls and runs `act` once, `delayMs` after the first of them. */
export function throttle(delayMs: number, act: () => void): () => void {
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
