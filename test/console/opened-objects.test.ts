/** Forms and dialogs on objects of the console are accessible in both themes and on phones. */
import * as assert from 'uvu/assert';
import { findFaultsOfDialogs } from '../support/console-opened.ts';
import { allPlaces, isList } from '../support/console-places.ts';
import { suiteWithDemoConsole } from '../support/demo-console.ts';

const { browser, run } = await suiteWithDemoConsole('what opens on objects of the console');

browser('every form and dialog is accessible, and Escape returns to the button that opened it', async (demo) => {
  const places = (await allPlaces(demo.ask)).filter((place) => !isList(place));
  assert.equal(await findFaultsOfDialogs(demo, places), []);
});

run();
