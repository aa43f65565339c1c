import type { Caller } from '../access/caller.ts';
import type { Request } from '../access/request.ts';
import type { Right, Visibility } from '../access/right.ts';
import type { Sql } from '../db/sql.ts';
import type { Reply } from '../http/reply.ts';
import type { KeyKind } from '../http/router.ts';
import type { Columns } from './changes.ts';
import type { BodySpec, Operation, Output } from './endpoint.ts';
import type { Fields, NewValues, Values } from './field.ts';
import type { Filters } from './filter.ts';
import type { Listing, ListSpec, Parameters, Row } from './listing.ts';
import type { Narrowing, ObjectAction } from './object-options.ts';
import type { Purpose } from './validate.ts';

export type { Row } from './listing.ts';

/** The declaration of a collection: its fields, visibility, rights, and the effects of changes. */
export interface CollectionSpec<F extends Fields, R extends Row, A = NewValues<F>>
  extends Omit<ListSpec, 'fields' | 'title'> {
  /** Segment behind /api/. */
  readonly path: string;
  /** Singular name, as OPTIONS shows it: `Customer`. */
  readonly kind: string;
  /** The name of one object in sentences; default: the kind in lower case. */
  readonly noun?: string;
  /** Name of the schema of its objects; default: that of the kind. */
  readonly title?: string;
  readonly description: string;
  readonly fields: F;
  /** The column that addresses objects; default: uuid. */
  readonly key?: KeyKind;
  /** Whether the log redacts the key: callers may put a secret there. */
  readonly hidesKey?: boolean;
  /** Visibility of an object: a condition on the alias. */
  readonly visible: Visibility;
  /** Condition for objects that writes may address, where it differs from `visible`. */
  readonly writable?: (caller: Caller) => Sql;
  /** Whether OPTIONS describes the fields to the caller; default: when they may write. */
  readonly described?: (request: Request, row: R | undefined) => boolean;
  /** Whether a field of a body is used for the object being changed; default: every writable field. */
  readonly accepts?: (request: Request, name: string, row: R | undefined) => boolean;
  /**
   * What OPTIONS of the list and of an object shows: the fields of a body (core.md 1.10), or the actions that the caller may
   * take, with the reasons why not (services.md 9), among them those that are declared beside the collection.
   */
  readonly options?: {
    readonly actions: () => readonly ObjectAction<R>[];
    /** Whether the list describes the actions of its objects, too. */
    readonly inList?: boolean;
    /** The uuids that filter the choices of links in forms. */
    readonly narrowing?: (request: Request, row: R) => Narrowing;
  };
  /** A list whose page comes from a separate query: its parameters besides the filters, and its response. */
  readonly page?: {
    readonly filters?: Filters;
    /** Default: those of the collection. */
    readonly orderings?: readonly string[];
    readonly run: (request: Request, listing: Listing) => Reply;
    /** Additional error responses, for the documentation. */
    readonly rejections?: Operation['rejections'];
  };
  /** Parts of the response about one object that its row and fields do not contain. */
  readonly detail?: {
    /** Query parameters of the object's address. */
    readonly filters: Filters;
    /** The time at which the document changes although the data do not; undefined: never. */
    readonly until: (request: Request) => number | undefined;
    /** The JSON text of values that SQL cannot read. */
    readonly complete: (request: Request, id: number, text: string) => string;
  };
  /** Valid bodies for the documentation, if the required fields alone are not valid. */
  readonly examples?: Readonly<Partial<Record<Purpose, Readonly<Record<string, unknown>>>>>;
  readonly create?: {
    /** One sentence for the documentation; default: one with the kind. */
    readonly summary?: string;
    /** The body as the documentation describes it; default: the fields, as a schema with a name. */
    readonly input?: BodySpec;
    /** The right, if it does not depend on the body; absent: any authenticated user. */
    readonly right?: Right;
    /** Whether the caller could create any object at all, for X-Permitted, if the right depends on the body; default: true. */
    readonly isPossible?: (request: Request) => boolean;
    /** Rules across fields; throws 400. */
    readonly check?: (request: Request, values: NewValues<F>) => void;
    /** Resolves the values and the objects they name. Throws 400. Default: the values unchanged. */
    readonly accept?: (request: Request, values: NewValues<F>) => A;
    /** The right that depends on what the body names. */
    readonly rightWith?: Right<A>;
    /** Creates the object and its dependent rows; returns its id. `columns` are the columns that the body fills. */
    readonly run: (request: Request, accepted: A, columns: Columns) => number | Created;
    /** Slow checks before the transaction of a creation begins. Throws 400. */
    readonly prepare?: (request: Request, accepted: A) => Promise<void>;
    /** Additional error responses, for the documentation. */
    readonly rejections?: Operation['rejections'];
  };
  readonly update?: {
    readonly right: Right<R>;
    /** The text of the 409 that an update would get now; undefined if it is possible. */
    readonly denialReason?: (request: Request, row: R) => string | undefined;
    readonly check?: (request: Request, values: Values<F>, row: R) => void;
    /** The right that depends on what the body names. */
    readonly rightWith?: Right<{ readonly row: R; readonly values: Values<F> }>;
    /**
     * Stores a change. `columns` are the columns that the body fills, whether or not they differ. May return parameters of
     * the representation, for values that only this response shows.
     */
    readonly run:
      | ((request: Request, row: R, values: Values<F>, columns: Columns) => Parameters | undefined)
      | ((request: Request, row: R, values: Values<F>, columns: Columns) => void);
    /** Slow checks before the transaction of a change begins. Throws 400. */
    readonly prepare?: (request: Request, row: R, values: Values<F>) => Promise<void>;
    /** Additional error responses, for the documentation. */
    readonly rejections?: Operation['rejections'];
  };
  readonly delete?: {
    /** One sentence for the documentation; default: one with the kind. */
    readonly summary?: string;
    readonly right: Right<R>;
    /** The text of the 409 that a deletion would get now; undefined if it is possible. */
    readonly denialReason?: (request: Request, row: R) => string | undefined;
    /** Booleans of the query, with their defaults. */
    readonly flags?: Readonly<Record<string, boolean>> | undefined;
    /** The response if not 204, for deletions that continue after it. */
    readonly output?: Output;
    readonly run: ((request: Request, row: R) => Reply) | ((request: Request, row: R) => void);
  };
}

/** A new object, with values that only the response to its creation shows. */
export interface Created {
  readonly id: number;
  readonly parameters: Parameters;
}

/** The parts of a collection that paths below its objects use. */
export interface Parent<R extends Row> {
  readonly path: string;
  readonly spec: { readonly kind: string; readonly key?: KeyKind; readonly hidesKey?: boolean };
  /** The object that the path names. Throws 404. */
  find(request: Request): R;
  /** Names the object in the audit record of the request. */
  noteObject(request: Request, row: R): void;
}
