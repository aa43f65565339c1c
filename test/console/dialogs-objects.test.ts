/** Forms and dialogs on objects of the console are accessible in both themes and on phones. */
import { testDialogs } from '../support/console-dialogs.ts';
import { isList } from '../support/console-places.ts';
import { suiteWithDemoConsole } from '../support/demo-console.ts';

const { browser, run } = await suiteWithDemoConsole('dialogs on objects of the console');

testDialogs(browser, (place) => !isList(place));

run();
