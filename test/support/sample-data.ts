/** The sample data embedded in the program. */
import { pathToFileURL } from 'node:url';
import * as assert from 'uvu/assert';
import { splitImage } from '../../src/app/demo/image.ts';
import { storeSnapshot } from '../../src/app/demo/snapshot.ts';
import { raw } from '../../src/kernel/db/sql.ts';
import { unpackPart } from '../../src/kernel/native/packed-parts.ts';
import type { Fixture } from './fixture.ts';
import { builtProgram } from './program.ts';

/**
 * Stores the sample data of the built program as `tenantry demo` does. The source would generate it, which takes ten times as
 * long; test/app/demo/snapshot.test.ts compares both.
 */
export function storeSampleData({ server: { app } }: Fixture): void {
  // The fixture has deleted the events of its own requests but not their objects.
  app.db.write(() => app.db.run(raw('DELETE FROM event_subject')));
  const image = splitImage(unpackPart(pathToFileURL(builtProgram).href, 'demo'));
  assert.ok(storeSnapshot(image, app));
}
