/** Every kind of console page is accessible in both themes and on phones. */
import * as assert from 'uvu/assert';
import { findFaults } from '../support/console-faults.ts';
import { allPlaces, mayBeRejected } from '../support/console-places.ts';
import { suiteWithDemoConsole } from '../support/demo-console.ts';

const { browser, run } = await suiteWithDemoConsole('every page of the console');

/** Number of tests that share the pages, so that none times out. */
const parts = 10;

for (let part = 0; part < parts; part++)
  browser(
    `is accessible by screen reader, in the dark and by touch on every page, part ${part + 1} of ${parts}`,
    async (demo) => {
      const { ask, staff } = demo;
      const wrong: string[] = [];
      const places = await allPlaces(ask);
      assert.ok(places.length > 150);
      for (const place of places.filter((_, i) => i % parts === part)) {
        await demo.visit(place);
        // The shell is the same on all pages: check it once.
        wrong.push(...(await findFaults(staff, place === '/' ? 'html' : 'main')).map((text) => `${place} ${text}`));
        const complaints = staff.complaints.splice(0);
        if (!mayBeRejected(place)) wrong.push(...complaints.map((text) => `${place}: ${text}`));
      }
      assert.equal(wrong, []);
    },
  );

run();
