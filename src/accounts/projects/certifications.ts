import * as v from 'valibot';
import type { Request } from '../../kernel/access/request.ts';
import { type Field, FieldError, messages, objectShape, shownList } from '../../kernel/collection/field.ts';
import { listOfForm } from '../../kernel/collection/form.ts';
import { resolveLink } from '../../kernel/collection/links.ts';
import {
  type Json,
  knownText,
  linkShape,
  linkValue,
  listValue,
  objectValue,
  plainValue,
  textValue,
} from '../../kernel/collection/representation.ts';
import type { Database } from '../../kernel/db/database.ts';
import { sql } from '../../kernel/db/sql.ts';
import { kindName } from '../../kernel/http/body.ts';
import { certifications } from '../certifications/certifications.ts';

const certificationList: Json = listValue(
  objectValue({
    uuid: plainValue('s.uuid'),
    url: linkValue('service-certifications', 's.uuid'),
    name: knownText('s.name'),
    description: knownText('s.description'),
    link: textValue('s.link'),
  }),
  'project_certification pc JOIN service_certification s ON s.id = pc.certification_id WHERE pc.project_id = p.id',
  's.name DESC',
);

/** The certifications a project demands: a list of `{url}` on input, whole objects in answers (core.md 7.1, 7.6). */
export const certificationsField = (required: boolean): Field<readonly number[]> => ({
  ...shownList(certificationList),
  facts: { child: { type: 'nested object', required: true, read_only: false } },
  input: {
    schema: v.array(v.object({ url: v.string() })),
    shape: { type: 'array', items: objectShape({ url: linkShape('service-certifications') }) },
    nullable: false,
    required,
    create: true,
    update: false,
    parse: (value, request, form) => {
      if (value === null) throw new FieldError([messages.null]);
      return parseList(form ? listOfForm(value) : value, request);
    },
  },
});

function parseList(value: unknown, request: Request): readonly number[] {
  if (!Array.isArray(value)) throw new FieldError([`Expected a list of items but got type "${kindName(value)}".`]);
  let failed = false;
  const ids: number[] = [];
  const errors = value.map((item: unknown) => {
    try {
      ids.push(parseItem(item, request));
      return {};
    } catch (error) {
      if (!(error instanceof FieldError)) throw error;
      failed = true;
      return error.messages;
    }
  });
  if (failed) throw new FieldError(errors);
  return [...new Set(ids)];
}

function parseItem(item: unknown, request: Request): number {
  const link = typeof item === 'object' && item !== null ? (item as { url?: unknown }).url : undefined;
  if (link === undefined) throw new FieldError(['URL has to be defined for related object.']);
  return resolveLink(link, certifications, request);
}

/** Makes these the certifications a project demands. */
export function replaceCertifications(db: Database, project: number, ids: readonly number[]): void {
  db.run(sql`DELETE FROM project_certification WHERE project_id = ${project}`);
  for (const id of ids) db.insert('project_certification', { project_id: project, certification_id: id });
}
