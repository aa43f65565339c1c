import * as v from 'valibot';
import type { Request } from '../../../kernel/access/request.ts';
import { type Field, FieldError, messages, shownList } from '../../../kernel/collection/field.ts';
import { listOfForm } from '../../../kernel/collection/form.ts';
import type { Json, Shape } from '../../../kernel/collection/representation.ts';
import { kindName } from '../../../kernel/http/body.ts';

interface Options<T> {
  /** How answers show the list. */
  readonly json: Json;
  readonly required?: boolean;
  /** JSON Schema of an item as a body brings it. */
  readonly accepts: Shape;
  /** Reads one item; throws FieldError. */
  readonly item: (value: Readonly<Record<string, unknown>>, request: Request) => T;
  readonly help?: string;
}

/** A list of objects. Errors stand at the place of their item, `{}` at that of good ones. */
export const itemList = <T>({ accepts, help, item, json, required = false }: Options<T>): Field<readonly T[]> => ({
  ...shownList(json),
  facts: { child: { type: 'nested object', required: true, read_only: false } },
  help,
  input: {
    schema: v.array(v.object({})),
    shape: { type: 'array', items: accepts },
    nullable: false,
    required,
    create: true,
    update: false,
    parse: (value, request, form) => {
      if (value === null) throw new FieldError([messages.null]);
      return parseItems(form ? listOfForm(value) : value, request, item);
    },
  },
});

function parseItems<T>(value: unknown, request: Request, parse: Options<T>['item']): readonly T[] {
  if (!Array.isArray(value)) throw new FieldError([`Expected a list of items but got type "${kindName(value)}".`]);
  const items: T[] = [];
  let failed = false;
  const errors = value.map((item: unknown) => {
    try {
      if (typeof item !== 'object' || item === null || Array.isArray(item)) {
        throw new FieldError([
          { non_field_errors: [`Invalid data. Expected a dictionary, but got ${kindName(item)}.`] },
        ]);
      }
      items.push(parse(item as Record<string, unknown>, request));
      return {};
    } catch (error) {
      if (!(error instanceof FieldError)) throw error;
      failed = true;
      // Errors about members of the item are one object, errors about the whole a list.
      return typeof error.messages[0] === 'object' ? error.messages[0] : error.messages;
    }
  });
  if (failed) throw new FieldError(errors);
  return items;
}

/** An error about a member of an item. */
export const itemError = (member: string, message: string): FieldError => new FieldError([{ [member]: [message] }]);
