/** The sample data embedded in the program. */
import { pathToFileURL } from 'node:url';
import { demoPassword } from '../../src/app/demo/demo.ts';
import { type DemoSnapshot, fillFrom } from '../../src/app/demo/snapshot.ts';
import { unpackText } from '../../src/app/export/packed-rows.ts';
import { raw } from '../../src/kernel/db/sql.ts';
import { unpackPart } from '../../src/kernel/native/packed-parts.ts';
import type { Fixture } from './fixture.ts';
import { builtProgram } from './program.ts';

/**
 * Stores the sample data of the built program as `tenantry demo` does. The source would generate it, which takes ten times as
 * long; test/app/demo/snapshot.test.ts compares both.
 */
export async function storeSampleData({ server: { app } }: Fixture): Promise<void> {
  const text = unpackPart(pathToFileURL(builtProgram).href, 'demo').toString();
  const snapshot = unpackText(text, app.clock.now()) as DemoSnapshot;
  const hash = await app.passwords.hash(demoPassword);
  app.db.write(() => {
    // The fixture deletes the events of its own requests but not their subjects.
    app.db.run(raw('DELETE FROM event_subject'));
    fillFrom(snapshot, app, hash);
  });
  app.db.store();
}
