import { collectErrors, invalid, invalidRequest, notFound } from './error.ts';

const falseWords = /^(false|f|no|n|off|0|False|FALSE|F|No|NO|N|Off|OFF)$/;
const trueWords = /^(true|t|yes|y|on|1|True|TRUE|T|Yes|YES|Y|On|ON)$/;

/** The last second of the year 9999. */
const latestTimestamp = 253_402_300_799;

/** Parses a boolean in one of the spellings of core.md 1.5; undefined for any other word. */
export const booleanWord = (word: string): boolean | undefined =>
  trueWords.test(word) ? true : falseWords.test(word) ? false : undefined;

/** The maximum number of values of a parameter, and the message for more (core.md 1.1 "Lists"). */
interface ListRule {
  readonly maxValues: number;
  readonly message: string;
}

const parameterListRule: ListRule = { maxValues: 100, message: 'Ensure this list has no more than 100 values.' };
/** The rule for lists in bodies, and for the points of a history. */
export const bodyListRule: ListRule = { maxValues: 1000, message: 'Ensure this field has no more than 1000 elements.' };

function requireFew(name: string, values: readonly string[], { maxValues, message }: ListRule): void {
  if (values.length > maxValues) throw invalid({ [name]: [message] });
}

/** The query parameters. An empty value counts as missing, except for flags (core.md 1.9). */
export class Query {
  readonly #values = new Map<string, string[]>();

  constructor(
    readonly text: string,
    private readonly listRule: ListRule = parameterListRule,
  ) {
    if (text === '') return;
    for (const [name, value] of new URLSearchParams(text)) {
      const values = this.#values.get(name);
      if (values) values.push(value);
      else this.#values.set(name, [value]);
    }
  }

  /** Converts the members of a body to parameters: lists to repeated ones, null to empty. Throws 400 for too long lists. */
  static of(members: Readonly<Record<string, unknown>>): Query {
    const text = (value: unknown): string =>
      value === null ? '' : typeof value === 'object' ? JSON.stringify(value) : String(value);
    for (const [name, value] of Object.entries(members))
      if (Array.isArray(value) && value.length > bodyListRule.maxValues)
        throw invalid({ [name]: [bodyListRule.message] });
    const pairs = Object.entries(members).flatMap(([name, value]) =>
      (Array.isArray(value) ? value : [value]).map((item): [string, string] => [name, text(item)]),
    );
    return new Query(new URLSearchParams(pairs).toString(), bodyListRule);
  }

  /** Returns the last value of a parameter, unless it is empty. Throws 400 for too many values, like every method that reads values. */
  one(name: string): string | undefined {
    return this.#input(name)?.at(-1) || undefined;
  }

  /** Returns the values between the commas of a parameter, trimmed; empty if missing. Throws 400 for too many. */
  list(name: string): string[] {
    const values = this.one(name)?.split(',') ?? [];
    requireFew(name, values, this.listRule);
    return values.map((value) => value.trim());
  }

  /** Returns every non-empty value of a parameter, in order. */
  all(name: string, rule = this.listRule): string[] {
    return this.#input(name, rule)?.filter((value) => value !== '') ?? [];
  }

  /** Whether a parameter exists, whatever its values. */
  has(name: string): boolean {
    return this.#values.has(name);
  }

  /** Returns a presence flag: set by any value, also an empty one, except an explicit false. */
  flag(name: string): boolean {
    const value = this.#input(name)?.at(-1);
    return value !== undefined && booleanWord(value) !== false;
  }

  /** Returns a uuid, dashed or not, in lower case without dashes; undefined if missing. Throws 400. */
  uuid(name: string): string | undefined {
    const value = this.one(name);
    if (value === undefined) return undefined;
    const match = /^([0-9a-f]{8})(-?)([0-9a-f]{4})\2([0-9a-f]{4})\2([0-9a-f]{4})\2([0-9a-f]{12})$/i.exec(value);
    if (!match) throw invalid({ [name]: [`"${value}" is not a valid UUID.`] });
    return value.replaceAll('-', '').toLowerCase();
  }

  /** Returns a boolean; undefined if missing. Throws 400. */
  boolean(name: string): boolean | undefined {
    const value = this.one(name);
    if (value === undefined) return undefined;
    const response = booleanWord(value);
    if (response === undefined) throw invalid({ [name]: [`"${value}" is not a valid boolean.`] });
    return response;
  }

  /** Returns an integer within these bounds; undefined if missing. Throws 400. */
  integer(name: string, min: number, max: number): number | undefined {
    const value = this.one(name);
    if (value === undefined) return undefined;
    if (!/^[+-]?\d+$/.test(value)) throw invalid({ [name]: ['A valid integer is required.'] });
    if (Number(value) < min) throw invalid({ [name]: [`Ensure this value is greater than or equal to ${min}.`] });
    if (Number(value) > max) throw invalid({ [name]: [`Ensure this value is less than or equal to ${max}.`] });
    return Number(value);
  }

