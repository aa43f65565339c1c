/** A function of an object that works its value out when it is first asked and keeps it for as long as the object lives. */
export function memoised<K extends object, V>(make: (key: K) => V): (key: K) => V {
  const known = new WeakMap<K, { readonly value: V }>();
  return (key) => {
    const present = known.get(key);
    if (present) return present.value;
    const value = make(key);
    known.set(key, { value });
    return value;
  };
}

/** A value that is worked out when it is first asked for. */
export function once<V>(make: () => V): () => V {
  let created: { readonly value: V } | undefined;
  return () => {
    created ??= { value: make() };
    return created.value;
  };
}
