import type { Request } from '../../kernel/access/request.ts';
import type { Endpoint } from '../../kernel/collection/endpoint.ts';
import { objectShape } from '../../kernel/collection/field.ts';
import { invalid } from '../../kernel/http/error.ts';
import { json } from '../../kernel/http/reply.ts';
import { NoResponseError } from '../../kernel/net/http-client.ts';
import { present } from '../../kernel/present.ts';
import type { Catalogue } from '../catalogue/catalogue.ts';
import type { DriverSettings } from '../catalogue/driver.ts';
import { ProviderError } from '../catalogue/provider-error.ts';
import { isSimulated } from '../catalogue/simulation.ts';
import type { ProviderType } from '../catalogue/type.ts';
import { driverOf } from '../operations/drivers.ts';
import { driverSettingsOf, pingTimeoutMs, withTimeout } from './ping.ts';
import { servicesOf } from './services.ts';

/** The parts of a connection, each of which requires the previous one (services.md 4.3). */
const checkNames = ['endpoint', 'certificate', 'authentication', 'inventory'] as const;
type CheckName = (typeof checkNames)[number];

interface Check {
  readonly name: CheckName;
  readonly status: 'passed' | 'failed' | 'skipped';
  /** Why it failed. */
  readonly message: string;
}

const inventoryTimeoutMs = 20_000;

/** Tests the connection of settings: one call to log in, and another to read the objects. */
async function testConnection(request: Request, settings: DriverSettings): Promise<Check[]> {
  const isEncrypted = !isSimulated(settings.backend_url) && !/^http:/i.test(settings.backend_url ?? '');
  const checks = (failed?: CheckName, message = ''): Check[] => {
    const failedIndex = failed === undefined ? checkNames.length : checkNames.indexOf(failed);
    return checkNames.map((name, index) => {
      if (index === failedIndex) return { name, status: 'failed', message };
      return {
        name,
        status: index > failedIndex || (name === 'certificate' && !isEncrypted) ? 'skipped' : 'passed',
        message: '',
      };
    });
  };
  let current: CheckName | undefined;
  try {
    const driver = driverOf(request.app, settings);
    await withTimeout(driver.ping(), pingTimeoutMs);
    current = 'inventory';
    await withTimeout(driver.sync([]), inventoryTimeoutMs);
    return checks();
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error;
    return checks(current ?? failedPartOf(error), reasonOf(error));
  }
}

const certificateCode = /CERT|SIGNATURE|^ERR_TLS/;

/** Returns the part of the connection that a login error concerns. */
function failedPartOf(error: ProviderError): CheckName {
  // Some drivers explain a failed login themselves.
  const { cause, status, type } = error.cause instanceof ProviderError ? error.cause : error;
  const origin = cause instanceof NoResponseError ? cause.cause : undefined;
  if (origin instanceof Error && 'code' in origin && certificateCode.test(String(origin.code))) return 'certificate';
  // A 404, a 5xx or an unknown format does not come from the provider's API.
  const isOfApi = type === 'unauthorized' || (status !== undefined && status < 500 && type !== 'not_found');
  return isOfApi ? 'authentication' : 'endpoint';
}

function reasonOf({ cause, message, status }: ProviderError): string {
  if (cause instanceof NoResponseError) return cause.message;
  return status !== undefined && status >= 500 ? `Backend answered with status ${status}` : message;
}

/** POST /api/<type>/test/: tests the body of a creation without storing it. */
function connectionTest(catalogue: Catalogue, type: ProviderType): Endpoint {
  const services = servicesOf(catalogue, type);
  const creation = present(present(services.endpoints()[0]).operations.POST);
  return {
    path: `/api/${type.prefix}/test/`,
    name: `${type.name} Service Connection Test`,
    description: 'Tests the connection to a provider account without storing it.',
    operations: {
      POST: {
        summary: 'Tests whether the provider is reachable and accepts the credentials.',
        unaudited: 'It stores nothing.',
        allowedFor: creation.allowedFor,
        input: creation.input,
        output: {
          status: 200,
          shape: objectShape({
            is_successful: { type: 'boolean' },
            checks: {
              type: 'array',
              items: objectShape({
                name: { type: 'string', enum: [...checkNames] },
                status: { type: 'string', enum: ['passed', 'failed', 'skipped'] },
                message: { type: 'string' },
              }),
            },
          }),
        },
        prepare: (request) => {
          const { accepted } = services.acceptNew(request);
          if (accepted.settings !== undefined) throw invalid({ settings: ['Only new credentials can be tested.'] });
          return testConnection(request, driverSettingsOf(request, type, accepted));
        },
        handle: (_, checks: Check[]) =>
          json({ is_successful: checks.every(({ status }) => status !== 'failed'), checks }),
      },
    },
  };
}

/** A connection test for each provider type. */
export const connectionTests = (catalogue: Catalogue): readonly Endpoint[] =>
  catalogue.types.map((type) => connectionTest(catalogue, type));
