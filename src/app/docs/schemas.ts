import { isDeepStrictEqual } from 'node:util';
import { toJsonSchema } from '@valibot/to-json-schema';
import type { BodySpec } from '../../kernel/collection/endpoint.ts';
import { exampleLink, exampleOf } from '../../kernel/collection/example.ts';
import type { Field, Input, Shape } from '../../kernel/collection/field.ts';
import { orNullShape } from '../../kernel/collection/representation.ts';

/** The schemas of a document: each with a title stands once among its components, and everything else refers to it. */
export class Schemas {
  readonly components: Record<string, Shape> = {};
  /** As they were given, to tell whether a title always means the same. */
  readonly #given = new Map<string, Shape>();

  /** The same schema with references in the place of those that have a title. Throws when a title means two things. */
  refer(shape: Shape): Shape {
    const { title } = shape;
    if (typeof title !== 'string') return this.#within(shape);
    const known = this.#given.get(title);
    if (!known) {
      this.#given.set(title, shape);
      this.components[title] = this.#within(shape);
    } else if (!isDeepStrictEqual(known, shape)) throw new Error(`Two schemas are called ${title}`);
    return { $ref: `#/components/schemas/${title}` };
  }

  #within(shape: Shape): Shape {
    const one = (value: unknown): unknown => (isShape(value) ? this.refer(value) : value);
    const all = (value: unknown): unknown => (value as readonly unknown[]).map(one);
    const named = (value: unknown): unknown =>
      Object.fromEntries(Object.entries(value as Shape).map(([name, member]) => [name, one(member)]));
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

const isShape = (value: unknown): value is Shape => typeof value === 'object' && value !== null;

/** The schema of a body: the fields that may be written for its purpose. */
export function bodyShape({ fields, purpose, title }: BodySpec): Shape {
  const accepted = acceptedFields({ fields, purpose });
  const required = accepted.filter(([, input]) => purpose !== 'change' && input.required).map(([name]) => name);
  return {
    ...(title !== undefined && { title }),
    type: 'object',
    properties: Object.fromEntries(accepted.map(([name, input]) => [name, inputShape(fields[name] as Field, input)])),
    ...(required.length > 0 && { required }),
  };
}

/** A valid body: the one that is declared, or what is required with the examples of its fields. */
export function bodyExample(body: BodySpec): unknown {
  if (body.example) return body.example;
  const { properties = {}, required = [] } = bodyShape(body) as {
    properties?: Record<string, Shape>;
    required?: readonly string[];
  };
  const names = required.length > 0 ? required : Object.keys(properties).slice(0, 1);
  return Object.fromEntries(names.map((name) => [name, exampleOf(properties[name] as Shape, name)]));
}

const acceptedFields = ({ fields, purpose }: Pick<BodySpec, 'fields' | 'purpose'>): [string, Input<unknown>][] =>
  Object.entries(fields).flatMap(([name, { input }]): [string, Input<unknown>][] =>
    input && (purpose === 'create' ? input.create : input.update !== false) ? [[name, input]] : [],
  );

/** The JSON Schema of a valibot schema; one that may be null says so by its type. */
function shapeOf(schema: Input<unknown>['schema']): Shape {
  const { $schema: _, ...shape } = toJsonSchema(schema, { errorMode: 'ignore', target: 'draft-2020-12' }) as Shape & {
    $schema?: unknown;
  };
  const [known, none] = (shape.anyOf ?? []) as readonly Shape[];
  return known && none?.type === 'null' ? orNullShape(known) : shape;
}

function inputShape({ help, select, shape, type }: Field, { nullable, schema, shape: own }: Input<unknown>): Shape {
  const accepted = own ?? shapeOf(schema);
  const { enum: choices, examples } = shape as { enum?: readonly unknown[]; examples?: readonly unknown[] };
  return {
    ...(choices ? { type: shape.type } : accepted),
    ...(type === 'file upload' || type === 'image upload'
      ? { type: nullable ? ['string', 'null'] : 'string', contentMediaType: 'application/octet-stream' }
      : {}),
    ...(select && { format: 'uri-reference', examples: [exampleLink(select().path)] }),
    ...(choices && { enum: choices }),
    ...(examples && { examples }),
    ...(help !== undefined && { description: help }),
  };
}
