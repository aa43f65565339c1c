import * as v from 'valibot';
import { withoutControls } from '../../../kernel/control-characters.ts';
import { baseOf } from '../../../kernel/url.ts';
import { ProviderError } from '../../catalogue/provider-error.ts';
import {
  basicAuthorization,
  decoded,
  malformed,
  type VendorCall,
  type VendorHttp,
} from '../../catalogue/vendor-http.ts';

/* Calls of Oracle Enterprise Manager's database-as-a-service API (providers.md 9) and the used parts of its responses. */

const family = '/em/cloud/service_family_type/dbaas';
const zoneType = 'application/oracle.com.cloud.common.DbZone+json';
const instanceType = 'application/oracle.com.cloud.common.DbPlatformInstance+json';

/** Maximum characters of the vendor's response in an error message. */
const maxExcerptLength = 1000;

const text = v.nullish(v.string(), '');
const element = v.object({ uri: v.string(), name: text, media_type: text });
const elements = v.object({ elements: v.nullish(v.array(element), []) });

const instance = v.object({
  uri: text,
  name: text,
  status: text,
  resource_state: v.nullish(v.object({ state: text }), null),
});

export type VendorElement = v.InferOutput<typeof element>;
export type VendorInstance = v.InferOutput<typeof instance>;

/** An operation on an existing database. */
export type Operation = 'STARTUP' | 'SHUTDOWN';

/** Parameters of a new database. */
export interface NewDatabase {
  readonly zone: string;
  readonly name: string;
  readonly description: string;
  readonly params: Readonly<Record<string, string>>;
}

/** The id in the address of an object: its last part. Throws `malformed`. */
export function idOf({ uri }: { readonly uri: string | null | undefined }): string {
  const [id] = /[\w-]+$/.exec(uri ?? '') ?? [];
  if (id === undefined) throw malformed();
  return id;
}

/** The path in the address of an object. */
export const pathOf = ({ uri }: VendorElement): string => uri.replace(/^https?:\/\/[^/]+/i, '');

const instancePath = (id: string): string => `/em/cloud/dbaas/dbplatforminstance/byrequest/${encodeURIComponent(id)}`;

interface Call {
  readonly type?: string;
  readonly json?: unknown;
  /** Secret to redact in messages in addition to those of the settings. */
  readonly secret?: string;
}

export class OracleApi {
  readonly #site: string;
  readonly #authorization: Readonly<Record<string, string>>;

  constructor(
    private readonly http: VendorHttp,
    backendUrl: string,
    { password, username }: { readonly username: string; readonly password: string },
  ) {
    this.#site = baseOf(backendUrl).replace(/\/em$/, '');
    this.#authorization = basicAuthorization(username, password);
  }

  zones = (): Promise<readonly VendorElement[]> => this.#elements('zones');
  templates = (): Promise<readonly VendorElement[]> => this.#elements('service_templates');

  /** The account's databases in a zone, by the path of the zone; undefined if Oracle does not list them. */
  async instances(zone: string): Promise<readonly VendorElement[] | undefined> {
    try {
      return elementsOf(await this.#call('GET', zone, { type: zoneType }), 'service_instances');
    } catch (error) {
      if (error instanceof ProviderError && ['not_found', 'invalid', 'malformed'].includes(error.type))
        return undefined;
      throw error;
    }
  }

  /** Requests a database. Returns the id of the request, which is also the id of the database. */
  async create(template: string, wanted: NewDatabase, secret: string): Promise<string> {
    const path = `/em/cloud/dbaas/dbplatformtemplate/${encodeURIComponent(template)}`;
    return idOf(decoded(instance, await this.#call('POST', path, { type: instanceType, json: wanted, secret })));
  }

  async instance(id: string): Promise<VendorInstance> {
    return decoded(instance, await this.#call('GET', instancePath(id), { type: instanceType }));
  }

  async operate(id: string, operation: Operation): Promise<void> {
    await this.#call('POST', instancePath(id), { type: instanceType, json: { operation } });
  }

  async delete(id: string): Promise<void> {
    await this.#call('DELETE', instancePath(id), { type: instanceType });
  }

  async #elements(collection: string): Promise<readonly VendorElement[]> {
    return elementsOf(await this.#call('GET', `${family}?${collection}`), collection);
  }

  /** Returns the document. Any status but 200 is an error. */
  async #call(method: VendorCall['method'], path: string, { json, secret, type }: Call = {}): Promise<unknown> {
    const { body, status } = await this.http.json(
      {
        method,
        url: new URL(this.#site + path),
        headers: {
          ...this.#authorization,
          ...(type !== undefined && { Accept: type, ...(json !== undefined && { 'Content-Type': type }) }),
        },
        json,
      },
      (_, response) => rejectionText(response.status, response.body, secret),
    );
    if (status !== 200) throw malformed();
    return body;
  }
}

/** The members of a collection in a response. */
const elementsOf = (body: unknown, collection: string): readonly VendorElement[] =>
  decoded(v.object({ [collection]: elements }), body)[collection]?.elements ?? [];

function rejectionText(status: number, body: Buffer, secret = ''): string {
  const excerpt = withoutControls(body.toString('utf8').slice(0, maxExcerptLength)).trim();
  return `${status}. Request to Oracle backend failed: ${secret === '' ? excerpt : excerpt.replaceAll(secret, '***')}`;
}
