import * as v from 'valibot';
import {
  FieldError,
  inputOf,
  messages,
  notAList,
  readOnlyList,
  type WritableField,
} from '../../kernel/collection/field.ts';
import { computedValue } from '../../kernel/collection/representation.ts';
import { controls } from '../../kernel/control-characters.ts';
import type { Database } from '../../kernel/db/database.ts';
import { sql } from '../../kernel/db/sql.ts';

const maxTagLength = 255;

/** The tags of a resource: a list, or a text with a JSON list. Replaces the entire set (services.md 7.5). */
export const tagsField: WritableField<readonly string[], false> = {
  ...readOnlyList(
    computedValue('(SELECT json_group_array(t.tag ORDER BY t.tag) FROM resource_tag t WHERE t.resource_id = r.id)', {
      type: 'array',
      items: { type: 'string' },
    }),
  ),
  input: inputOf(
    { storedIn: false },
    {
      schema: v.array(v.string('All list items must be of string type.'), notAList),
      coerce: (value, form) => listOfText(form && Array.isArray(value) && value.length === 1 ? value[0] : value),
      resolve: cleanTags,
    },
  ),
};

function cleanTags(list: readonly string[]): readonly string[] {
  const tags = list.map((item) => item.trim());
  if (tags.some((tag) => tag === '')) throw new FieldError([messages.blank]);
  if (tags.some((tag) => [...tag].length > maxTagLength)) throw new FieldError([messages.tooLong(maxTagLength)]);
  if (tags.some((tag) => controls.test(tag))) throw new FieldError([messages.control]);
  return [...new Set(tags)].sort();
}

/** Parses a text with a JSON list. An empty text means no tags. */
function listOfText(value: unknown): unknown {
  if (typeof value !== 'string') return value;
  if (value.trim() === '') return [];
  const list = parsedJson(value);
  // The text "null" is not a list, whereas the value null means a missing value.
  if (list === null) throw new FieldError([notAList({ input: list })]);
  return list;
}

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new FieldError(['Invalid json list. A tag list submitted in string form must be valid json.']);
  }
}

/** Returns the sorted tags of a resource. */
const tagsOf = (db: Database, resource: number): string[] =>
  db.values<string>(sql`SELECT tag FROM resource_tag WHERE resource_id = ${resource} ORDER BY tag`);

/** Replaces the tags of a resource. Returns whether they changed. */
export function replaceTags(db: Database, resource: number, tags: readonly string[]): boolean {
  if (JSON.stringify(tagsOf(db, resource)) === JSON.stringify(tags)) return false;
  db.run(sql`DELETE FROM resource_tag WHERE resource_id = ${resource}`);
  for (const tag of tags) {
    const colon = tag.indexOf(':');
    db.insert('resource_tag', {
      resource_id: resource,
      tag,
      prefix: colon < 0 ? null : tag.slice(0, colon),
      value: colon < 0 ? null : tag.slice(colon + 1),
    });
  }
  return true;
}
