import type { Request } from '../../kernel/access/request.ts';
import type { App } from '../../kernel/app.ts';
import { storedColumns } from '../../kernel/collection/changes.ts';
import type { Row } from '../../kernel/collection/collection.ts';
import type { Values } from '../../kernel/collection/field.ts';
import type { Value } from '../../kernel/db/sql.ts';
import { UploadedFile } from '../../kernel/http/multipart.ts';
import { simulatorOptions } from '../catalogue/options.ts';
import { masked, optionNames, secretChange, settingsFields } from './settings-fields.ts';

/* Storage of provider accounts. */

/** Stored service settings, with sealed secrets. */
export interface SettingsRow extends Row {
  readonly name: string;
  readonly type: string;
  readonly state: string;
  readonly shared: number;
  readonly customer_id: number | null;
  readonly backend_url: string | null;
  readonly username: string | null;
  readonly password: Uint8Array | null;
  readonly token: Uint8Array | null;
  readonly certificate: Uint8Array | null;
  readonly certificate_name: string | null;
  readonly domain: string | null;
  readonly options: string;
  readonly secret_options: Uint8Array | null;
}

/** Body values for settings. */
export type SettingsValues = Values<ReturnType<typeof settingsFields>>;

/** Columns of the current row that a change depends on. */
type Stored = Pick<SettingsRow, 'uuid' | 'options' | 'secret_options' | 'type'>;

/** Converts body values to columns, with sealed secrets and merged options. */
export function columnsOf(request: Request, values: SettingsValues, row: Stored): Record<string, Value> {
  const { catalogue, secrets } = request.app;
  const columns = storedColumns(settingsFields(catalogue), values);
  for (const name of ['password', 'token'] as const) {
    const change = secretChange(values[name]);
    if (change.kind === 'clear') columns[name] = null;
    if (change.kind === 'replace') columns[name] = secrets.seal(change.value, row.uuid);
  }
  if (values.certificate !== undefined) {
    const file = values.certificate instanceof UploadedFile ? values.certificate : null;
    columns.certificate = file && secrets.seal(file.content.toString('utf8'), row.uuid);
    columns.certificate_name = file === null ? null : file.name;
  }
  if (values.scope !== undefined) columns.scope_id = values.scope?.id ?? null;
  return { ...columns, ...optionColumns(request, values, row) };
}

/** Merges the options in a body into the stored ones. Null removes an option. Secret options are sealed, and stars keep them. */
function optionColumns({ app }: Request, values: SettingsValues, row: Stored): Record<string, Value> {
  const input: Readonly<Record<string, unknown>> = values;
  const options: Record<string, unknown> = JSON.parse(row.options);
  const secrets: Record<string, unknown> = row.secret_options
    ? JSON.parse(app.secrets.open(row.secret_options, row.uuid))
    : {};
  const sealed = new Set(app.catalogue.type(row.type).secretOptions);
  let hasNewSecrets = false;
  for (const name of optionNames(app.catalogue, row.type)) {
    const value = input[name];
    if (value === undefined || (sealed.has(name) && value === masked)) continue;
    if (value === null) delete options[name];
    else options[name] = sealed.has(name) ? masked : value;
    if (!sealed.has(name)) continue;
    hasNewSecrets = true;
    if (value === null) delete secrets[name];
    else secrets[name] = value;
  }
  const text = JSON.stringify(options);
  return {
    ...(text !== row.options && { options: text }),
    ...(hasNewSecrets && { secret_options: app.secrets.seal(JSON.stringify(secrets), row.uuid) }),
  };
}

/**
 * Whether a change affects calls to the provider (URL, credentials, options) and requires an immediate attempt. Simulator options
 * apply to its next operation anyway, so only those that may resolve a failure count.
 */
export function isOtherAccount({ secrets }: App, row: SettingsRow, columns: Readonly<Record<string, Value>>): boolean {
  const opened = (sealed: Value | undefined): string | null =>
    sealed instanceof Uint8Array ? secrets.open(sealed, row.uuid) : null;
  const isChanged = (name: string): boolean => name in columns;
  if ((['backend_url', 'username', 'domain'] as const).some((name) => isChanged(name) && columns[name] !== row[name]))
    return true;
  if (
    (['password', 'token', 'certificate', 'secret_options'] as const).some(
      (name) => isChanged(name) && opened(columns[name]) !== opened(row[name]),
    )
  )
    return true;
  if (typeof columns.options !== 'string') return false;
  const before: Readonly<Record<string, unknown>> = JSON.parse(row.options);
  const after: Readonly<Record<string, unknown>> = JSON.parse(columns.options);
  return Object.keys({ ...before, ...after }).some(
    (name) => before[name] !== after[name] && (row.state === 'Erred' || !(name in simulatorOptions)),
  );
}
