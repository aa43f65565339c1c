import type { Context } from '../../kernel/access/context.ts';
import type { Request } from '../../kernel/access/request.ts';
import type { Right } from '../../kernel/access/right.ts';
import type { Endpoint } from '../../kernel/collection/endpoint.ts';
import type { Fields, NewValues, WritableField } from '../../kernel/collection/field.ts';
import type { Filters } from '../../kernel/collection/filter.ts';
import type { Json } from '../../kernel/collection/representation.ts';
import type { TextRule } from '../../kernel/collection/rules.ts';
import type { Sql } from '../../kernel/db/sql.ts';
import type { Task } from '../../kernel/jobs/timer.ts';
import type { BackendObject, Driver, DriverSettings, PlainValues } from './driver.ts';
import type { EntityKind } from './entity-kind.ts';
import type { ResourceRow } from './resource-row.ts';
import type { Simulation } from './simulation.ts';
import type { VendorHttp } from './vendor-http.ts';

/*
 * The declaration of a provider type (providers.md 2). A type is one folder that exports a ProviderType, and one item of the
 * list in app/compose/providers.ts. The declaration is static: it feeds validation, OPTIONS, metadata and the OpenAPI document.
 * Its driver implements the interface in driver.ts.
 */

export type Category = 'vms' | 'apps' | 'private_clouds' | 'storages';

/** Options of settings: fields that users write. */
export type OptionFields = Readonly<Record<string, WritableField>>;

/** The public part of a provider type. */
export interface ProviderType {
  /** `DigitalOcean` */
  readonly name: string;
  /** Segment of its services, `digitalocean`; links and kinds start with it. */
  readonly prefix: string;
  readonly isPublic: boolean;
  /** Public address of the vendor; absent for self-hosted backends. */
  readonly publicUrl?: string;
}

/** @internal The parts of a type that are not published. */
export interface ProviderType {
  /** Scheduled work of this type. */
  readonly tasks?: readonly Task[];
  /** Whether its properties are the same for all simulated settings. */
  readonly hasGlobalProperties: boolean;
  /** Option fields of the settings, in addition to the credentials of every type. */
  readonly options: OptionFields;
  /** Names of options that are secrets: encrypted, and shown as stars. */
  readonly secretOptions?: readonly string[];
  /** Missing credentials of the vendor's driver: messages by field; empty if complete. */
  readonly missingCredentials: (
    input: Readonly<Record<string, unknown>>,
  ) => Readonly<Record<string, readonly string[]>>;
  /** Names of the quotas of services, links and settings; those of services with their default limits. */
  readonly quotas: {
    readonly service: Readonly<Record<string, number>>;
    readonly link: readonly string[];
    readonly settings: readonly string[];
  };
  readonly kinds: readonly ResourceKind[];
  /** Entities of this type that are not resources, and the paths that serve them. */
  readonly entities?: readonly EntityKind[];
  readonly endpoints?: readonly Endpoint[];
  readonly properties: readonly PropertyKind[];
  /** The vendor's driver; absent while this type runs on the simulator only. */
  readonly driver?: (settings: DriverSettings, http: VendorHttp) => Driver;
  readonly simulation: Simulation;
}

/** A kind of property: an image, a size, a region. */
export interface PropertyKind {
  /** `Image` */
  readonly name: string;
  readonly path: string;
  /** Makes the kind global, unlike the other properties of its type: one set for all simulated settings. */
  readonly isGlobal?: boolean;
  /** Members after url, uuid and name; expressions use `d`, the property's table alias. */
  readonly fields: Fields;
  readonly filters: Filters;
  readonly orderings: Readonly<Record<string, string>>;
  /** Whether settings with these options include a property of this name; default: all. A global set has the properties that any settings include. */
  readonly isIncluded?: (name: string, options: PlainValues) => boolean;
}

/** Fields of every creation in addition to those of the kind. */
interface CommonValues {
  readonly name: string;
  readonly description?: string;
  /** Id of the link. */
  readonly service_project_link: number;
  /** Id of the key to inject, of machines. */
  readonly ssh_public_key?: number | null;
}

/** The values that create a resource of a kind with these fields. */
export type NewResource<F extends Fields> = NewValues<F> & CommonValues;

/** Runtime states with a meaning for the API. */
interface RuntimeStates {
  /** Running and stopped; start_time follows them. */
  readonly online?: string;
  readonly offline?: string;
  /** States that indicate failure while an operation waits. */
  readonly failed?: readonly string[];
}

/** The quotas of a resource. */
interface OwnQuotas {
  /** Names with the limits of a new resource. */
  readonly limits: Readonly<Record<string, number>>;
  /** Whether the provider reports limits and usages. */
  readonly areReported?: boolean;
  /** Quotas whose usage the provider reports in a value of this name. */
  readonly usages?: readonly string[];
}

