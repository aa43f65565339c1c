/** What a text of a form says as JSON; the text itself where it is none. */
export function jsonOrText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** A list in a form is JSON text; of a repeated field the last counts. */
export function listOfForm(value: unknown): unknown {
  const text: unknown = Array.isArray(value) ? value.at(-1) : value;
  return typeof text !== 'string' || text.trim() === '' ? [] : jsonOrText(text);
}
