import type { Request } from '../../kernel/access/request.ts';
import { UploadedFile } from '../../kernel/http/multipart.ts';
import type { DriverSettings } from '../catalogue/driver.ts';
import { ProviderError } from '../catalogue/provider-error.ts';
import type { ProviderType } from '../catalogue/type.ts';
import { driverOf } from '../operations/drivers.ts';
import { backendOfNew } from './backend.ts';
import { optionNames } from './settings-fields.ts';
import type { SettingsValues } from './settings-row.ts';

export const pingTimeoutMs = 10_000;

/** Checks credentials before storing them. Returns the error; undefined on success (services.md 4.2 "ping"). */
export async function pingSettings(
  request: Request,
  type: ProviderType,
  values: SettingsValues,
): Promise<string | undefined> {
  try {
    const driver = driverOf(request.app, driverSettingsOf(request, type, values));
    await withTimeout(driver.ping(), pingTimeoutMs);
    return undefined;
  } catch (error) {
    if (error instanceof ProviderError) return error.message;
    throw error;
  }
}

/** Converts a body to settings for a driver. */
export function driverSettingsOf(request: Request, type: ProviderType, values: SettingsValues): DriverSettings {
  const fields: Readonly<Record<string, unknown>> = values;
  const text = (name: string): string | null => {
    const value = fields[name];
    return typeof value === 'string' ? value : null;
  };
  return {
    id: 0,
    uuid: '0'.repeat(32),
    type: type.name,
    name: text('name') ?? '',
    backend_url: backendOfNew(request, type.name, values.backend_url),
    username: text('username'),
    password: text('password'),
    token: text('token'),
    certificate: values.certificate instanceof UploadedFile ? values.certificate.content.toString('utf8') : null,
    domain: text('domain'),
    options: Object.fromEntries(
      optionNames(request.app.catalogue, type.name).flatMap((name) =>
        fields[name] == null ? [] : [[name, fields[name]]],
      ),
    ),
    mayBePrivate: request.caller.isStaff,
  };
}

/** Rejects with `unavailable` if the provider takes longer. */
export async function withTimeout<T>(call: Promise<T>, timeoutMs: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new ProviderError('unavailable', 'Backend does not respond')), timeoutMs);
  });
  try {
    return await Promise.race([call, timeout]);
  } finally {
    clearTimeout(timer);
  }
}
