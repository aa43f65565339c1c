import * as v from 'valibot';
import type { Request } from '../../kernel/access/request.ts';
import {
  coerceList,
  FieldError,
  inputOf,
  notAList,
  readOnlyList,
  type WritableField,
} from '../../kernel/collection/field.ts';
import type { JsonSchema } from '../../kernel/collection/json-schema.ts';
import type { Json } from '../../kernel/collection/representation.ts';
import { kindName } from '../../kernel/http/body.ts';
import { isRecord } from '../../kernel/present.ts';

/** An item of a request body. */
export type Item = Readonly<Record<string, unknown>>;

interface Options<T> {
  /** Representation of the list in responses. */
  readonly json: Json;
  /** JSON Schema of an item of a request body. */
  readonly accepts: JsonSchema;
  /** Reads one item; throws FieldError. */
  readonly item: (value: Item, request: Request) => T;
  readonly help?: string;
}

/** A required list of objects. Errors are a list in the same order, with `{}` for valid items. */
export const itemList = <T>({ accepts, help, item, json }: Options<T>): WritableField<readonly T[], true> => ({
  ...readOnlyList(json),
  constraints: { child: { type: 'nested object', required: true, read_only: false } },
  help,
  input: inputOf(
    { required: true, update: false },
    {
      schema: v.array(v.unknown(), notAList),
      shape: { type: 'array', items: accepts },
      coerce: coerceList,
      resolve: (items, request) => parseItems(items, request, item),
    },
  ),
});

function parseItems<T>(values: readonly unknown[], request: Request, parse: Options<T>['item']): readonly T[] {
  const items: T[] = [];
  const errors = values.map((item) => {
    try {
      if (!isRecord(item)) throw wholeError(`Invalid data. Expected a dictionary, but got ${kindName(item)}.`);
      items.push(parse(item, request));
      return {};
    } catch (error) {
      if (!(error instanceof FieldError)) throw error;
      // Errors about members of the item are an object; errors about the whole item are a list.
      return typeof error.messages[0] === 'object' ? error.messages[0] : error.messages;
    }
  });
  if (items.length < values.length) throw new FieldError(errors);
  return items;
}

/** An error about a member of an item. */
export const itemError = (member: string, message: string): FieldError => new FieldError([{ [member]: [message] }]);

/** An error about an item as a whole. */
export const wholeError = (message: string): FieldError => itemError('non_field_errors', message);
