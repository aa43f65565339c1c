/** Pages show no API names, units or ids outside Details, Raw and the API explorer. */
import * as assert from 'uvu/assert';
import { allPlaces } from '../support/console-places.ts';
import { suiteWithDemoConsole } from '../support/demo-console.ts';

const { browser, run } = await suiteWithDemoConsole('the visible text of the console');

/** Pages about the API itself, and about settings and quotas, which have technical names. */
const isTechnical = (place: string): boolean => /^\/(all|deployment-settings)\//.test(place);

function faultsIn(text: string): string[] {
  const names = text.match(/\b[a-z]+(?:_[a-z]+)+\b|@timestamp/g) ?? [];
  const sizes = (text.match(/[\d,]+ MiB/g) ?? []).filter(
    (size) => Number.parseInt(size.replaceAll(',', ''), 10) >= 1024,
  );
  const ids = text.match(/\b[0-9a-f]{32}\b/g) ?? [];
  return [...new Set([...names, ...sizes, ...ids])];
}

browser('shows labels, units and shortened ids, never API names or raw numbers', async (demo) => {
  const faults: string[] = [];
  for (const place of await allPlaces(demo.ask)) {
    if (isTechnical(place)) continue;
    await demo.visit(place);
    const text = await demo.staff.page.evaluate<string>("document.querySelector('main').innerText");
    faults.push(...faultsIn(text).map((fault) => `${place}: ${fault}`));
  }
  assert.equal(faults, []);
});

run();