/** Requirements and effects of deleting a resource. Denial reasons are the text of the 409, or undefined. */
interface DeletionRules {
  /** Who can delete; default: who can change. */
  readonly right?: Right<ResourceRow>;
  /** Flags with their defaults, read from the query. */
  readonly flags?: Readonly<Record<string, boolean>>;
  /** Additional conditions, which also apply to resources in the state Erred. */
  readonly denialReason?: (request: Request, resource: ResourceRow) => string | undefined;
  /** Conditions of both deleting and unlinking, in any state. */
  readonly removalDenialReason?: (request: Request, resource: ResourceRow) => string | undefined;
  /** Condition on `r`: the rows that are removed together with this one. */
  readonly removedTogether?: (resource: ResourceRow) => Sql;
  /**
   * Releases attached objects before the row of a resource is removed. `flags`: those of the deletion; undefined if only the
   * row is removed. `isGone`: the provider has deleted the resource, as the flags say.
   */
  readonly onRemoval?: (
    context: Context,
    resource: ResourceRow,
    flags: PlainValues | undefined,
    isGone: boolean,
  ) => void;
}

/** How objects of the provider become resources. */
interface ImportRules {
  /** Whether only staff may import, instead of all users with that right on the service. */
  readonly onlyForStaff?: boolean;
  /** Runtime states in which an object can be imported; absent: any. */
  readonly states?: readonly string[];
  /** Members of an importable object besides backend_id, name, resource_type and created. */
  readonly fields?: readonly string[];
  /** Returns the members that are not values of the object with the same name. */
  readonly item?: (request: Request, object: BackendObject, settings: number) => PlainValues;
  /** Checks an import and plans its row. Throws 400. */
  readonly accept?: (request: Request, object: BackendObject, place: ResourceLocation) => CreationPlan;
}

/** A kind of resource, or of part of one. */
export interface ResourceKind<F extends Fields = Fields> {
  /** Name within its type: `Droplet`. */
  readonly name: string;
  /** Segment of its list: `digitalocean-droplets`. */
  readonly path: string;
  /** Name in error messages: `droplets`. */
  readonly plural: string;
  /** The summary that counts it; undefined: none. */
  readonly category: Category | undefined;
  /** Parts are absent from the summary of resources and from their counts. */
  readonly isPart?: boolean;
  /** Whether it has the fields of virtual machines, such as cores and addresses. */
  readonly isVirtualMachine?: boolean;
  /** Absent: it has no runtime state. */
  readonly runtime?: RuntimeStates;
  /** Fields of requests and responses in addition to the base ones. Expressions use `r`. */
  readonly fields: F;
  /** SQL of access_url as JSON; null where absent. */
  readonly accessUrl?: Json;
  /** SQL of related_resources as JSON, for details. */
  readonly related?: Json;
  readonly filters?: Filters;
  /** Orderings by fields of the kind: name to SQL. */
  readonly orderings?: Readonly<Record<string, string>>;
  /** Whether the list accepts POST; parts and snapshots are created by actions of others. */
  readonly isCreatable: boolean;
  /** Whether changed names and descriptions (or only names) are sent to the provider. */
  readonly pushedFields?: readonly ('name' | 'description')[];
  /** Whether PUT and PATCH are served; floating IPs have none. */
  readonly isUpdatable?: boolean;
  /** For the documentation: a name, and the other members of a valid creation body besides the link; default: the required fields with their examples. */
  readonly examples?: { readonly name: string; readonly create?: PlainValues };
  /** The pattern of valid names, and the message for others. */
  readonly nameRules?: readonly TextRule[];
  /** Columns derived from a value that names another object of the same link by its provider id. */
  readonly references?: Readonly<
    Partial<Record<'parent_id' | 'instance_id', { readonly value: string; readonly kind: string }>>
  >;
  /** Checks a changed name or description. Throws 400. */
  readonly checkUpdate?: (
    request: Request,
    resource: ResourceRow,
    values: { readonly name?: string; readonly description?: string },
  ) => void;
  /** Secrets of the row that are members of details; their fields decide who can see them. */
  readonly shownSecrets?: readonly string[];
  /** Lists of resources under the path of one: GET …/<name>/. */
  readonly lists?: readonly ResourceList[];
  /** Cleans up after a failed operation. */
  readonly onFailure?: (context: Context, resource: ResourceRow, failed: FailedOperation) => void;
  /** A right that creation requires besides the common one. */
  readonly creationRight?: Right<CommonValues>;
  /** Checks a creation; a method, so that kinds with any fields fit in one list. Throws 400 and 409. */
  accept?(request: Request, values: NewResource<F>, place: ResourceLocation): CreationPlan;
  /** Its contribution to quotas, by their owner. */
  readonly quotaDeltas: (resource: ResourceRow) => KindDeltas;
  /** Quotas that each resource of the kind has itself. */
  readonly ownQuotas?: OwnQuotas;
  /** Whether members of its project, and owners of its customer, are its members at the provider. */
  readonly hasMembers?: boolean;
  /** Actions besides updating, deleting and unlinking. */
  readonly actions: readonly ResourceAction[];
  /** Absent: the rules that all kinds share. */
  readonly deletion?: DeletionRules;
  /** Time limits in minutes that differ from the common ones. */
  readonly limits?: { readonly create?: number; readonly action?: number; readonly delete?: number };
  /** Absent: objects of the provider cannot be imported. */
  readonly importing?: ImportRules;
}

