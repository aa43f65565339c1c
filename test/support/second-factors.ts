import { Secret, TOTP } from 'otpauth';
import type { Client, Fixture, Json } from './fixture.ts';

/** An authenticator app on the clock of a fixture. */
export class AuthenticatorApp {
  constructor(
    private readonly fixture: Fixture,
    readonly secret: string,
  ) {}

  /** Returns the code of the current time step, offset by this many steps. */
  code(steps = 0): string {
    const now = this.fixture.server.app.clock.now() / 1000;
    return TOTP.generate({ secret: Secret.fromBase32(this.secret), timestamp: now + steps * 30_000 });
  }

  /** Returns a code that is wrong in every accepted time step. */
  wrongCode(): string {
    const valid = [-1, 0, 1].map((steps) => this.code(steps));
    return ['000000', '111111', '222222', '333333'].find((code) => !valid.includes(code)) ?? '';
  }
}

/** Adds an authenticator app to the user of a client with a confirmed session. `factor` is the body of the 201. */
export async function enrol(
  fixture: Fixture,
  client: Client,
  name = 'Phone',
): Promise<{ readonly app: AuthenticatorApp; readonly factor: Json }> {
  const { body } = await client.post('/api/second-factors/totp/');
  const app = new AuthenticatorApp(fixture, body.secret);
  const { body: factor, status } = await client.post('/api/second-factors/totp/confirm/', { code: app.code(), name });
  if (status !== 201) throw new Error(`expected 201, got ${status}: ${JSON.stringify(factor)}`);
  return { app, factor };
}
