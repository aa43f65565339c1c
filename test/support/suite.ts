/** Suites with a server that starts before the suite's own hooks and stops after them. */
import type { ServerOptions } from 'tenantry';
import { suite, type Test } from 'uvu';
import { Fixture } from './fixture.ts';

export interface SuiteWithServer {
  readonly test: Test;
  readonly fixture: Fixture;
}

/** A suite whose tests share one server. */
export function suiteWithServer(name: string, options: ServerOptions = {}): SuiteWithServer {
  const test = suite(name);
  const fixture = new Fixture();
  test.before(() => fixture.open(options));
  return { test: withLastHook(test, () => test.after(() => fixture.close())), fixture };
}

/** A suite with a new server for each test. */
export function suiteWithServerPerTest(name: string, options: ServerOptions = {}): SuiteWithServer {
  const test = suite(name);
  const fixture = new Fixture();
  test.before.each(() => fixture.open(options));
  return { test: withLastHook(test, () => test.after.each(() => fixture.close())), fixture };
}

/** Runs the suite. Adds its last hook after all others. */
function withLastHook(test: Test, addLast: () => void): Test {
  const { run } = test;
  return Object.assign(test, {
    run: () => {
      addLast();
      run();
    },
  });
}
