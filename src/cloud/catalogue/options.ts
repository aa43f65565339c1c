import { FieldError, messages, refine, type WritableField } from '../../kernel/collection/field.ts';
import { parsedText } from '../../kernel/collection/rules.ts';
import { integer, number } from '../../kernel/collection/values.ts';
import { memoised } from '../../kernel/memoised.ts';
import type { PlainValues } from './driver.ts';
import type { OptionFields, ProviderType } from './type.ts';

/** Parses a comma-separated list of `<name>=<value>`. A bare value is stored under `*`, a bare name under itself. */
function items(text: string): [string, string | undefined][] {
  return text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '')
    .map((item) => {
      const [name = '', value] = item.split('=', 2);
      return [name.trim(), value?.trim()];
    });
}

/** Returns the `missingCredentials` of a type that requires these credentials. */
export const requiredCredentials =
  (...names: readonly string[]): ProviderType['missingCredentials'] =>
  (input) =>
    Object.fromEntries(names.filter((name) => !input[name]).map((name) => [name, [messages.required]]));

const operation = /^([A-Za-z]+\.)?([a-z_]+|\*)$/;

const latencyRule = 'Enter milliseconds or a list of <operation>=<milliseconds>.';
const failureRule = 'Enter a list of <operation> or <operation>=<probability>.';

/** Parses latencies of operations in milliseconds, by name; undefined if the text is invalid. */
export function parseLatencies(text: string): ReadonlyMap<string, number> | undefined {
  const isTime = (value: string | undefined): boolean => /^\d+$/.test(value ?? '') && Number(value) <= 600_000;
  if (isTime(text.trim())) return new Map([['*', Number(text)]]);
  const parsed = items(text);
  if (parsed.some(([name, value]) => !operation.test(name) || !isTime(value))) return undefined;
  return new Map(parsed.map(([name, value]) => [name, Number(value)]));
}

/** Parses failure probabilities of operations, by name; undefined if the text is invalid. */
export function parseFailures(text: string): ReadonlyMap<string, number> | undefined {
  const parsed = items(text);
  const isProbability = (value: string): boolean => /^(0(\.\d+)?|1(\.0+)?|\.\d+)$/.test(value);
  if (parsed.some(([name, value]) => !operation.test(name) || (value !== undefined && !isProbability(value))))
    return undefined;
  return new Map(parsed.map(([name, value]) => [name, value === undefined ? 1 : Number(value)]));
}

/** Operations on entire settings. */
const ofSettings = ['ping', 'sync'];
/** Operations on objects of every kind, and additional ones on resources. */
const ofObjects = ['create', 'update', 'delete', 'pull'];
const ofResources = [...ofObjects, 'vanish'];

/** Operations of objects by their kinds. */
const operationsByKind = ({ entities = [], kinds }: ProviderType) => [
  ...entities.map(({ name }) => [name, ofObjects] as const),
  ...kinds.map(({ actions, name }) => [name, [...ofResources, ...actions.map((action) => action.name)]] as const),
];

/** Returns the operations on objects of a kind or, without a kind, on entire settings. */
export const operationsOf = (type: ProviderType, kind: string | undefined): readonly string[] =>
  kind === undefined ? ofSettings : (operationsByKind(type).find(([name]) => name === kind)?.[1] ?? []);

/** Returns the valid names in a type's simulator options: operations of all kinds or of one. */
const namesOf = memoised(
  (type: ProviderType): ReadonlySet<string> =>
    new Set([
      '*',
      ...ofSettings,
      ...operationsByKind(type).flatMap(([kind, operations]) => [
        ...operations,
        ...['*', ...operations].map((name) => `${kind}.${name}`),
      ]),
    ]),
);

/** Returns errors in a type's simulator options, by name; empty if all names are operations of the type. */
export function unknownOperations(
  type: ProviderType,
  { simulator_failures: failures, simulator_latency: latencies }: PlainValues,
): Readonly<Record<string, readonly string[]>> {
  const isWrong = (text: unknown, parse: (text: string) => ReadonlyMap<string, number> | undefined): boolean =>
    typeof text === 'string' && [...(parse(text)?.keys() ?? [])].some((name) => !namesOf(type).has(name));
  return {
    ...(isWrong(failures, parseFailures) && { simulator_failures: [failureRule] }),
    ...(isWrong(latencies, parseLatencies) && { simulator_latency: [latencyRule] }),
  };
}

/** Options of every type. Real drivers do not use them (providers.md 3.2). */
export const simulatorOptions: OptionFields = {
  simulator_seed: integer({ min: -2_147_483_648, max: 4_294_967_295, help: 'Seed of the simulator.' }),
  simulator_latency: parsedText(parseLatencies, latencyRule, 'Milliseconds, or a list of operation=milliseconds.'),
  simulator_failures: parsedText(parseFailures, failureRule, 'A list of operation or operation=probability.'),
  simulator_inventory: integer({ min: 0, max: 50, help: 'Unmanaged objects of each importable kind.' }),
};

/** A latitude or longitude in degrees. */
export const degrees = (most: number): WritableField<number, false> => ({
  ...refine(number({ min: -most }), (input) => {
    if (input > most) throw new FieldError([messages.atMost(most)]);
  }),
  constraints: { min_value: -most, max_value: most },
});
