import type { Request } from '../access/request.ts';
import type { Right } from '../access/right.ts';
import { reject } from '../http/error.ts';
import type { Reply } from '../http/reply.ts';
import { noteBody } from './audited-changes.ts';
import type { Parent, Row } from './collection-spec.ts';
import { describeFields, type Endpoint, type Operation, type Output } from './endpoint.ts';
import type { Fields, NewValues } from './field.ts';
import { type ObjectAction, titleOf } from './object-options.ts';
import { validate } from './validate.ts';

/** The declaration of an action: POST below the path of an object. */
interface ActionSpec<F extends Fields, R extends Row, P, A = NewValues<F>> {
  readonly on: Parent<R>;
  /** Last segment of its path. */
  readonly name: string;
  /** The name in OPTIONS, after the kind; default: the name in title case. */
  readonly title?: string;
  /** A sentence for the documentation. */
  readonly summary: string;
  /** The description in OPTIONS; default: the summary. */
  readonly description?: string;
  readonly right: Right<R>;
  /** Fields of the body; default: the body is not read. */
  readonly fields?: F;
  /** A valid body for the documentation; default: the required fields with their examples. */
  readonly example?: Readonly<Record<string, unknown>> | undefined;
  readonly isDestructive?: boolean;
  /** Resolves the values before the state is checked. Throws 400. Default: the values unchanged. */
  readonly accept?: (request: Request, row: R, values: NewValues<F>) => A;
  /** Returns the 409 message that it would get now; undefined if it is possible. */
  readonly denialReason?: (request: Request, row: R) => string | undefined;
  /** Slow work that must not happen inside the transaction. */
  readonly prepare?: (request: Request, row: R, accepted: NoInfer<A>) => Promise<P>;
  readonly run: (request: Request, row: R, accepted: NoInfer<A>, prepared: P) => Reply;
  /** The response to a success. */
  readonly output: Output;
  /** Additional error responses, for the documentation. */
  readonly rejections?: Operation['rejections'];
}

/** An action: its endpoint, and its metadata in the object's OPTIONS. */
export interface Action<R> extends ObjectAction<R> {
  readonly endpoint: Endpoint;
}

/** Builds an action from its declaration. The action checks existence, right, body and state, in this order (core.md 1.2). */
export function action<R extends Row, F extends Fields = Record<never, never>, P = undefined, A = NewValues<F>>(
  spec: ActionSpec<F, R, P, A>,
): Action<R> {
  const { example, fields, isDestructive, name, on, output, prepare, denialReason, rejections, right, summary } = spec;
  const accepted = (request: Request): [R, A] => {
    const row = on.find(request);
    right.require(request, row);
    // Without fields, the body is not read and the values are empty, which the compiler cannot infer.
    const values = fields ? validate(fields, request, 'create') : ({} as NewValues<F>);
    if (fields) noteBody(request, fields, values, row);
    // Without `accept`, the two types are the same, which it cannot infer either.
    return [row, spec.accept ? spec.accept(request, row, values) : (values as unknown as A)];
  };
  const post: Operation = {
    summary,
    allowedFor: right.allowedFor,
    ...(fields && { input: { fields, purpose: 'create', ...(example && { example }) } }),
    output,
    ...(rejections && { rejections }),
    ...(prepare && { prepare: async (request: Request) => prepare(request, ...accepted(request)) }),
    handle: (request: Request, prepared: P) => {
      const [row, values] = accepted(request);
      request.checkPreconditions();
      reject(denialReason?.(request, row));
      on.noteObject(request, row);
      return spec.run(request, row, values, prepared);
    },
  };
  const endpoint: Endpoint = {
    path: `/api/${on.path}/:key/${name}/`,
    ...(on.spec.key && { key: on.spec.key }),
    ...(on.spec.hidesKey && { hidesPath: true }),
    name: `${on.spec.kind} ${spec.title ?? titleOf(name)}`,
    description: spec.description ?? summary,
    actions: (request) =>
      right.may(request, on.find(request)) ? { POST: describeFields(fields ?? {}, request, 'create') } : undefined,
    ...(denialReason && {
      denial: (request) => {
        const row = on.find(request);
        return right.may(request, row) ? denialReason(request, row) : undefined;
      },
    }),
    operations: { POST: post },
  };
  return { name, method: 'POST', isDestructive, tail: `${name}/`, fields, right, denialReason, endpoint };
}
