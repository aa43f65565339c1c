import * as v from 'valibot';
import { type Field, FieldError, messages, shownList } from '../../kernel/collection/field.ts';
import { computedValue } from '../../kernel/collection/representation.ts';
import type { Database } from '../../kernel/db/database.ts';
import { sql } from '../../kernel/db/sql.ts';
import { kindName } from '../../kernel/http/body.ts';

const longestTag = 255;

/** The tags of a resource: a list, or a text holding a JSON list; the whole set is replaced (services.md 7.5). */
export const tagsField: Field<readonly string[]> = {
  ...shownList(
    computedValue('(SELECT json_group_array(t.tag ORDER BY t.tag) FROM resource_tag t WHERE t.resource_id = r.id)', {
      type: 'array',
      items: { type: 'string' },
    }),
  ),
  input: {
    schema: v.array(v.string()),
    nullable: false,
    required: false,
    create: true,
    update: true,
    parse: (value, _request, form) => {
      if (value === null) throw new FieldError([messages.null]);
      return parseTags(form && Array.isArray(value) && value.length === 1 ? value[0] : value);
    },
  },
};

function parseTags(value: unknown): readonly string[] {
  const list = typeof value === 'string' ? fromText(value) : value;
  if (!Array.isArray(list)) throw new FieldError([`Expected a list of items but got type "${kindName(list)}".`]);
  if (list.some((item) => typeof item !== 'string')) throw new FieldError(['All list items must be of string type.']);
  const tags = list.map((item: string) => item.trim());
  if (tags.some((tag) => tag === '')) throw new FieldError([messages.blank]);
  if (tags.some((tag) => [...tag].length > longestTag)) throw new FieldError([messages.tooLong(longestTag)]);
  return [...new Set(tags)].sort();
}

function fromText(text: string): unknown {
  if (text.trim() === '') return [];
  try {
    return JSON.parse(text);
  } catch {
    throw new FieldError(['Invalid json list. A tag list submitted in string form must be valid json.']);
  }
}

/** The tags of a resource, sorted. */
export const tagsOf = (db: Database, resource: number): string[] =>
  db.values<string>(sql`SELECT tag FROM resource_tag WHERE resource_id = ${resource} ORDER BY tag`);

/** Replaces the tags of a resource; answers whether that changed anything. */
export function replaceTags(db: Database, resource: number, tags: readonly string[]): boolean {
  if (JSON.stringify(tagsOf(db, resource)) === JSON.stringify(tags)) return false;
  db.run(sql`DELETE FROM resource_tag WHERE resource_id = ${resource}`);
  for (const tag of tags) {
    const colon = tag.indexOf(':');
    db.run(sql`INSERT INTO resource_tag (resource_id, tag, prefix, value)
      VALUES (${resource}, ${tag}, ${colon < 0 ? null : tag.slice(0, colon)}, ${colon < 0 ? null : tag.slice(colon + 1)})`);
  }
  return true;
}
