import type { Request } from '../../kernel/access/request.ts';
import { UploadedFile } from '../../kernel/http/multipart.ts';
import type { DriverSettings } from '../catalogue/driver.ts';
import { ProviderError } from '../catalogue/provider-error.ts';
import type { ProviderType } from '../catalogue/type.ts';
import { driverOf } from '../operations/drivers.ts';
import { backendOfNew } from './backend.ts';
import { optionNames } from './settings-fields.ts';
import type { SettingsValues } from './settings-row.ts';

const pingTimeoutMs = 10_000;

/** Checks credentials before they are stored. Returns what is wrong with them, or undefined (services.md 4.2 "ping"). */
export async function pingSettings(
  request: Request,
  type: ProviderType,
  values: SettingsValues,
): Promise<string | undefined> {
  const given: Readonly<Record<string, unknown>> = values;
  const text = (name: string): string | null => {
    const value = given[name];
    return typeof value === 'string' ? value : null;
  };
  const settings: DriverSettings = {
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
        given[name] == null ? [] : [[name, given[name]]],
      ),
    ),
    mayBePrivate: request.caller.isStaff,
  };
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<string>((resolve) => {
    timer = setTimeout(() => resolve('Backend does not respond'), pingTimeoutMs);
  });
  try {
    return await Promise.race([
      driverOf(request.app, settings)
        .ping()
        .then(() => undefined),
      timeout,
    ]);
  } catch (error) {
    if (error instanceof ProviderError) return error.message;
    throw error;
  } finally {
    clearTimeout(timer);
  }
}
