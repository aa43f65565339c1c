/** Makes what calls back once, some milliseconds after the first of all the calls that come meanwhile. */
export function soon(milliseconds: number, act: () => void): () => void {
  let isSoon = false;
  return () => {
    if (isSoon) return;
    isSoon = true;
    setTimeout(() => {
      isSoon = false;
      act();
    }, milliseconds);
  };
}
