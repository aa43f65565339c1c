/** The command palette of the console, with only a keyboard. */
import type { Browser } from 'playwright-core';
import * as assert from 'uvu/assert';
import { startBrowser } from '../support/browser.ts';
import { Console, password } from '../support/console.ts';
import { createPersonas, type Personas } from '../support/personas.ts';
import { suiteWithServer } from '../support/suite.ts';

const chromium = await startBrowser();
const { test: tests, fixture } = suiteWithServer('the palette of commands');
const browser = chromium ? tests : tests.skip;
let cast: Personas;
let owner: Console;

tests.before(async () => {
  if (!chromium) return;
  cast = await createPersonas(fixture);
  for (const { url } of [cast.users.owner, cast.users.stranger])
    await fixture.staff.post(`${url}password/`, { password });
  owner = await Console.as(chromium as Browser, fixture, 'owner');
});
tests.after(() => chromium?.close());

const option = ({ page }: Console, name: string | RegExp) => page.getByRole('option', { name, exact: true });

/** Opens the palette and types into it. */
async function seek({ page }: Console, text: string): Promise<void> {
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox').waitFor();
  await page.keyboard.type(text);
}

browser('finds objects of any list by name', async () => {
  await seek(owner, 'rock');
  await option(owner, 'Rocket Alice').waitFor();
  await owner.page.keyboard.press('Enter');
  await owner.heading('Rocket').waitFor();
  assert.is(new URL(owner.page.url()).hash, `#/projects/${cast.project.uuid}/`);
  await owner.settled();
  // The object is now among the recent ones, which are shown before typing.
  await owner.page.keyboard.press('Control+k');
  await option(owner, 'Rocket Alice').and(owner.page.locator('[aria-selected=true]')).waitFor();
  await owner.page.keyboard.press('Escape');
  await seek(owner, 'helper');
  await option(owner, 'helper helper').waitFor();
  assert.is(await owner.page.getByRole('option').count(), 1);
  await owner.page.keyboard.press('Escape');
});

browser('finds pages by parts of their titles, and chooses with the arrow keys', async () => {
  await seek(owner, 'ale');
  await option(owner, 'Alerts').waitFor();
  await owner.page.keyboard.press('Enter');
  await owner.heading('Alerts').waitFor();
  await seek(owner, 'pro');
  await option(owner, 'Projects').waitFor();
  // Results from the server come last.
  await option(owner, 'admin.of.project admin.of.project').waitFor();
  const selected = owner.page.getByRole('option', { selected: true });
  const first = await selected.innerText();
  await owner.page.keyboard.press('ArrowDown');
  assert.is.not(await selected.innerText(), first);
  await owner.page.keyboard.press('ArrowUp');
  assert.is(await selected.innerText(), first);
  // The selection wraps around from the first choice to the last.
  await owner.page.keyboard.press('ArrowUp');
  assert.is(await selected.innerText(), await owner.page.getByRole('option').last().innerText());
  await owner.page.keyboard.press('Escape');
});

browser('offers pages whose title has the words in this order before others that have them', async () => {
  await seek(owner, 'r a');
  await option(owner, 'Alerts').waitFor();
  assert.is(await owner.page.getByRole('option').first().innerText(), 'Provider accounts');
  await owner.page.keyboard.press('Escape');
});

browser('performs the actions of the page, and offers only the available ones', async () => {
  await owner.go(`/projects/${cast.project.uuid}/`, 'Rocket');
  await seek(owner, 'edi');
  await option(owner, 'Edit').waitFor();
  await owner.page.keyboard.press('Enter');
  await owner.dialog().getByLabel('Name *', { exact: true }).waitFor();
  // The palette must not open over a form.
  await owner.page.keyboard.press('Control+k');
  assert.is(await owner.page.getByRole('combobox', { name: 'Page, action or name' }).count(), 0);
  await owner.page.keyboard.press('Escape');
  const stranger = await Console.as(chromium as Browser, fixture, 'stranger');
  await seek(stranger, 'alice');
  await stranger.page.getByRole('status').getByText('Nothing matches.').waitFor();
  await stranger.page.keyboard.press('Escape');
  await seek(stranger, 'create');
  assert.is(await stranger.page.getByText('On this page').count(), 0);
  await stranger.close();
});

browser('offers only the actions of the page after >', async () => {
  await owner.go(`/projects/${cast.project.uuid}/`, 'Rocket');
  await seek(owner, '>');
  await option(owner, 'Edit').waitFor();
  assert.is(await owner.page.getByText('Recent', { exact: true }).count(), 0);
  assert.is(await owner.page.getByRole('listbox').getByText('Pages', { exact: true }).count(), 0);
  await owner.page.keyboard.type(' edi');
  await owner.page.keyboard.press('Enter');
  await owner.dialog().getByLabel('Name *', { exact: true }).waitFor();
  await owner.page.keyboard.press('Escape');
});

browser('Escape returns the focus', async () => {
  await owner.link('Events').first().focus();
  await seek(owner, 'x');
  await owner.page.keyboard.press('Escape');
  await owner.page.getByRole('combobox').waitFor({ state: 'detached' });
  await owner.page.locator('a:focus', { hasText: /^Events$/ }).waitFor();
});

browser('a button opens it; it is accessible in both themes and logs no errors', async () => {
  for (const colorScheme of ['light', 'dark'] as const) {
    await owner.page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    await owner.page.getByRole('button', { name: 'Search or jump to…' }).click();
    await owner.page.getByRole('combobox').fill('a');
    await option(owner, /^Alice/).waitFor();
    assert.equal(await owner.findings(), [], colorScheme);
    await owner.page.keyboard.press('Escape');
  }
  assert.equal(owner.complaints, []);
});

tests.run();
