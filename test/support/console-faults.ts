/** Finds accessibility and layout problems of console pages: screen readers, dark mode, small screens, touch. */
import type { CDPSession, Page } from 'playwright-core';
import type { Console } from './console.ts';

/** Width of a small phone and minimum height of a touch target, in pixels. */
const telephone = 360;
const finger = 40;

/** Finds elements that are too wide for the screen or too small for touch. Links in sentences are exempt. */
const unfit = `
  [...document.querySelectorAll('html, dialog[open], main')]
    .filter((e) => e.scrollWidth > e.clientWidth)
    .map((e) => e.tagName + ' is ' + e.scrollWidth + ' wide')
    .concat([...document.querySelectorAll('a, button, input, select, textarea, summary')]
      .filter((e) => e.checkVisibility({ visibilityProperty: true }) && e.closest('p') === null)
      .filter((e) => document.querySelector('dialog[open]') === null || e.closest('dialog[open]'))
      .map((e) => [e, (e.closest('label, tr.leads, [role=option]') ?? e).getBoundingClientRect()])
      .filter(([, { height, right, width }]) => right > 0 && (height < ${finger} || width < ${finger / 2}))
      .map(([e, { height, width }]) => width.toFixed() + ' x ' + height.toFixed() + ': ' + e.outerHTML.slice(0, 120)))`;

const sessions = new WeakMap<Page, CDPSession>();

async function devtoolsOf(page: Page): Promise<CDPSession> {
  const session = sessions.get(page) ?? (await page.context().newCDPSession(page));
  sessions.set(page, session);
  return session;
}

/** Checks the visible page, or the elements of a selector: all rules in light mode, only colours in dark mode. */
export async function findFaults(visitor: Console, within?: string): Promise<readonly string[]> {
  const { page } = visitor;
  const wide = page.viewportSize() ?? { width: 1300, height: 900 };
  // Colours are final only after their transition.
  await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' });
  const inTheLight = await visitor.findings(within);
  await page.emulateMedia({ colorScheme: 'dark' });
  await page.setViewportSize({ width: telephone, height: 800 });
  const inTheDark = await visitor.findings(within, 'color-contrast');
  // With touch, the pointer is coarse, and the style sheet enlarges targets.
  const devtools = await devtoolsOf(page);
  const metrics = { width: telephone, height: 800, deviceScaleFactor: 1, mobile: true };
  await devtools.send('Emulation.setDeviceMetricsOverride', metrics);
  await devtools.send('Emulation.setTouchEmulationEnabled', { enabled: true });
  await visitor.settled();
  const onTelephone = await page.evaluate<readonly string[]>(unfit);
  await devtools.send('Emulation.setTouchEmulationEnabled', { enabled: false });
  await devtools.send('Emulation.clearDeviceMetricsOverride');
  await page.setViewportSize(wide);
  await page.emulateMedia({ colorScheme: 'light' });
  return [
    ...inTheLight,
    ...inTheDark.map((text) => `in the dark: ${text}`),
    ...onTelephone.map((text) => `on a telephone: ${text}`),
  ];
}
