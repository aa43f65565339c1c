import { isDeepStrictEqual } from 'node:util';
import { toJsonSchema } from '@valibot/to-json-schema';
import type { BodySpec } from '../../kernel/collection/endpoint.ts';
import type { Input, WritableField } from '../../kernel/collection/field.ts';
import { exampleLink, exampleOf, type JsonSchema } from '../../kernel/collection/json-schema.ts';
import { orNullShape } from '../../kernel/collection/representation.ts';
import { bareField, isRequiredFor, type Purpose } from '../../kernel/collection/validate.ts';

/** The schemas of a document. Each schema with a title becomes a component that others reference. */
export class Schemas {
  readonly components: Record<string, JsonSchema> = {};
  /** Unreferenced originals, to detect ambiguous titles. */
  readonly #originals = new Map<string, JsonSchema>();

  /** Replaces titled schemas by references. Throws if two different schemas share a title. */
  refer(shape: JsonSchema): JsonSchema {
    const { title } = shape;
    if (typeof title !== 'string') return this.#within(shape);
    const known = this.#originals.get(title);
    if (!known) {
      this.#originals.set(title, shape);
      this.components[title] = this.#within(shape);
    } else if (!isDeepStrictEqual(known, shape)) throw new Error(`Two schemas are called ${title}`);
    return { $ref: `#/components/schemas/${title}` };
  }

  #within(shape: JsonSchema): JsonSchema {
    const one = (value: unknown): unknown => (isShape(value) ? this.refer(value) : value);
    const all = (value: unknown): unknown => (Array.isArray(value) ? value.map(one) : value);
    const named = (value: unknown): unknown =>
      isShape(value) ? Object.fromEntries(Object.entries(value).map(([name, member]) => [name, one(member)])) : value;
    const parts: Readonly<Record<string, (value: unknown) => unknown>> = {
      properties: named,
      items: one,
      additionalProperties: one,
      oneOf: all,
      anyOf: all,
      allOf: all,
    };
    return Object.fromEntries(Object.entries(shape).map(([key, value]) => [key, parts[key]?.(value) ?? value]));
  }
}

const isShape = (value: unknown): value is JsonSchema => typeof value === 'object' && value !== null;

/** Returns the schema of a body: the fields that are writable for its purpose. */
export function bodyShape({ fields, purpose, title }: BodySpec): JsonSchema {
  const accepted = acceptedFields({ fields, purpose });
  const required = requiredOf(accepted, purpose).map(([name]) => name);
  return {
    ...(title !== undefined && { title }),
    type: 'object',
    properties: Object.fromEntries(accepted.map(([name, field]) => [name, inputShape(field)])),
    ...(required.length > 0 && { required }),
  };
}

/** Returns the schema of a body that is a bare list; undefined if the operation does not accept one. */
export function bareListShape({ fields }: BodySpec): JsonSchema | undefined {
  const [, field] = bareField(fields) ?? [];
  return field?.input && inputShape({ ...field, input: field.input });
}

/** Returns an example body: the declared one, or the examples of the required fields. */
export function bodyExample(body: BodySpec): unknown {
  if (body.example) return body.example;
  const accepted = acceptedFields(body);
  const required = requiredOf(accepted, body.purpose);
  const fields = required.length > 0 ? required : accepted.slice(0, 1);
  return Object.fromEntries(fields.map(([name, field]) => [name, exampleOf(inputShape(field), name)]));
}

type Accepted = readonly [name: string, field: WritableField];

const acceptedFields = ({ fields, purpose }: Pick<BodySpec, 'fields' | 'purpose'>): readonly Accepted[] =>
  Object.entries(fields).flatMap(([name, field]): Accepted[] => {
    const { input } = field;
    return input && (purpose === 'create' ? input.create : input.update !== false) ? [[name, { ...field, input }]] : [];
  });

/** Returns the required fields of a body. */
const requiredOf = (accepted: readonly Accepted[], purpose: Purpose): readonly Accepted[] =>
  accepted.filter(([, { input }]) => isRequiredFor(input, purpose));

/** Converts a valibot schema to JSON Schema. The type of a nullable schema includes null. */
function shapeOf(schema: Input<unknown>['schema']): JsonSchema {
  const { $schema: _, ...shape } = toJsonSchema(schema, { errorMode: 'ignore', target: 'draft-2020-12' });
  const [known, none]: readonly unknown[] = shape.anyOf ?? [];
  return isShape(known) && isShape(none) && none.type === 'null' ? orNullShape(known) : shape;
}

function inputShape({ help, input, select, shape, type }: WritableField): JsonSchema {
  const { nullable } = input;
  const accepted = input.shape ?? shapeOf(input.schema);
  const { enum: choices, examples } = shape;
  const isUpload = type === 'file upload' || type === 'image upload';
  const plain: JsonSchema = {
    ...(choices === undefined ? accepted : { type: shape.type }),
    ...(isUpload && { type: 'string', contentMediaType: 'application/octet-stream' }),
    ...(select && { format: 'uri-reference', examples: [exampleLink(select().path)] }),
    ...(choices !== undefined && { enum: choices }),
    ...(examples !== undefined && { examples }),
    ...(help !== undefined && { description: help }),
  };
  return nullable && plain.type !== undefined && ![plain.type].flat().includes('null') ? orNullShape(plain) : plain;
}
