/** The page /docs/ in a real browser: it renders, calls only its server, and can send requests. */
import type { Browser, Page } from 'playwright-core';
import * as assert from 'uvu/assert';
import { startBrowser } from '../support/browser.ts';
import { suiteWithServer } from '../support/suite.ts';

const chromium = await startBrowser();
const { test: tests, fixture } = suiteWithServer('the page of the documentation in a browser');
const browser = chromium ? tests : tests.skip;
const timeLimit = { timeout: 60_000 };
let page: Page;
const requests: string[] = [];
const complaints: string[] = [];

tests.before(async () => {
  if (!chromium) return;
  page = await chromium.newPage({ viewport: { width: 1300, height: 900 } });
  page.on('request', (request) => requests.push(`${request.method()} ${request.url()}`));
  page.on('console', (message) => complaints.push(message.text()));
  page.on('pageerror', (error) => complaints.push(error.message));
  await page.goto(`${fixture.url}/docs/`, timeLimit);
  await page.locator('rapi-doc .nav-bar-path').first().waitFor(timeLimit);
});
tests.after(() => chromium?.close());

browser('lists every operation', async () => {
  const { paths } = (await fixture.anonymous.get('/docs/?format=openapi')).body;
  const expected = Object.values<object>(paths).flatMap((path) =>
    Object.keys(path).filter((key) => key !== 'parameters'),
  ).length;
  assert.is(await page.locator('rapi-doc .nav-bar-path').count(), expected);
});

browser('requests only one page, without errors in the browser', () => {
  assert.equal(requests, [`GET ${fixture.url}/docs/`]);
  assert.equal(complaints, []);
});

browser('is ready within two seconds with all operations', async () => {
  const other = await (chromium as Browser).newPage({ viewport: { width: 1300, height: 900 } });
  const session = await other.context().newCDPSession(other);
  // CPU time of the page, which other load on the machine does not affect.
  await session.send('Performance.enable', { timeDomain: 'threadTicks' });
  await other.goto(`${fixture.url}/docs/`, timeLimit);
  await other.locator('rapi-doc .nav-bar-path').first().waitFor(timeLimit);
  const { metrics } = await session.send('Performance.getMetrics');
  const seconds = metrics.find(({ name }) => name === 'TaskDuration')?.value ?? 0;
  await other.close();
  assert.ok(seconds > 0 && seconds < 2, `${seconds} s`);
});

browser('accepts a bare token in its field', async () => {
  await page.evaluate("location.hash = '#auth'");
  const field = page.locator('rapi-doc #http-token-api-key-input');
  await field.fill(fixture.server.issueToken(), timeLimit);
  await page.locator('rapi-doc tr#security-scheme-token button').first().click(timeLimit);
  await page.evaluate("location.hash = '#get-/api/user-counters/'");
  const operation = page.locator('rapi-doc #get-\\/api\\/user-counters\\/');
  await operation.waitFor(timeLimit);
  const response = page.waitForResponse((response) => response.url().includes('/api/user-counters/'), timeLimit);
  await operation.getByRole('button', { name: 'TRY' }).click();
  assert.is((await response).status(), 200);
});

browser('offers the example of a body, which the server accepts', async () => {
  await page.evaluate(
    `document.querySelector('rapi-doc').setApiKey('token', '${fixture.server.issueToken()}'); location.hash = '#post-/api/customers/'`,
  );
  const operation = page.locator('rapi-doc #post-\\/api\\/customers\\/');
  await operation.locator('textarea').first().waitFor(timeLimit);
  const pending = page.waitForResponse((response) => response.url().includes('/api/customers/'), timeLimit);
  await operation.getByRole('button', { name: 'TRY' }).click();
  const response = await pending;
  const { email, name } = await response.json();
  assert.equal([response.status(), name, email], [201, 'Alice and Partners', 'office@example.com']);
  await operation.getByRole('button', { name: '409', exact: true }).click();
  await operation
    .getByText(/One or more quotas were exceeded/)
    .first()
    .waitFor(timeLimit);
});

browser('shows who may call an operation, its parameters and its responses', async () => {
  await page.evaluate("location.hash = '#post-/api/customers/'");
  const operation = page.locator('rapi-doc #post-\\/api\\/customers\\/');
  await operation.waitFor(timeLimit);
  for (const words of ['Creates a customer.', 'Who may call it: Staff.', '201', '409'])
    await operation.getByText(words, { exact: true }).first().waitFor(timeLimit);
  await operation.locator('button', { hasText: 'SCHEMA' }).first().click();
  for (const words of ['native_name', 'contact_details'])
    await operation.getByText(words, { exact: true }).first().waitFor(timeLimit);
});

browser('lists and sends operations on a narrow screen, too', async () => {
  await page.setViewportSize({ width: 390, height: 800 });
  await page.locator('rapi-doc .nav-bar-path', { hasText: '/api/alerts/' }).first().click();
  const button = page.locator('rapi-doc').getByRole('button', { name: 'TRY' }).first();
  await button.waitFor(timeLimit);
  const { width, x } = (await button.boundingBox()) as { width: number; x: number };
  assert.ok(x >= 0 && x + width <= 390, `${x} + ${width}`);
  await page.setViewportSize({ width: 1300, height: 900 });
});

browser('sends a request with a token', async () => {
  await page.evaluate(
    `document.querySelector('rapi-doc').setApiKey('token', '${fixture.server.issueToken()}'); location.hash = '#get-/api/users/'`,
  );
  const operation = page.locator('rapi-doc #get-\\/api\\/users\\/');
  await operation.waitFor(timeLimit);
  const pending = page.waitForResponse((response) => response.url().includes('/api/users/'), timeLimit);
  await operation.getByRole('button', { name: 'TRY' }).click();
  const response = await pending;
  assert.is(response.status(), 200);
  assert.is((await response.json())[0].username, 'admin');
  assert.equal(complaints, []);
});

tests.run();
