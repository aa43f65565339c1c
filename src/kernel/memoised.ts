/** Memoises a function of an object in a WeakMap. */
export function memoised<K extends object, V>(make: (key: K) => V): (key: K) => V {
  const known = new WeakMap<K, { readonly value: V }>();
  return (key) => {
    const cached = known.get(key);
    if (cached) return cached.value;
    const value = make(key);
    known.set(key, { value });
    return value;
  };
}

/** Computes a value on first use. */
export function once<V>(make: () => V): () => V {
  let created: { readonly value: V } | undefined;
  return () => {
    created ??= { value: make() };
    return created.value;
  };
}
