import type { Fault, Identity, VendorRequest, VendorResponse } from '../server.ts';
import { StandIn } from '../stand-in.ts';
import type { Action } from './action.ts';
import { instanceActions } from './instances.ts';
import { otherActions } from './offers.ts';
import { Parameters } from './parameters.ts';
import { Rejection } from './rejection.ts';
import { regionNames, Setup } from './setup.ts';
import { checkSignature } from './signature.ts';
import { volumeActions } from './volumes.ts';
import { rejectionText, response } from './xml.ts';

/*
 * Imitates Amazon's EC2 Query API as publicly documented, and stores objects. All regions share one address; the signature names
 * the region. Rejects requests that it does not know.
 */

const actions: Readonly<Record<string, Action>> = { ...instanceActions, ...volumeActions, ...otherActions };

export class Amazon extends StandIn {
  readonly contents: Setup;
  /** Maximum number of objects per page. */
  largestPage = 1000;
  /** Remaining calls in this second of the clock; undefined: unlimited. */
  callsPerSecond: number | undefined;
  /** Secret keys by access key, and whether they are read-only. */
  readonly accessKeys = new Map([
    ['AKIDEXAMPLE', { secret: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY', mayWrite: true }],
    ['AKIDREADONLY', { secret: 'JalrXUtnFEMI/K7MDENG+bPxRfiCYREADONLYKEY', mayWrite: false }],
  ]);
  #requests = 0;
  #second = { number: 0, calls: 0 };

  private constructor(now: () => number) {
    super(now);
    this.contents = new Setup(now);
  }

  static start = (now: () => number = Date.now, identity?: Identity): Promise<Amazon> =>
    StandIn.startServer(new Amazon(now), identity);

  route({ text }: VendorRequest): string {
    return new URLSearchParams(text).get('Action') ?? '';
  }

  override headers(): Readonly<Record<string, string>> {
    return { ...super.headers(), 'Content-Type': 'text/xml;charset=UTF-8' };
  }

  injectFault = (action: string, fault: Fault, times = 1): void => this.server.injectFault(action, fault, times);

  /** Returns the calls since the last time, as `<region> <Action>`. */
  take = (): string[] =>
    this.server
      .take()
      .map(({ headers, route }) => `${/\/(\w+-\w+-\d)\//.exec(headers.authorization ?? '')?.[1]} ${route}`);

  /** Returns a rejection for use as a fault. */
  static rejection(
    status: number,
    code: string,
    message: string,
    headers: Readonly<Record<string, string>> = {},
  ): VendorResponse {
    return { status, headers, text: rejectionText(code, message, 'a6a1b1e7-0000-0000-0000-000000000000') };
  }

  reply(request: VendorRequest): VendorResponse {
    const id = `59dbff89-35bd-4eac-99ed-${String(++this.#requests).padStart(12, '0')}`;
    this.contents.advance();
    try {
      const form = new URLSearchParams(request.text);
      const name = form.get('Action') ?? '';
      return { status: 200, text: response(name, id, this.#run(request, form, name)) };
    } catch (error) {
      if (!(error instanceof Rejection)) throw error;
      return { status: error.status, text: rejectionText(error.code, error.message, id) };
    }
  }

  #run(request: VendorRequest, form: URLSearchParams, name: string): object {
    const { mayWrite, region } = this.#signer(request);
    if (!regionNames.includes(region))
      throw new Rejection('AuthFailure', `Credential should be scoped to a valid region. `, 401);
    this.#limit();
    const action = actions[name];
    if (!action) throw new Rejection('InvalidAction', `The action ${name} is not valid for this web service.`);
    if (form.get('Version') !== '2016-11-15')
      throw new Rejection(
        'NoSuchVersion',
        `The requested version (${form.get('Version')}) of service AmazonEC2 does not exist`,
      );
    const parameters = new Parameters(form, action.declaration);
    if (action.writes && !mayWrite)
      throw new Rejection('UnauthorizedOperation', 'You are not authorized to perform this operation.', 403);
    return action.run({ parameters, region, contents: this.contents, largestPage: this.largestPage });
  }

  #signer(request: VendorRequest): { readonly region: string; readonly mayWrite: boolean } {
    const signed = checkSignature(request, (accessKey) => this.accessKeys.get(accessKey)?.secret);
    if (signed === 'unsigned')
      throw new Rejection('MissingAuthenticationToken', 'Request is missing Authentication Token', 403);
    if (signed === 'expired') throw new Rejection('RequestExpired', 'Request has expired.');
    if (signed === 'invalid')
      throw new Rejection('AuthFailure', 'AWS was not able to validate the provided access credentials', 401);
    return { region: signed.region, mayWrite: this.accessKeys.get(signed.accessKey)?.mayWrite === true };
  }

  #limit(): void {
    const number = Math.floor(this.contents.now() / 1000);
    if (this.#second.number !== number) this.#second = { number, calls: 0 };
    if (this.callsPerSecond !== undefined && ++this.#second.calls > this.callsPerSecond)
      throw new Rejection('RequestLimitExceeded', 'Request limit exceeded.', 503);
  }
}
