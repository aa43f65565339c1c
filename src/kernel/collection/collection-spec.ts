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
  /** Path segment after /api/. */
  readonly path: string;
  /** Singular name for OPTIONS: `Customer`. */
  readonly kind: string;
  /** Name of an object in sentences. Default: the kind in lower case. */
  readonly noun?: string;
  /** Name of the schema of its objects; default: that of the kind. */
  readonly title?: string;
  readonly description: string;
  readonly fields: F;
  /** The column that addresses objects; default: uuid. */
  readonly key?: KeyKind;
  /** Whether the log redacts the key, because callers may use a secret instead. */
  readonly hidesKey?: boolean;
  /** Visibility of an object: a condition on the alias. */
  readonly visible: Visibility;
  /** Condition for objects that writes can address, if it differs from `visible`. */
  readonly writable?: (caller: Caller) => Sql;
  /** Whether OPTIONS describes the fields to the caller. Default: if they may write. */
  readonly described?: (request: Request, row: R | undefined) => boolean;
  /** Whether a field in a body applies to the object being changed. Default: every writable field. */
  readonly accepts?: (request: Request, name: string, row: R | undefined) => boolean;
  /**
   * The format of OPTIONS for the list and its objects: the fields of a body (core.md 1.10), or the actions that the caller may
   * take, with reasons for unavailable ones (services.md 9), including actions declared beside the collection.
   */
  readonly options?: {
    readonly actions: () => readonly ObjectAction<R>[];
    /** Whether OPTIONS of the list also describes the actions of its objects. */
    readonly inList?: boolean;
    /** The uuids that filter the choices of links in forms. */
    readonly narrowing?: (request: Request, row: R) => Narrowing;
  };
  /** A list with a custom query: its additional parameters and its response. */
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
    /** Query parameters of the object's path. */
    readonly filters: Filters;
    /** The time at which the document changes even if the data does not; undefined for never. */
    readonly until: (request: Request) => number | undefined;
    /** Returns the JSON text of values that SQL cannot read. */
    readonly complete: (request: Request, id: number, text: string) => string;
  };
  /** Valid bodies for the documentation, if the required fields alone are not valid. */
  readonly examples?: Readonly<Partial<Record<Purpose, Readonly<Record<string, unknown>>>>>;
  readonly create?: {
    /** A sentence for the documentation. Default: derived from the kind. */
    readonly summary?: string;
    /** The documented body. Default: a named schema of the fields. */
    readonly input?: BodySpec;
    /** The right, if it does not depend on the body. Default: any authenticated user. */
    readonly right?: Right;
    /** Whether the caller could create any object at all, for X-Permitted, if the right depends on the body; default: true. */
    readonly isPossible?: (request: Request) => boolean;
    /** Checks rules across fields. Throws 400. */
    readonly check?: (request: Request, values: NewValues<F>) => void;
    /** Resolves the values and the objects that they name. Throws 400. Default: returns the values unchanged. */
    readonly accept?: (request: Request, values: NewValues<F>) => A;
    /** The right that depends on objects in the body. */
    readonly rightWith?: Right<A>;
    /** Creates the object and its dependent rows. Returns its id. `columns` has the columns from the body. */
    readonly run: (request: Request, accepted: A, columns: Columns) => number | Created;
    /** Slow checks before the transaction of a creation. Throws 400. */
    readonly prepare?: (request: Request, accepted: A) => Promise<void>;
    /** Additional error responses, for the documentation. */
    readonly rejections?: Operation['rejections'];
  };
  readonly update?: {
    readonly right: Right<R>;
    /** Returns the 409 message that an update would get now; undefined if it is possible. */
    readonly denialReason?: (request: Request, row: R) => string | undefined;
    readonly check?: (request: Request, values: Values<F>, row: R) => void;
    /** The right that depends on objects in the body. */
    readonly rightWith?: Right<{ readonly row: R; readonly values: Values<F> }>;
    /**
     * Stores a change. `columns` has the columns from the body, even if they are unchanged. May return parameters of the
     * representation for values that only this response shows.
     */
    readonly run:
      | ((request: Request, row: R, values: Values<F>, columns: Columns) => Parameters | undefined)
      | ((request: Request, row: R, values: Values<F>, columns: Columns) => void);
    /** Slow checks before the transaction of a change. Throws 400. */
    readonly prepare?: (request: Request, row: R, values: Values<F>) => Promise<void>;
    /** Additional error responses, for the documentation. */
    readonly rejections?: Operation['rejections'];
  };
  readonly delete?: {
    /** A sentence for the documentation. Default: derived from the kind. */
    readonly summary?: string;
    readonly right: Right<R>;
    /** Returns the 409 message that a deletion would get now; undefined if it is possible. */
    readonly denialReason?: (request: Request, row: R) => string | undefined;
    /** Booleans of the query, with their defaults. */
    readonly flags?: Readonly<Record<string, boolean>> | undefined;
    /** The response instead of 204, for deletions that continue afterwards. */
    readonly output?: Output;
    readonly run: ((request: Request, row: R) => Reply) | ((request: Request, row: R) => void);
  };
}

/** A new object, and values that only the response to its creation shows. */
export interface Created {
  readonly id: number;
  readonly parameters: Parameters;
}

/** The parts of a collection for paths below its objects. */
export interface Parent<R extends Row> {
  readonly path: string;
  readonly spec: { readonly kind: string; readonly key?: KeyKind; readonly hidesKey?: boolean };
  /** Returns the object in the path. Throws 404. */
  find(request: Request): R;
  /** Sets the object of the request's audit record. */
  noteObject(request: Request, row: R): void;
}
