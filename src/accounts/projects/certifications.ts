import * as v from 'valibot';
import type { Request } from '../../kernel/access/request.ts';
import {
  check,
  coerceList,
  FieldError,
  type IsRequired,
  inputOf,
  notAList,
  objectShape,
  readOnlyList,
  type WritableField,
} from '../../kernel/collection/field.ts';
import { linkText, resolveLink } from '../../kernel/collection/links.ts';
import {
  type Json,
  linkShape,
  linkValue,
  listValue,
  notNullText,
  objectValue,
  plainValue,
  textValue,
} from '../../kernel/collection/representation.ts';
import type { Database } from '../../kernel/db/database.ts';
import { sql } from '../../kernel/db/sql.ts';
import { certifications } from '../certifications/certifications.ts';

/** The certifications of an object by descending name, from a table of links with the alias `l`. */
export const certificationList = (links: string, condition: string): Json =>
  listValue(
    objectValue({
      uuid: plainValue('s.uuid'),
      url: linkValue('service-certifications', 's.uuid'),
      name: notNullText('s.name'),
      description: notNullText('s.description'),
      link: textValue('s.link'),
    }),
    `${links} l JOIN service_certification s ON s.id = l.certification_id WHERE ${condition}`,
    's.name DESC',
  );

/** The certifications of an object: a list of `{url}` in bodies, complete objects in responses (core.md 7.1, 7.6). */
export const certificationsField = <const W extends { readonly required: boolean }>(
  writing: W,
): WritableField<readonly number[], IsRequired<W>> => ({
  ...readOnlyList(certificationList('project_certification', 'l.project_id = p.id')),
  constraints: { child: { type: 'nested object', required: true, read_only: false } },
  input: inputOf<readonly number[], v.GenericSchema<unknown, unknown[]>, W>(
    { ...writing, update: false, storedIn: false },
    {
      schema: v.array(v.unknown(), notAList),
      shape: { type: 'array', items: objectShape({ url: linkShape('service-certifications') }) },
      coerce: coerceList,
      resolve: idsOf,
    },
  ),
});

/** An item of the list. */
const item = v.object({ url: v.unknown() }, 'URL has to be defined for related object.');

/** Returns the certification ids without duplicates. Throws FieldError with the messages of each item. */
function idsOf(items: readonly unknown[], request: Request): readonly number[] {
  const ids: number[] = [];
  const errors = items.map((values) => {
    try {
      ids.push(resolveLink(check(linkText, check(item, values).url), certifications, request));
      return {};
    } catch (error) {
      if (!(error instanceof FieldError)) throw error;
      return error.messages;
    }
  });
  if (ids.length < items.length) throw new FieldError(errors);
  return [...new Set(ids)];
}

/** Replaces the certifications that a project requires. */
export function replaceCertifications(db: Database, project: number, ids: readonly number[]): void {
  db.run(sql`DELETE FROM project_certification WHERE project_id = ${project}`);
  for (const id of ids) db.insert('project_certification', { project_id: project, certification_id: id });
}