  /** Returns one of these words; undefined if missing. Throws 400. */
  choice<Choice extends string>(name: string, choices: readonly Choice[]): Choice | undefined {
    const value = this.one(name);
    const choice = choices.find((candidate) => candidate === value);
    if (value !== undefined && choice === undefined) throw invalid({ [name]: [`"${value}" is not a valid choice.`] });
    return choice;
  }

  /** Returns a UNIX timestamp in microseconds, of whole seconds unless fractions are allowed; undefined if missing. Throws 400. */
  timestamp(name: string, fractions = false): number | undefined {
    const value = this.one(name);
    if (value === undefined) return undefined;
    const pattern = fractions ? /^\d{1,12}(\.\d+)?$/ : /^\d{1,12}$/;
    if (!pattern.test(value) || Number(value) >= latestTimestamp + 1) {
      throw invalid({ [name]: [`Value "${value}" should be valid UNIX timestamp.`] });
    }
    return Math.round(Number(value) * 1_000_000);
  }

  /** Returns two timestamps in microseconds, each undefined if missing. Throws 400, also when the end is not after the start. */
  range(start: string, end: string): { readonly from: number | undefined; readonly to: number | undefined } {
    const [from, to] = collectErrors(
      () => this.timestamp(start),
      () => this.timestamp(end),
    );
    if (from !== undefined && to !== undefined && from >= to) throw invalidRequest('End must occur after start.');
    return { from, to };
  }

  /** Returns the values of a parameter. Throws 400 for too many. */
  #input(name: string, rule = this.listRule): readonly string[] | undefined {
    const values = this.#values.get(name);
    if (values !== undefined && values.length > 1) requireFew(name, values, rule);
    return values;
  }

  /** Returns the names of all parameters, without duplicates. */
  names(): IterableIterator<string> {
    return this.#values.keys();
  }

  /** Returns the parameters without those of these names. */
  without(...names: readonly string[]): Query {
    const others = [...this.#values].flatMap(([name, values]) =>
      names.includes(name) ? [] : values.map((value): [string, string] => [name, value]),
    );
    return new Query(new URLSearchParams(others).toString(), this.listRule);
  }

  /** Returns the parameters sorted before and after this name, encoded as a query. */
  around(name: string): readonly [before: string, after: string] {
    const [before, after]: [string, string][][] = [[], []];
    for (const [other, values] of this.#values)
      if (other !== name) for (const value of values) (other < name ? before : after)?.push([other, value]);
    return [encoded(before), encoded(after)];
  }
}

const plain = /^[\w.*-]*$/;

function encoded(pairs: [string, string][] = []): string {
  const [[name, value] = ['', ''], ...others] = pairs;
  if (others.length === 0 && plain.test(name) && plain.test(value)) return pairs.length === 0 ? '' : `${name}=${value}`;
  return new URLSearchParams(pairs.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))).toString();
}

const defaultPageSize = 10;
const maxPageSize = 300;
/** Clients limit the size of headers; Node.js accepts 16 KiB for all of them together. */
const maxLinkLength = 4096;

/** A page of a list: offset and limit. */
export interface Page {
  readonly number: number;
  readonly size: number;
  readonly offset: number;
  readonly last: number;
}

/** Returns the requested page of a list with `total` objects. Throws 404 `Invalid page.` outside of the list (core.md 1.8). */
export function pageOf(query: Query, total: number): Page {
  const sizeText = query.one('page_size') ?? '';
  const size = /^\s*\+?0*[1-9]\d*\s*$/.test(sizeText) ? Math.min(Number(sizeText), maxPageSize) : defaultPageSize;
  const last = Math.max(1, Math.ceil(total / size));
  const text = query.one('page') ?? '1';
  const number = text === 'last' ? last : /^\d{1,15}$/.test(text) ? Number(text) : 0;
  if (number < 1 || number > last) throw notFound('Invalid page.');
  return { number, size, offset: (number - 1) * size, last };
}

/** Returns X-Result-Count and Link of a page. Omits a Link that is too long. `url` is the list's URL without query. */
export function pageHeaders(page: Page, total: number, url: string, query: Query): Record<string, string> {
  // Parameters appear in the order of their names.
  const [before, after] = query.around('page');
  const linkTo = (number: number, rel: string): string => {
    const search = [before, number === 1 ? '' : `page=${number}`, after].filter((part) => part !== '').join('&');
    return `<${url}${search === '' ? '' : `?${search}`}>; rel="${rel}"`;
  };
  const links = [linkTo(1, 'first')];
  if (page.number > 1) links.push(linkTo(page.number - 1, 'prev'));
  if (page.number < page.last) links.push(linkTo(page.number + 1, 'next'));
  links.push(linkTo(page.last, 'last'));
  const link = links.join(', ');
  return { 'X-Result-Count': String(total), ...(link.length <= maxLinkLength && { Link: link }) };
}
