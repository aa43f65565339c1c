import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { fairResolver, type Resolver, systemResolver } from '../../../src/kernel/net/resolver.ts';

const test = suite('resolver');

/** A resolver whose look-ups end when the test says so. For names that start with `silent`, the probe gets no response. */
function begin() {
  const looked: string[] = [];
  const ends = new Map<string, () => void>();
  const responded: string[] = [];
  const look: Resolver = (hostname, callback) => {
    looked.push(hostname);
    ends.set(hostname, () => callback(null, [{ address: '192.0.2.1', family: 4 }]));
  };
  const resolve = fairResolver(look, (hostname, callback) => callback(!hostname.startsWith('silent')));
  const ask = (hostname: string): void =>
    resolve(hostname, (error, [first]) =>
      responded.push(`${hostname} ${(error as NodeJS.ErrnoException | null)?.code ?? first?.address}`),
    );
  return { looked, answered: responded, ask, end: (hostname: string) => ends.get(hostname)?.() };
}

test('resolves names with unresponsive servers one at a time, and others at once', () => {
  const { answered: responded, ask, end, looked } = begin();
  for (const name of ['silent-1', 'silent-2', 'one', 'silent-3', 'two']) ask(name);
  assert.equal(looked, ['silent-1', 'one', 'two']);
  end('two');
  assert.equal(responded, ['two 192.0.2.1']);
  end('silent-1');
  assert.equal(looked, ['silent-1', 'one', 'two', 'silent-2']);
  end('silent-2');
  end('silent-3');
  ask('silent-4');
  assert.equal(looked.slice(-2), ['silent-3', 'silent-4']);
  assert.equal(
    responded,
    ['two', 'silent-1', 'silent-2', 'silent-3'].map((name) => `${name} 192.0.2.1`),
  );
});

test('gives up a name after ten seconds in the queue', () => {
  const { answered: responded, ask, end, looked } = begin();
  const { now } = performance;
  try {
    performance.now = () => 0;
    for (const name of ['silent-1', 'silent-2', 'silent-3']) ask(name);
    performance.now = () => 10_000;
    ask('silent-4');
    end('silent-1');
  } finally {
    performance.now = now;
  }
  assert.equal(looked, ['silent-1', 'silent-4']);
  assert.equal(responded, ['silent-2 EAI_AGAIN', 'silent-3 EAI_AGAIN', 'silent-1 192.0.2.1']);
});

test('names below .invalid fail without a query', async () => {
  const { Resolver: NameServers } = await import('node:dns');
  const { resolve4 } = NameServers.prototype;
  NameServers.prototype.resolve4 = Object.assign(() => assert.unreachable('a name server was asked'), resolve4);
  try {
    for (const name of ['hooks.invalid', 'HOOKS.Invalid.', 'invalid']) {
      const error = await new Promise((resolve) => systemResolver(name, resolve));
      assert.is((error as NodeJS.ErrnoException).code, 'ENOTFOUND');
    }
  } finally {
    NameServers.prototype.resolve4 = resolve4;
  }
});

test.run();
