/** The attempts of a login that waits for a second factor, with the built program that is killed in between (core.md 2.11). */
import { Secret, TOTP } from 'otpauth';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Json } from '../../../support/fixture.ts';
import { nativeCache, Program, type Serving } from '../../../support/program.ts';

const test = suite('attempts at a second factor');
const password = 'correct-horse-7';
const invalid = 'Invalid second factor.';
const again = 'Log in again.';
let program: Program;
let server: Serving;

test.before.each(async () => {
  program = new Program(nativeCache);
  await program.run(['user', 'add', 'alice', '--password-stdin', '--data', 'data'], { input: password });
  server = await program.serve();
});
test.after.each(() => program.end());

async function post(path: string, body: unknown, token?: string): Promise<{ status: number; body: Json }> {
  const response = await fetch(server.url + path, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...(token !== undefined && { Authorization: `Token ${token}` }) },
    body: JSON.stringify(body),
  });
  return { status: response.status, body: (await response.json()) as Json };
}

const logIn = async (): Promise<Json> => (await post('/api-auth/password/', { username: 'alice', password })).body;
const challenge = async (): Promise<string> => (await logIn()).second_factor.token;
const present = (token: string, values: Json) => post('/api-auth/second-factor/', { token, ...values });
const details = async (responses: readonly Promise<{ body: Json }>[]): Promise<string[]> =>
  (await Promise.all(responses)).map(({ body }) => body.detail as string).sort();

test('ends a login after five wrong codes, also across kills and at once, and no other login', async () => {
  const session = (await logIn()).token as string;
  const { secret } = (await post('/api/second-factors/totp/', {}, session)).body;
  const codeAt = (steps: number): string =>
    TOTP.generate({ secret: Secret.fromBase32(secret), timestamp: Date.now() + steps * 30_000 });
  const enrolled = await post('/api/second-factors/totp/confirm/', { code: codeAt(0) }, session);
  assert.is(enrolled.status, 201);
  const valid = [-1, 0, 1, 2, 3].map((steps) => codeAt(steps));
  const wrong = ['000000', '111111', '222222', '333333', '444444', '555555'].find((code) => !valid.includes(code));
  const guess = { code: wrong };

  const token = await challenge();
  const restart = async (): Promise<void> => {
    await server.kill();
    server = await program.serve();
  };
  for (let count = 0; count < 3; count++) {
    assert.equal(await present(token, guess), { status: 401, body: { detail: invalid } });
    await restart();
  }
  // A complete login clears the failures of the username, which would lock it before the fifth attempt.
  const [recoveryCode] = enrolled.body.recovery_codes;
  assert.is((await present(await challenge(), { recovery_code: recoveryCode })).status, 200);
  assert.equal(await details(Array.from({ length: 8 }, () => present(token, guess))), [
    ...[invalid, invalid],
    ...Array.from({ length: 6 }, () => again),
  ]);
  await restart();
  // The step after the present one cannot have been accepted at the enrolment.
  const right = { code: codeAt(1) };
  assert.equal(await present(token, right), { status: 401, body: { detail: again } });
  assert.is((await present(await challenge(), right)).status, 200);
});

test.run();
