import type { Request } from '../../kernel/access/request.ts';
import { messages } from '../../kernel/collection/field.ts';
import { sql } from '../../kernel/db/sql.ts';
import { conflict, invalid } from '../../kernel/http/error.ts';
import { UploadedFile } from '../../kernel/http/multipart.ts';
import { unknownOperations } from '../catalogue/options.ts';
import { isSimulated } from '../catalogue/simulation.ts';
import { secretChange } from './settings-fields.ts';
import type { SettingsRow, SettingsValues } from './settings-row.ts';

/* The backend of provider accounts and its required credentials (services.md 2.2, 2.5). */

/**
 * Returns the backend URL of new settings, or null for the simulator. If the simulator is off, null means the public vendor.
 */
export const backendOfNew = ({ app, config }: Request, type: string, input: string | null | undefined): string | null =>
  input ?? (config.simulator_enabled ? null : (app.catalogue.type(type).publicUrl ?? null));

/** Throws 400 for missing credentials of a real driver, for a type without a driver, and if the simulator is not allowed. */
export function rejectMissingCredentials(
  request: Request,
  typeName: string,
  values: SettingsValues,
  row?: SettingsRow,
): void {
  const { app, config } = request;
  const input = values.backend_url;
  const backendUrl = row ? (input === undefined ? row.backend_url : input) : backendOfNew(request, typeName, input);
  if (isSimulated(backendUrl)) {
    // Accept existing simulated settings, but reject new ones.
    if (!config.simulator_enabled && !(row && input === undefined)) throw invalid({ backend_url: [messages.url] });
    return;
  }
  const type = app.catalogue.type(typeName);
  if (!type.driver) {
    const advice = config.simulator_enabled ? ' Leave backend_url empty to use the simulator.' : '';
    throw invalid({ backend_url: [`This version has no driver for ${type.name} backends.${advice}`] });
  }
  const saved = (name: 'password' | 'token'): boolean => {
    const change = secretChange(values[name]);
    return change.kind === 'replace' || (change.kind === 'keep' && row?.[name] != null);
  };
  const username = values.username === undefined ? row?.username : values.username;
  const missing = type.missingCredentials({
    username: username ?? null,
    password: saved('password') || null,
    token: saved('token') || null,
  });
  if (Object.keys(missing).length > 0) throw invalid(missing);
}

/** Throws 400 for simulator options with an unknown operation, which would have no effect. */
export function rejectUnknownOperations({ app }: Request, type: string, values: SettingsValues): void {
  const problems = unknownOperations(app.catalogue.type(type), { ...values });
  if (Object.keys(problems).length > 0) throw invalid(problems);
}

/**
 * Requires the secrets again if the origin or the trust anchor changes, so that callers cannot send stored secrets elsewhere
 * (services.md 2.5).
 */
export function rejectForeignSecrets({ app, caller }: Request, values: SettingsValues, row: SettingsRow): void {
  const isMoved = values.backend_url !== undefined && originOf(values.backend_url) !== originOf(row.backend_url);
  const hasOtherAnchor =
    values.certificate instanceof UploadedFile || (values.certificate === null && row.certificate !== null);
  if (!isMoved && !(hasOtherAnchor && !caller.isStaff)) return;
  const input: Readonly<Record<string, unknown>> = values;
  const options: Readonly<Record<string, unknown>> = JSON.parse(row.options);
  const stored = [
    ...(['password', 'token', 'certificate'] as const).filter((name) => row[name] !== null),
    ...(app.catalogue.type(row.type).secretOptions ?? []).filter((name) => options[name] !== undefined),
  ];
  const names = stored.filter((name) => {
    const value = input[name];
    return typeof value === 'string' ? secretChange(value).kind !== 'replace' : value === undefined;
  });
  if (names.length === 0) return;
  throw invalid(
    Object.fromEntries(names.map((name) => [name, ['Credentials must be given again when the backend changes.']])),
  );
}

const originOf = (url: string | null): string => (url === null || isSimulated(url) ? '' : new URL(url).origin);

/** Rejects a switch between simulator and provider while there are resources. */
export function rejectSwitch({ db }: Request, values: SettingsValues, row: SettingsRow): void {
  if (values.backend_url === undefined || isSimulated(values.backend_url) === isSimulated(row.backend_url)) return;
  if (db.value(sql`SELECT 1 FROM resource WHERE settings_id = ${row.id}`) !== undefined) {
    throw conflict('Backend of service settings with existing resources cannot be changed.');
  }
}
