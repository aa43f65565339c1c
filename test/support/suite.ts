/** Suites whose tests talk to a server: it is there before the first hook that they add, and goes after the last. */
import type { ServerOptions } from 'tenantry';
import { suite, type Test } from 'uvu';
import { Fixture } from './fixture.ts';

export interface SuiteWithServer {
  readonly test: Test;
  readonly fixture: Fixture;
}

/** A suite with one server for all its tests. */
export function suiteWithServer(name: string, options: ServerOptions = {}): SuiteWithServer {
  const test = suite(name);
  const fixture = new Fixture();
  test.before(() => fixture.open(options));
  return { test: withLastHook(test, () => test.after(() => fixture.close())), fixture };
}

/** A suite with a server for each of its tests. */
export function suiteWithServerPerTest(name: string, options: ServerOptions = {}): SuiteWithServer {
  const test = suite(name);
  const fixture = new Fixture();
  test.before.each(() => fixture.open(options));
  return { test: withLastHook(test, () => test.after.each(() => fixture.close())), fixture };
}

/** The suite, whose last hook is added when all others have been. */
function withLastHook(test: Test, addLast: () => void): Test {
  const { run } = test;
  return Object.assign(test, {
    run: () => {
      addLast();
      run();
    },
  });
}
