import * as v from 'valibot';
import { customers } from '../../accounts/customers/customers.ts';
import { embeddedQuotas } from '../../activity/quotas/embedded.ts';
import { type ResolvedScope, resolveScope } from '../../activity/scopes/resolve.ts';
import type { Request } from '../../kernel/access/request.ts';
import { customersWithRole } from '../../kernel/access/visibility.ts';
import {
  type Field,
  FieldError,
  type Fields,
  messages,
  objectShape,
  shown,
  shownList,
  shownText,
  uuidField,
} from '../../kernel/collection/field.ts';
import { link, selfLink } from '../../kernel/collection/links.ts';
import {
  booleanValue,
  computedValue,
  knownText,
  linkValue,
  listValue,
  objectValue,
  plainValue,
  render,
  textValue,
} from '../../kernel/collection/representation.ts';
import { properName } from '../../kernel/collection/rules.ts';
import { boolean, choice, nullableText, text, url } from '../../kernel/collection/values.ts';
import { raw } from '../../kernel/db/sql.ts';
import { UploadedFile } from '../../kernel/http/body.ts';
import { memoised } from '../../kernel/memoised.ts';
import { urlOf } from '../../kernel/url.ts';
import type { Catalogue } from '../catalogue/catalogue.ts';
import { simulatorOptions } from '../catalogue/options.ts';
import { resourceLink } from '../catalogue/paths.ts';
import { masked } from './secrets.ts';

const largestCertificate = 65_536;
const certificateTypes = ['application/x-pem-file', 'application/x-x509-ca-cert', 'text/plain'];

/** Credentials are in detail answers for staff and, of private settings, for owners (services.md 2.4). */
const toCredentialReaders = `@detail AND (@staff OR (NOT st.shared AND st.customer_id IN
  (${customersWithRole(raw('@caller')).text} AND role = 'owner')))`;

/** A stored secret reads as stars, an unset one as null. */
const secretValue = (column: string): ReturnType<typeof computedValue> =>
  computedValue(`iif(${column} IS NULL, 'null', '"${masked}"')`);

/** A text that may be null and keeps what was written; the caller decides what an empty one means. */
function secret(max: number): Field<string | null> {
  const field = text({ max });
  const parse = (field.input as NonNullable<typeof field.input>).parse;
  return {
    ...field,
    json: secretValue,
    shown: toCredentialReaders,
    shape: { type: ['string', 'null'] },
    input: {
      ...(field.input as NonNullable<typeof field.input>),
      unique: undefined,
      nullable: true,
      parse: (value, request, form) => (value === null ? null : parse(value, request, form)),
    },
  };
}

/** A PEM file with a further trust anchor; text in its place is ignored (services.md 2.2). */
const certificate: Field<UploadedFile | null | undefined> = {
  ...shown('file upload', { type: ['string', 'null'] }, computedValue('json_quote(st.certificate_name)'), {
    shown: toCredentialReaders,
  }),
  input: {
    schema: v.nullable(v.string()),
    nullable: true,
    required: false,
    create: true,
    update: true,
    parse: (value) => {
      if (value === null) return null;
      if (!(value instanceof UploadedFile)) return undefined;
      const extension = /\.([^.]*)$/.exec(value.name)?.[1] ?? '';
      if (extension.toLowerCase() !== 'pem')
        throw new FieldError([`File extension '${extension}' is not allowed. Allowed extensions are: 'pem'.`]);
      if (!certificateTypes.includes(value.type))
        throw new FieldError([
          `File type '${value.type}' is not allowed. Allowed types are: '${certificateTypes.join(', ')}'.`,
        ]);
      if (value.content.length > largestCertificate)
        throw new FieldError([`Ensure this file has no more than ${largestCertificate} bytes.`]);
      return value;
    },
  },
};

