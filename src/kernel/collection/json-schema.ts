/** JSON Schema of a value as it stands in answers; one with a title is written once in the documentation, under it. */
export type JsonSchema = Readonly<Record<string, unknown>>;
