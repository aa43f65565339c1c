import type { AuditDraft, FieldChange } from '../access/audit-draft.ts';
import type { Request } from '../access/request.ts';
import { isoTime } from '../clock.ts';
import { UploadedFile } from '../http/multipart.ts';
import type { Columns } from './changes.ts';
import type { Field, Fields } from './field.ts';

/** Replaces a secret in audit records. */
const concealed = '***';

const secretName = /password|secret|token|certificate|private_key/i;

/** Whether audit records mask a field: it is declared secret, or it is a text field named like a secret. */
const isSecret = (name: string, { conceals, type }: Field): boolean =>
  conceals === 'value' || (secretName.test(name) && /^(string|field|file upload)$/.test(type));

/** Returns a value for audit records, with members named like secrets masked. */
export function auditValue(name: string, field: Field, value: unknown): unknown {
  if (value === null || value === undefined || value === '') return value ?? null;
  if (isSecret(name, field) || value instanceof Uint8Array) return concealed;
  if (value instanceof UploadedFile) return value.name;
  if (field.conceals === 'path' && typeof value === 'string') return withoutPath(value);
  if (field.type === 'boolean' && typeof value === 'number') return value !== 0;
  if (field.type === 'datetime' && typeof value === 'number') return isoTime(value);
  return withoutSecrets(value);
}

/** Removes path and query from a URL, which may be as secret as a password. */
function withoutPath(address: string): string {
  const [, origin = concealed, rest = ''] = /^([a-z+.-]+:\/\/(?:[^/?#@]*@)?[^/?#]*)(.*)$/i.exec(address) ?? [];
  return `${origin.replace(/\/\/[^/]*@/, '//')}${rest === '' || rest === '/' ? rest : `/${concealed}`}`;
}

function withoutSecrets(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutSecrets);
  if (value instanceof UploadedFile) return value.name;
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      name,
      secretName.test(name) && member !== null && member !== '' ? concealed : withoutSecrets(member),
    ]),
  );
}

/** Returns the column with the value of a field; undefined for links and values stored elsewhere. */
const plainColumn = (name: string, { input }: Field): string | undefined => {
  const column = input?.column === false ? undefined : input?.column(name);
  return column?.endsWith('_id') && column !== name ? undefined : column;
};

/** Records the fields in the body of a creation or action. */
export function noteBody(
  request: Request,
  fields: Fields,
  values: Readonly<Record<string, unknown>>,
  row?: object,
): void {
  const draft = request.app.trail.current;
  if (!draft) return;
  const body = request.body(() => Object.keys(fields).find((name) => fields[name]?.input?.canBeBareList)).values;
  for (const name in values) {
    const field = fields[name];
    if (!field || values[name] === undefined) continue;
    const column = plainColumn(name, field);
    const to = auditValue(name, field, shownValue(request, column, values[name], body[name]));
    const from = row && column !== undefined ? auditValue(name, field, Reflect.get(row, column)) : null;
    draft.changes.push({ field: name, from, to });
  }
}

/** Returns the accepted value, or the original one if the accepted value is an id or not JSON. */
function shownValue(request: Request, column: string | undefined, value: unknown, sent: unknown): unknown {
  const shown = column !== undefined && (typeof value !== 'object' || value === null) ? value : sent;
  return typeof shown === 'string' && shown.startsWith(request.base) ? shown.slice(request.base.length) : shown;
}

/** Columns that an update can change, with their previous values. */
interface NotedUpdate {
  /** Fields whose stored values differ. */
  readonly plain: readonly FieldChange[];
  /** Names of fields whose values exist only in the representation. */
  readonly shown: readonly string[];
  /** Fields that no representation shows. */
  readonly hidden: readonly FieldChange[];
}

/** Compares a row with the values of an update before storing it. */
export function notedUpdate(
  fields: Fields,
  row: object,
  values: Readonly<Record<string, unknown>>,
  columns: Columns,
): NotedUpdate {
  const plain: FieldChange[] = [];
  const shown: string[] = [];
  const hidden: FieldChange[] = [];
  for (const name in values) {
    const field = fields[name];
    if (!field || values[name] === undefined) continue;
    const column = plainColumn(name, field);
    if (column !== undefined) {
      const [from, to] = [Reflect.get(row, column), columns[column]];
      if (from !== to)
        plain.push({ field: name, from: auditValue(name, field, from), to: auditValue(name, field, to) });
      continue;
    }
    const stored = field.input?.column;
    if (stored && Reflect.get(row, stored(name)) === columns[stored(name)]) continue;
    if (isSecret(name, field) || !field.json)
      hidden.push({ field: name, from: null, to: auditValue(name, field, values[name]) });
    else shown.push(name);
  }
  return { plain, shown, hidden };
}

/** Records an update by comparing the representations before and after it. */
export function noteUpdate(
  draft: AuditDraft,
  { hidden, plain, shown }: NotedUpdate,
  fields: Fields,
  base: string,
  before: string,
  after: string,
): void {
  draft.isUpdate = true;
  for (const change of plain) draft.changes.push(change);
  for (const change of hidden) draft.changes.push(change);
  if (shown.length === 0) return;
  const [from, to]: readonly Record<string, unknown>[] = [JSON.parse(before), JSON.parse(after)];
  const value = (name: string, object: Record<string, unknown> | undefined): unknown => {
    const field = fields[name];
    const member = object?.[name];
    return field && auditValue(name, field, typeof member === 'string' ? member.replace(base, '') : (member ?? null));
  };
  for (const name of shown)
    if (JSON.stringify(from?.[name]) !== JSON.stringify(to?.[name]))
      draft.changes.push({ field: name, from: value(name, from), to: value(name, to) });
}

/** Records the values of an object before its deletion. */
export const deletedValues = (fields: Fields, row: object): FieldChange[] =>
  Object.entries(fields).flatMap(([name, field]) => {
    const column = plainColumn(name, field);
    const value: unknown = column === undefined ? null : Reflect.get(row, column);
    return value === null || value === undefined || value === ''
      ? []
      : [{ field: name, from: auditValue(name, field, value), to: null }];
  });
