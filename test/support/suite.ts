/** Suites with a server: it starts before the first hook that they add, and stops after the last. */
import type { ServerOptions } from 'tenantry';
import { suite, type Test } from 'uvu';
import { Fixture } from './fixture.ts';

export interface SuiteWithServer {
  readonly test: Test;
  readonly fixture: Fixture;
}

/** A suite with one server for all of its tests. */
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

/** The suite, whose last hook is added after all others. */
function withLastHook(test: Test, addLast: () => void): Test {
  const { run } = test;
  return Object.assign(test, {
    run: () => {
      addLast();
      run();
    },
  });
}
