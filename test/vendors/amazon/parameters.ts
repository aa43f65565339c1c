import { Rejection } from './rejection.ts';

/* The parameters of a request: flat names such as `Filter.1.Value.2`, as declared by the action. */

/** The parameters of an action: names with `#` in place of numbers. */
export interface Declaration {
  readonly required?: readonly string[];
  readonly optional?: readonly string[];
  /** Names of its filters; `tag:*` is any tag. */
  readonly filters?: readonly string[];
  readonly isPaged?: boolean;
}

const common = ['Action', 'Version', 'DryRun'];
const paging = ['MaxResults', 'NextToken'];

export class Parameters {
  readonly #values: ReadonlyMap<string, string>;

  /** Rejects unknown and missing parameters. */
  constructor(form: URLSearchParams, { filters = [], isPaged = false, optional = [], required = [] }: Declaration) {
    this.#values = new Map(form);
    const known = new Set([
      ...common,
      ...required,
      ...optional,
      ...(isPaged ? paging : []),
      ...(filters.length > 0 ? ['Filter.#.Name', 'Filter.#.Value.#'] : []),
    ]);
    const input = [...this.#values.keys()].map(pattern);
    for (const [n, name] of input.entries()) {
      if (!known.has(name))
        throw new Rejection('UnknownParameter', `The parameter ${[...this.#values.keys()][n]} is not recognized`);
    }
    for (const name of required) {
      if (!input.includes(name))
        throw new Rejection('MissingParameter', `The request must contain the parameter ${name.replace('.#', '')}`);
    }
    for (const name of this.filters().keys()) {
      if (!filters.includes(name) && !(name.startsWith('tag:') && filters.includes('tag:*')))
        throw new Rejection('InvalidParameterValue', `The filter '${name}' is invalid`);
    }
  }

  text(name: string): string | undefined {
    return this.#values.get(name);
  }

  number(name: string): number | undefined {
    const text = this.#values.get(name);
    if (text !== undefined && !/^\d+$/.test(text))
      throw new Rejection('InvalidParameterValue', `Invalid value '${text}' for ${name}`);
    return text === undefined ? undefined : Number(text);
  }

  /** Returns the values of `<name>.1`, `<name>.2` … */
  list(name: string): string[] {
    return this.numbers(name).flatMap((n) => this.text(`${name}.${n}`) ?? []);
  }

  /** Returns the numbers below a name, in order. */
  numbers(name: string): number[] {
    const matches = [...this.#values.keys()].flatMap((key) =>
      key.startsWith(`${name}.`) ? [Number(key.slice(name.length + 1).split('.')[0])] : [],
    );
    return [...new Set(matches)].sort((a, b) => a - b);
  }

  /** Returns the values of filters by name. */
  filters(): Map<string, string[]> {
    return new Map(
      this.numbers('Filter').map((n) => [this.text(`Filter.${n}.Name`) ?? '', this.list(`Filter.${n}.Value`)]),
    );
  }

  /** Returns the tags for new objects of a type. */
  tags(type: string): Map<string, string> {
    const tags = this.numbers('TagSpecification').flatMap((n): [string, string][] =>
      this.text(`TagSpecification.${n}.ResourceType`) === type
        ? this.numbers(`TagSpecification.${n}.Tag`).map((m) => [
            this.text(`TagSpecification.${n}.Tag.${m}.Key`) ?? '',
            this.text(`TagSpecification.${n}.Tag.${m}.Value`) ?? '',
          ])
        : [],
    );
    for (const [key] of tags)
      if (key === '' || key.startsWith('aws:'))
        throw new Rejection('InvalidParameterValue', `Tag keys starting with 'aws:' are reserved for internal use`);
    return new Map(tags);
  }

  /** Identifies requests with the same parameters. */
  get fingerprint(): string {
    return JSON.stringify([...this.#values].sort());
  }

  /** Returns a page of a list as a member of the response, with at most `largest` items. */
  page<T>(member: string, all: readonly T[], displayed: (item: T) => unknown, largest = 1000): object {
    const size = this.number('MaxResults');
    if (size !== undefined && (size < 5 || size > 1000))
      throw new Rejection(
        'InvalidParameterValue',
        `Value ( ${size} ) for parameter maxResults is invalid. Expecting a value between 5 and 1000.`,
      );
    const token = this.text('NextToken');
    const from =
      token === undefined
        ? 0
        : Number(
            Buffer.from(token, 'base64url')
              .toString()
              .replace(/^from /, ''),
          );
    if (!Number.isInteger(from))
      throw new Rejection('InvalidParameterValue', `Invalid value '${token}' for nextToken.`);
    const to = size === undefined ? all.length : from + Math.min(size, largest);
    return {
      [member]: all.slice(from, to).map(displayed),
      ...(to < all.length && { nextToken: Buffer.from(`from ${to}`).toString('base64url') }),
    };
  }
}

/** Parameters with the tags of a creation. */
export const tagParameters = [
  'TagSpecification.#.ResourceType',
  'TagSpecification.#.Tag.#.Key',
  'TagSpecification.#.Tag.#.Value',
] as const;

const pattern = (name: string): string => name.replace(/\.\d+(?=\.|$)/g, '.#');
