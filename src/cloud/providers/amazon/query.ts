import * as v from 'valibot';
import type { ErrorClass } from '../../catalogue/provider-error.ts';
import { decoded, malformed, type Rejection, type VendorHttp } from '../../catalogue/vendor-http.ts';
import { allPages, type ListLimit, maxObjects } from '../../operations/paging.ts';
import { rejectionSchema, setOf } from './responses.ts';

/* Amazon's Query protocol (providers.md 6.5): forms in, XML out, signed with Signature V4. */

const version = '2016-11-15';
/** Public host of the vendor; each region has a subdomain. */
const publicHost = 'ec2.amazonaws.com';

export type Parameters = Readonly<Record<string, string>>;

export interface Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

export class Query {
  constructor(
    private readonly http: VendorHttp,
    private readonly backendUrl: string,
    private readonly credentials: Credentials,
  ) {}

  /** All items of a list. */
  list<T>(
    region: string,
    action: string,
    parameters: Parameters,
    member: string,
    schema: v.GenericSchema<unknown, T>,
  ): Promise<T[]> {
    return this.read(region, action, parameters, member, schema, (items) => items);
  }

  /** Maps each page of a list as it arrives, so that long lists take little memory. */
  read<T, Made>(
    region: string,
    action: string,
    parameters: Parameters,
    member: string,
    schema: v.GenericSchema<unknown, T>,
    created: (items: readonly T[]) => readonly Made[],
    limit: ListLimit = { maxItems: maxObjects, exceeded: malformed },
  ): Promise<Made[]> {
    return allPages(async (next) => {
      const body = await this.call(region, action, { ...parameters, ...(next !== undefined && { NextToken: next }) });
      const response = decoded(v.record(v.string(), v.record(v.string(), v.unknown())), body)[`${action}Response`];
      if (!response) throw malformed();
      const items = created(decoded(setOf(schema), response[member]));
      return { items, next: decoded(v.optional(v.string()), response.nextToken) };
    }, limit);
  }

  /** Sends one call. Rejects with the error class of the vendor's code. */
  async call(region: string, action: string, parameters: Parameters): Promise<unknown> {
    const url = new URL(this.backendUrl);
    if (url.host === publicHost) url.host = `ec2.${region}.amazonaws.com`;
    const body = new URLSearchParams({ Action: action, Version: version, ...parameters }).toString();
    const { sign } = (await import('aws4')).default;
    const { headers } = sign(
      {
        service: 'ec2',
        region,
        method: 'POST',
        host: url.host,
        path: url.pathname + url.search,
        headers: { 'Content-Type': 'application/x-www-form-urlencoded; charset=utf-8' },
        body,
      },
      this.credentials,
    );
    const signed = Object.fromEntries(Object.entries(headers ?? {}).map(([name, value]) => [name, String(value)]));
    return this.http.xml({ method: 'POST', url, headers: signed, body }, 'item', explained);
  }
}

/** `InstanceId.1`, `InstanceId.2` … */
export const numbered = (name: string, values: readonly string[]): Parameters =>
  Object.fromEntries(values.map((value, n) => [`${name}.${n + 1}`, value]));

/** Filter parameters; listed objects match all of them. */
export const filters = (conditions: Parameters): Parameters =>
  Object.fromEntries(
    Object.entries(conditions).flatMap(([name, value], n) => [
      [`Filter.${n + 1}.Name`, name],
      [`Filter.${n + 1}.Value.1`, value],
    ]),
  );

/** Tags for the new objects of one type; `n` numbers the types. */
export const tagged = (n: number, type: string, tags: Parameters): Parameters =>
  Object.fromEntries([
    [`TagSpecification.${n}.ResourceType`, type],
    ...Object.entries(tags).flatMap(([key, value], m) => [
      [`TagSpecification.${n}.Tag.${m + 1}.Key`, key],
      [`TagSpecification.${n}.Tag.${m + 1}.Value`, value],
    ]),
  ]);

/** The error class of a vendor's code if the status is ambiguous (providers.md 6.5 "Errors"). */
function classOf(code: string): ErrorClass | undefined {
  if (/^Invalid\w+\.NotFound$/.test(code)) return 'not_found';
  switch (code) {
    case 'AuthFailure':
    case 'UnauthorizedOperation':
    case 'InvalidClientTokenId':
    case 'SignatureDoesNotMatch':
    case 'OptInRequired':
      return 'unauthorized';
    case 'RequestLimitExceeded':
    case 'Throttling':
      return 'limited';
    case 'InternalError':
    case 'InternalFailure':
    case 'Unavailable':
    case 'ServiceUnavailable':
      return 'unavailable';
    default:
      return undefined;
  }
}

function explained(body: unknown): Rejection {
  const rejection = v.safeParse(rejectionSchema, body);
  if (!rejection.success) return {};
  const { Code: code, Message: text } = rejection.output.Response.Errors.Error;
  return { text: text || code, type: classOf(code) };
}
