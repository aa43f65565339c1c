/** Every kind of page of the console is accessible in both themes and on phones. */
import * as assert from 'uvu/assert';
import { findFaults } from '../support/console-look.ts';
import { allPlaces, mayBeRejected } from '../support/console-places.ts';
import { suiteWithDemoConsole } from '../support/demo-console.ts';

const { browser, run } = await suiteWithDemoConsole('every page of the console');

browser(
  'no page keeps people out who hear it, who see it in the dark, or who touch it on a telephone',
  async (demo) => {
    const { ask, staff } = demo;
    const wrong: string[] = [];
    const places = await allPlaces(ask);
    assert.ok(places.length > 150);
    for (const place of places) {
      await demo.visit(place);
      // The frame is the same on all pages.
      wrong.push(...(await findFaults(staff, place === '/' ? 'html' : 'main')).map((text) => `${place} ${text}`));
      const complaints = staff.complaints.splice(0);
      if (!mayBeRejected(place)) wrong.push(...complaints.map((text) => `${place}: ${text}`));
    }
    assert.equal(wrong, []);
  },
);

run();