const schemes = /^(https?:\/\/[^/\s?#]+|simulator:\/\/)/i;

/** The address of the backend; empty counts as null: the simulator. */
function backendUrl(): Field<string | null> {
  const field = nullableText({ max: 200, type: 'url', shown: toCredentialReaders });
  const input = field.input as NonNullable<typeof field.input>;
  return {
    ...field,
    input: {
      ...input,
      parse: (value, request, form) => {
        const address = input.parse(value, request, form);
        const isSimulated = address === null || /^simulator:/i.test(address);
        const isValid = address === null || (schemes.test(address) && (isSimulated || urlOf(address) !== undefined));
        if (!isValid || (isSimulated && !request.config.simulator_enabled)) throw new FieldError([messages.url]);
        return address;
      },
    },
  };
}

/** The resource that hosts the backend. */
export const hostField: Field<ResolvedScope | null> = {
  ...shown(
    'field',
    { type: ['string', 'null'], format: 'uri' },
    computedValue(`iif(st.scope_id IS NULL, 'null', ${render(resourceLink('st.scope_id'))})`),
  ),
  select: () => ({ path: 'resources' }),
  input: {
    schema: v.nullable(v.string()),
    nullable: true,
    required: false,
    create: true,
    update: true,
    parse: (value, request: Request) => {
      if (value === null || value === '') return null;
      if (typeof value !== 'string') throw new FieldError([messages.string]);
      const resolved = resolveScope(request, value, false);
      if (resolved.kind !== 'resource') throw new FieldError([`${value} object does not support such relationship.`]);
      return resolved;
    },
  },
};

/** Certifications that settings hold, name descending. */
export const settingsCertifications = listValue(
  objectValue({
    uuid: plainValue('s.uuid'),
    url: linkValue('service-certifications', 's.uuid'),
    name: knownText('s.name'),
    description: knownText('s.description'),
    link: textValue('s.link'),
  }),
  'settings_certification sc JOIN service_certification s ON s.id = sc.certification_id WHERE sc.settings_id = st.id',
  's.name DESC',
);

/** Where the provider is, from the options of these names. */
export const geolocations = computedValue(
  `iif(st.options ->> '$.latitude' IS NULL OR st.options ->> '$.longitude' IS NULL, '[]',
  concat('[{"latitude":', st.options -> '$.latitude', ',"longitude":', st.options -> '$.longitude', '}]'))`,
  { type: 'array', items: objectShape({ latitude: { type: 'number' }, longitude: { type: 'number' } }) },
);

/** An option, shown at the level of the settings where it is set. Null removes it, and so does an empty text, which leaves a secret. */
function option(name: string, field: Field, isSecret: boolean): Field {
  const input = field.input as NonNullable<Field['input']>;
  const ofEmpty = isSecret ? masked : null;
  return {
    ...field,
    json: () => computedValue(`(st.options -> '$.${name}')`),
    shown: `${toCredentialReaders} AND json_type(st.options, '$.${name}') IS NOT NULL`,
    input: {
      ...input,
      nullable: true,
      required: false,
      parse: (value, request, form) =>
        value === null ? null : value === '' ? ofEmpty : input.parse(value, request, form),
    },
  };
}

/** The options of all types; settings have those of their own. */
export const optionFields = memoised(
  ({ types }: Catalogue): Fields =>
    Object.fromEntries(
      Object.entries({ ...Object.assign({}, ...types.map((type) => type.options)), ...simulatorOptions } as Fields).map(
        ([name, field]) => [
          name,
          option(
            name,
            field,
            types.some(({ secretOptions }) => secretOptions?.includes(name)),
          ),
        ],
      ),
    ),
);

/** Names of the options that settings of a type have. */
export const optionNames = ({ types }: Catalogue, type: string): readonly string[] => [
  ...Object.keys(types.find(({ name }) => name === type)?.options ?? {}),
  ...Object.keys(simulatorOptions),
];

const typeField = ({ types }: Catalogue): Field<string> => {
  const field = choice({
    required: true,
    update: false,
    example: 'DigitalOcean',
    choices: () => types.map(({ name }) => [name, name] as const),
  });
  const input = field.input as NonNullable<typeof field.input>;
  return {
    ...field,
    input: {
      ...input,
      parse: (value: unknown, request: Request, form: boolean): string => {
        try {
          return input.parse(value, request, form);
        } catch (error) {
          throw error instanceof FieldError && value !== null ? new FieldError(['Invalid service type.']) : error;
        }
      },
    },
  };
};

/** Credentials: what settings are written with, and what only some callers read. */
export const credentialFields = {
  backend_url: backendUrl(),
  username: nullableText({ max: 100, shown: toCredentialReaders }),
  password: secret(100),
  token: secret(255),
  certificate,
  domain: nullableText({ max: 200, shown: `${toCredentialReaders} AND st.type = 'OpenStack'` }),
};

/** All members of service settings, in order (services.md 2.1). */
export const settingsFields = memoised((catalogue: Catalogue) => ({
  url: selfLink('service-settings', 'st.uuid'),
  uuid: uuidField(),
  name: properName('Droplets of Alice'),
  type: typeField(catalogue),
  state: shownText(),
  error_message: shownText(),
  shared: { ...boolean({ update: false }), json: booleanValue },
  customer: link({
    nullable: true,
    update: false,
    to: () => customers,
    key: '(SELECT uuid FROM customer WHERE id = st.customer_id)',
  }),
  customer_name: shownText(textValue('(SELECT name FROM customer WHERE id = st.customer_id)')),
  customer_native_name: shownText(textValue('(SELECT native_name FROM customer WHERE id = st.customer_id)')),
  homepage: url({ max: 255 }),
  terms_of_services: url({ max: 255 }),
  certifications: shownList(settingsCertifications),
  quotas: shownList(embeddedQuotas('settings', 'st.id')),
  scope: hostField,
  geolocations: shownList(geolocations),
  ...credentialFields,
  ...optionFields(catalogue),
}));
