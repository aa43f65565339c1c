/** JSON Schema of a value in a response; a schema with a title appears once in the documentation, under that title. */
export type JsonSchema = Readonly<Record<string, unknown>>;
