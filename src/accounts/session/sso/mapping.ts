/** User fields to fill with the first value of an attribute, by attribute name. */
export type AttributeMapping = Readonly<Record<string, readonly string[]>>;

/** User fields that attributes may fill. The others are rights or managed by the service. */
export const mappedFields = [
  'username',
  'full_name',
  'native_name',
  'job_title',
  'email',
  'phone_number',
  'organization',
  'civil_number',
  'description',
  'preferred_language',
  'competence',
] as const;

export type MappedField = (typeof mappedFields)[number];

/** Returns the rule that a mapping breaks, as the end of a sentence; undefined if it is valid. */
export function problemOfMapping(mapping: unknown, source: 'attribute' | 'claim'): string | undefined {
  if (!isMapping(mapping)) return 'must be a JSON object of lists of fields, such as {"mail": ["email"]}';
  const fields = Object.values(mapping).flat();
  const unknown = fields.find((field) => !mappedFields.some((allowed) => allowed === field));
  if (unknown !== undefined)
    return `must not fill "${unknown}": the fields that can be filled are ${mappedFields.join(', ')}`;
  const repeated = fields.find((field, i) => fields.indexOf(field) !== i);
  if (repeated !== undefined) return `must fill "${repeated}" from one ${source}`;
  return undefined;
}

const isMapping = (mapping: unknown): mapping is AttributeMapping =>
  typeof mapping === 'object' &&
  mapping !== null &&
  !Array.isArray(mapping) &&
  Object.values(mapping).every((fields) => Array.isArray(fields) && fields.every((field) => typeof field === 'string'));
