/** The parts of an OpenAPI document that a fuzzer uses. */

/** A schema. Lists only the keywords that values are generated from. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly format?: string;
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly examples?: readonly unknown[];
}

export interface Parameter {
  readonly name: string;
  readonly in: 'query' | 'path' | 'header';
  readonly schema: Schema;
}

interface Described {
  readonly $ref?: string;
}

export interface Operation {
  readonly path: string;
  readonly method: string;
  readonly parameters: readonly Parameter[];
  /** Schemas of its body by content type; undefined if it has none. */
  readonly body: Readonly<Record<string, Schema>> | undefined;
  /** Names of the members of its response, or of the objects in a list. */
  readonly statuses: readonly string[];
}

type Content = Readonly<Record<string, { readonly schema?: Schema }>>;

interface PathItem {
  readonly parameters?: readonly (Parameter & Described)[];
}

interface RawOperation extends PathItem {
  readonly operationId: string;
  readonly requestBody?: { readonly content: Content };
  readonly responses?: Readonly<Record<string, Described & { readonly content?: Content }>>;
}

/** Exempt from the time limit: advancing sample data by a year executes all work of that year. */
const timePasses = '/api/simulator/advance/';

/** An OpenAPI 3.1 document. Resolves references on use. */
export class ApiDocument {
  readonly operations: readonly Operation[];
  /** Paths of lists, whose objects have paths one level below. */
  readonly collections: readonly string[];

  constructor(
    private readonly document: { readonly paths: Readonly<Record<string, Readonly<Record<string, unknown>>>> },
    /** Only operations with these methods; default: all. */
    methods?: readonly string[],
  ) {
    const paths = Object.entries(document.paths);
    this.collections = paths
      .filter(([path, item]) => 'get' in item && `${path}{key}/` in document.paths)
      .map(([path]) => path);
    this.operations = paths
      .flatMap(([path, item]) => this.#operationsOf(path, item))
      .filter(({ method, path }) => path !== timePasses && (methods === undefined || methods.includes(method)));
  }

  /** Returns the target of a reference, and anything else unchanged. */
  resolved<T extends object>(node: T & Described): T {
    if (node.$ref === undefined) return node;
    let matches: unknown = this.document;
    for (const key of node.$ref.slice(2).split('/')) matches = (matches as Record<string, unknown>)[key];
    return this.resolved(matches as T & Described);
  }

  #operationsOf(path: string, item: Readonly<Record<string, unknown>>): Operation[] {
    const shared = (item as PathItem).parameters ?? [];
    return Object.entries(item)
      .filter(([, value]) => (value as Partial<RawOperation>).operationId !== undefined)
      .map(([method, value]) => {
        const { parameters = [], requestBody, responses } = value as RawOperation;
        const body =
          requestBody &&
          Object.fromEntries(Object.entries(requestBody.content).map(([type, { schema = {} }]) => [type, schema]));
        return {
          path,
          method: method.toUpperCase(),
          parameters: [...shared, ...parameters].map((parameter) => this.resolved<Parameter>(parameter)),
          body,
          statuses: this.#membersOf(
            this.resolved(responses?.['200'] ?? {}).content?.['application/json']?.schema ?? {},
          ),
        };
      });
  }

  #membersOf(input: Schema): string[] {
    const { items, properties = {}, ...schema } = this.resolved(input);
    const parts = [items ?? [], schema.anyOf ?? [], schema.oneOf ?? [], schema.allOf ?? []].flat();
    return [...Object.keys(properties), ...parts.flatMap((part) => this.#membersOf(part))];
  }
}
