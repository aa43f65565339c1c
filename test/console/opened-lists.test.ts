/** Whatever opens on lists of the console: fit for screen readers, in both themes, and for telephones. */
import * as assert from 'uvu/assert';
import { findFaultsOfDialogs } from '../support/console-opened.ts';
import { allPlaces, isList } from '../support/console-places.ts';
import { suiteWithDemoConsole } from '../support/demo-console.ts';

const { browser, run } = await suiteWithDemoConsole('what opens on lists of the console');

browser('no form and no question keeps people out, and Escape leads back to what opened it', async (demo) => {
  const places = (await allPlaces(demo.ask)).filter((place) => isList(place));
  assert.equal(await findFaultsOfDialogs(demo, places), []);
});

run();