/** Declares a kind of resource. The types connect the accepted fields with the function that resolves them. */
export const resourceKind = <F extends Fields>(kind: ResourceKind<F>): ResourceKind => kind;

/** The place of a new resource: ids of the link, and of the service and project that it connects. */
export interface ResourceLocation {
  readonly link: number;
  readonly service: number;
  readonly settings: number;
  readonly project: number;
  readonly customer: number;
  readonly isShared: boolean;
}

/** The parts of an accepted creation or import. */
export interface CreationPlan {
  /** Columns of the row; `details` is an object. */
  readonly row: PlainValues;
  /** Parameters for the driver besides the row's values. */
  readonly parameters?: PlainValues;
  /** Encrypted with the job, and with the row under the same names. */
  readonly secrets?: PlainValues;
  readonly attached?: readonly AttachedResource[];
  /** Called with the id of the new row, to write related rows. */
  readonly afterInsert?: (id: number) => void;
}

/** A row created and attached together with another, such as a volume of a new instance. One driver operation creates both. */
export interface AttachedResource {
  /** Full name of its kind. */
  readonly kind: string;
  readonly uuid: string;
  readonly values: PlainValues;
}

/** A list of resources of one kind under the path of a resource. */
export interface ResourceList {
  readonly name: string;
  /** Full name of the kind of its items. */
  readonly kind: string;
  /** Condition on the items, in alias `r`. */
  readonly condition: (resource: ResourceRow) => Sql;
}

export interface FailedOperation {
  readonly operation: string;
  readonly parameters: PlainValues;
  readonly text: string;
}

/** Additions to quotas of the project, the customer, the link, the service and the tenant. */
export interface KindDeltas {
  readonly project?: Readonly<Record<string, number>>;
  readonly customer?: Readonly<Record<string, number>>;
  readonly link?: Readonly<Record<string, number>>;
  readonly service?: Readonly<Record<string, number>>;
  readonly parent?: Readonly<Record<string, number>>;
}

/** An action on a resource. */
export interface ResourceAction<F extends Fields = Fields> {
  readonly name: string;
  /** Fields of the body; absent: a button. */
  readonly fields?: F;
  /** A valid body for the documentation; default: the required fields with their examples. */
  readonly example?: PlainValues;
  /** Required states; default: OK. */
  readonly states?: readonly string[];
  /** Required runtime states; default: any. */
  readonly runtimeStates?: readonly string[];
  /** Who can run it; default: who can change the resource. */
  readonly right?: Right<ResourceRow>;
  /** Further conditions: the text of the 409, or undefined. */
  readonly denialReason?: (request: Request, resource: ResourceRow) => string | undefined;
  /** Checks the body and returns the parameters for the driver. Throws 400 and 409. Default: the values of the body. */
  accept?(request: Request, resource: ResourceRow, values: NewValues<F>): ActionPlan;
  /** Whether it only reads from the provider, so that no event is recorded. */
  readonly isPull?: boolean;
  /** The body of the 202. */
  readonly response: Readonly<Record<string, string>>;
  /** The full name of the kind of resource that `make` creates. */
  readonly makes?: string;
  /** An action that creates another resource and returns it with 201, without changing its state. Throws 400 and 409. */
  make?(request: Request, resource: ResourceRow, values: NewValues<F>): ResourceRow;
}

/** Declares an action with fields, whose types the functions of the action share. */
export const resourceAction = <F extends Fields>(action: ResourceAction<F>): ResourceAction => action;

export interface ActionPlan {
  readonly parameters?: PlainValues;
  /** They become the row's when the action succeeds. */
  readonly secrets?: PlainValues;
  /** Quotas that the action uses immediately; released if it fails. */
  readonly quotaDeltas?: KindDeltas;
  readonly attached?: readonly AttachedResource[];
  /** Ids of other resources that are also Updating during the action. */
  readonly together?: readonly number[];
  /** Called after all checks of the action. */
  readonly onAccepted?: () => void;
}
