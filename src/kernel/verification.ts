/** Whether whatever is remembered is compared with what would be made now: on in tests, where a difference is an error. */
export const verification = { isOn: false };

/** Throws when something remembered is not what would be made now. */
export function verify(what: () => string, remembered: () => unknown, make: () => unknown): void {
  if (!verification.isOn) return;
  const [was, is] = [remembered(), make()].map((value) => JSON.stringify(value));
  if (was !== is) throw new Error(`${what()} is remembered wrongly: ${was}, and would be ${is}`);
}
