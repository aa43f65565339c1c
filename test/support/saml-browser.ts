import type { ApiResponse, Fixture, Json } from './fixture.ts';

/** A form of an identity provider that posts to the service. */
export interface Form {
  readonly action: string;
  readonly SAMLResponse: string;
  readonly RelayState: string;
}

const hidden = (page: string, name: string): string =>
  new RegExp(`name="${name}"\\s+value="([^"]*)"`).exec(page)?.[1] ?? '';

/** A browser for SAML logins. It stores the cookie and follows redirects and forms, one step per call. */
export class SamlBrowser {
  cookie: string | undefined;

  constructor(private readonly service: Pick<Fixture, 'anonymous' | 'url'>) {}

  /** Sends a request with the cookie, and stores a new cookie. */
  async send(method: string, path: string, form?: Readonly<Record<string, string>>): Promise<ApiResponse<Json>> {
    const response = await this.service.anonymous.send(
      method,
      path.replace(this.service.url, ''),
      form && new URLSearchParams(form).toString(),
      {
        ...(form && { 'Content-Type': 'application/x-www-form-urlencoded' }),
        ...(this.cookie !== undefined && { Cookie: this.cookie }),
      },
    );
    const set = response.headers.get('set-cookie');
    if (set) this.cookie = set.split(';', 1)[0] as string;
    return response;
  }

  /** Starts a login; returns the redirect. */
  async start(idp: string): Promise<string> {
    const response = await this.send('POST', '/api-auth/saml2/login/', { idp });
    if (response.status !== 302)
      throw new Error(`expected 302, got ${response.status}: ${JSON.stringify(response.body)}`);
    return response.headers.get('location') as string;
  }

  /** Starts a login and opens the identity provider; returns its form. */
  async form(idp: string): Promise<Form> {
    return this.formAt(await this.start(idp));
  }

  /** Returns the form of an identity provider at one of its URLs. */
  async formAt(address: string): Promise<Form> {
    const response = await fetch(address);
    const page = await response.text();
    if (response.status !== 200) throw new Error(`the identity provider returned ${response.status}: ${page}`);
    return {
      action: /action="([^"]*)"/.exec(page)?.[1] as string,
      SAMLResponse: hidden(page, 'SAMLResponse'),
      RelayState: hidden(page, 'RelayState'),
    };
  }

  /** Posts a response to the service; returns the redirect. */
  async post(response: string): Promise<string> {
    const redirect = await this.send('POST', '/api-auth/saml2/login/complete/', {
      SAMLResponse: response,
      RelayState: '',
    });
    if (redirect.status !== 302)
      throw new Error(`expected 302, got ${redirect.status}: ${JSON.stringify(redirect.body)}`);
    return redirect.headers.get('location') as string;
  }

  /** Runs a whole login; returns its last redirect. */
  async logIn(idp: string): Promise<string> {
    return this.post((await this.form(idp)).SAMLResponse);
  }
}

/** Decode and encode SAML messages in forms. */
export const decoded = (base64: string): string => Buffer.from(base64, 'base64').toString();
export const encoded = (xml: string): string => Buffer.from(xml).toString('base64');
