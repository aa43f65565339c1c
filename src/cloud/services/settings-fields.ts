import { X509Certificate } from 'node:crypto';
import * as v from 'valibot';
import { customers } from '../../accounts/customers/customers.ts';
import { certificationList } from '../../accounts/projects/certifications.ts';
import { embeddedQuotas } from '../../activity/quotas/usage.ts';
import { type ResolvedScope, resolveScope, unrelated } from '../../activity/scopes/resolve.ts';
import { customersWithRole } from '../../kernel/access/visibility.ts';
import {
  FieldError,
  inputOf,
  messages,
  objectShape,
  readOnly,
  readOnlyList,
  readOnlyText,
  refine,
  uuidField,
  type WritableField,
  wrapInput,
} from '../../kernel/collection/field.ts';
import { exampleLink } from '../../kernel/collection/json-schema.ts';
import { emptyAsNull, link, selfLink } from '../../kernel/collection/links.ts';
import { computedValue, type Json, render, textValue, wordValue } from '../../kernel/collection/representation.ts';
import { nonBlankName } from '../../kernel/collection/rules.ts';
import { boolean, choice, nullableText, numberAsText, text, url } from '../../kernel/collection/values.ts';
import { raw } from '../../kernel/db/sql.ts';
import { UploadedFile } from '../../kernel/http/multipart.ts';
import { memoised } from '../../kernel/memoised.ts';
import { urlOf } from '../../kernel/url.ts';
import { type Catalogue, resourceLink } from '../catalogue/catalogue.ts';
import { simulatorOptions } from '../catalogue/options.ts';
import { isSimulated, simulatedField, simulatedSql } from '../catalogue/simulation.ts';
import type { OptionFields } from '../catalogue/type.ts';

/** States of provider accounts (services.md 2.3). */
export const settingsStates = [
  'New',
  'Creation Scheduled',
  'Creating',
  'Sync Scheduled',
  'Syncing',
  'In Sync',
  'Erred',
] as const;

/** The state of an account in a column. */
export const settingsStateValue = (column: string): Json => wordValue(column, settingsStates);

/** Placeholder for a stored secret. Writing it back leaves the secret unchanged (services.md 2.2). */
export const masked = '********';

/** The effect of a written secret: it keeps, clears or replaces the stored one. */
type SecretChange =
  | { readonly kind: 'keep' }
  | { readonly kind: 'clear' }
  | { readonly kind: 'replace'; readonly value: string };

/** Reads a secret from a body. A missing secret keeps its stored value. */
export function secretChange(value: string | null | undefined): SecretChange {
  if (value === null) return { kind: 'clear' };
  return value === undefined || value === '' || value === masked ? { kind: 'keep' } : { kind: 'replace', value };
}

const largestCertificate = 65_536;
const certificateTypes = ['application/x-pem-file', 'application/x-x509-ca-cert', 'text/plain'];

/** Responses with a single object include credentials for staff and, for private settings, owners (services.md 2.4). */
const toCredentialReaders = `@detail AND (@staff OR (NOT st.shared AND st.customer_id IN
  (${customersWithRole(raw('@caller')).text} AND role = 'owner')))`;

/** Shows a stored secret as stars and an unset one as null. */
const secretValue = (column: string): ReturnType<typeof computedValue> =>
  computedValue(`iif(${column} IS NULL, 'null', '"${masked}"')`);

/** A nullable text, stored unchanged. The caller decides the meaning of an empty text. */
const secret = (max: number): WritableField<string | null, false> => {
  const { input, ...field } = text({ max, lines: 'verbatim' });
  return {
    ...field,
    conceals: 'value',
    json: secretValue,
    shownIf: toCredentialReaders,
    shape: { type: ['string', 'null'] },
    input: inputOf({ storedIn: false }, { schema: input.schema, coerce: numberAsText, nullable: true }),
  };
};

/** A PEM file with additional trust anchors. A text instead of a file is ignored (services.md 2.2). */
const certificate: WritableField<UploadedFile | null | undefined, false> = {
  ...readOnly('file upload', { type: ['string', 'null'] }, computedValue('json_quote(st.certificate_name)'), {
    shownIf: toCredentialReaders,
  }),
  input: inputOf(
    { storedIn: false },
    {
      schema: v.unknown(),
      nullable: true,
      resolve: (values) => {
        if (!(values instanceof UploadedFile)) return undefined;
        const extension = /\.([^.]*)$/.exec(values.name)?.[1] ?? '';
        if (extension.toLowerCase() !== 'pem')
          throw new FieldError([`File extension '${extension}' is not allowed. Allowed extensions are: 'pem'.`]);
        if (!certificateTypes.includes(values.type))
          throw new FieldError([
            `File type '${values.type}' is not allowed. Allowed types are: '${certificateTypes.join(', ')}'.`,
          ]);
        if (values.content.length > largestCertificate)
          throw new FieldError([`Ensure this file has no more than ${largestCertificate} bytes.`]);
        return new UploadedFile(values.name, values.type, Buffer.from(certificatesIn(values.content.toString('utf8'))));
      },
    },
  ),
};

const schemes = /^(https?:\/\/[^/\s?#]+|simulator:\/\/)/i;

const hasCredentials = (address: string): boolean => {
  const { password, username } = new URL(address);
  return username !== '' || password !== '';
};

/** The URL of the backend. Empty counts as null, which means the simulator. */
const backendUrl = refine(
  nullableText({ max: 200, type: 'url', shownIf: toCredentialReaders }),
  (address: string | null, request) => {
    if (address === null) return;
    const simulated = isSimulated(address);
    const isValid = schemes.test(address) && (simulated || urlOf(address) !== undefined);
    if (!isValid || (simulated && !request.config.simulator_enabled)) throw new FieldError([messages.url]);
    // The URL appears in responses, logs and errors.
    if (!simulated && hasCredentials(address)) throw new FieldError(['Enter the credentials in their own fields.']);
  },
);

/** The resource with the backend. */
export const hostField: WritableField<ResolvedScope | null, false> = {
  ...readOnly(
    'field',
    { type: ['string', 'null'], format: 'uri', examples: [exampleLink('openstack-instances')] },
    computedValue(`iif(st.scope_id IS NULL, 'null', ${render(resourceLink('st.scope_id'))})`),
  ),
  select: () => ({ path: 'resources' }),
  input: inputOf(
    { storedIn: false },
    {
      schema: v.nullable(v.string(messages.string)),
      nullable: true,
      coerce: emptyAsNull,
      resolve: (link, request) => {
        if (link === null) return null;
        const resolved = resolveScope(request, link, false);
        if (resolved.kind !== 'resource') throw new FieldError([unrelated(link)]);
        return resolved;
      },
    },
  ),
};

export const settingsCertifications = certificationList('settings_certification', 'l.settings_id = st.id');

/** The location of the provider, from these options. */
export const geolocations = computedValue(
  `iif(st.options ->> '$.latitude' IS NULL OR st.options ->> '$.longitude' IS NULL, '[]',
  concat('[{"latitude":', st.options -> '$.latitude', ',"longitude":', st.options -> '$.longitude', '}]'))`,
  { type: 'array', items: objectShape({ latitude: { type: 'number' }, longitude: { type: 'number' } }) },
);

/** An option as a member of the settings. Null removes it, as does an empty text, except for secrets. */
function option(name: string, field: WritableField, isSecret: boolean): WritableField<unknown, false> {
  const ofEmpty = isSecret ? masked : null;
  const input = wrapInput(field.input, (parse) => (value, request, form) => {
    if (value === null) return null;
    return value === '' ? ofEmpty : parse(value, request, form);
  });
  return {
    ...field,
    ...(isSecret && { conceals: 'value' }),
    json: () => computedValue(`(st.options -> '$.${name}')`),
    shownIf: `${toCredentialReaders} AND json_type(st.options, '$.${name}') IS NOT NULL`,
    input: { ...input, nullable: true, required: false, column: false },
  };
}

/** The options of all types. Settings have only those of their type. */
export const optionFields = memoised(({ types }: Catalogue): OptionFields => {
  const declared: OptionFields = Object.assign({}, ...types.map((type) => type.options), simulatorOptions);
  const isSecret = (name: string): boolean => types.some(({ secretOptions }) => secretOptions?.includes(name));
  return Object.fromEntries(
    Object.entries(declared).map(([name, field]) => [name, option(name, field, isSecret(name))]),
  );
});

/** Returns the option names of a type. */
export const optionNames = ({ types }: Catalogue, type: string): readonly string[] => [
  ...Object.keys(types.find(({ name }) => name === type)?.options ?? {}),
  ...Object.keys(simulatorOptions),
];

/** Credentials: writable for settings, but readable only for some callers. */
export const credentialFields = {
  backend_url: backendUrl,
  username: nullableText({ max: 100, shownIf: toCredentialReaders }),
  password: secret(100),
  token: secret(255),
  certificate,
  domain: nullableText({ max: 200, shownIf: `${toCredentialReaders} AND st.type = 'OpenStack'` }),
};

/** All members of service settings, in order (services.md 2.1). */
export const settingsFields = memoised((catalogue: Catalogue) => {
  // The catalogue determines the members, so the types cannot include them.
  const options: object = optionFields(catalogue);
  return {
    url: selfLink('service-settings', 'st.uuid'),
    uuid: uuidField(),
    is_simulated: simulatedField(simulatedSql('st')),
    name: nonBlankName('Droplets of Alice'),
    type: choice({
      required: true,
      update: false,
      example: 'DigitalOcean',
      choices: () => catalogue.types.map(({ name }) => [name, name] as const),
      message: 'Invalid service type.',
    }),
    state: readOnlyText(settingsStateValue),
    error_message: readOnlyText(),
    shared: boolean({ update: false, storedIn: false }),
    customer: link({
      nullable: true,
      update: false,
      to: () => customers,
      key: '(SELECT uuid FROM customer WHERE id = st.customer_id)',
    }),
    customer_name: readOnlyText(textValue('(SELECT name FROM customer WHERE id = st.customer_id)')),
    customer_native_name: readOnlyText(textValue('(SELECT native_name FROM customer WHERE id = st.customer_id)')),
    homepage: url({ max: 255 }),
    terms_of_services: url({ max: 255 }),
    certifications: readOnlyList(settingsCertifications),
    quotas: readOnlyList(embeddedQuotas('settings', 'st.id', '@all OR NOT st.shared')),
    scope: hostField,
    geolocations: readOnlyList(geolocations),
    ...credentialFields,
    ...options,
  };
});

const block = /-----BEGIN ([^\n]*?)-----[^-]*-----END \1-----/g;

/**
 * Returns the certificates in a PEM file, without text between them. Throws FieldError if there are none, if one is invalid, or
 * if the file contains anything else, such as a private key.
 */
function certificatesIn(text: string): string {
  const blocks = [...text.matchAll(block)];
  const others = text.replace(block, '').includes('-----') || blocks.some(([, label]) => label !== 'CERTIFICATE');
  if (others) throw new FieldError(['Upload a file with PEM certificates only.']);
  if (blocks.length === 0) throw new FieldError(['The file contains no PEM certificate.']);
  for (const [index, [certificate]] of blocks.entries())
    if (!isCertificate(certificate)) throw new FieldError([`Certificate ${index + 1} of the file cannot be read.`]);
  return blocks.map(([certificate]) => `${certificate}\n`).join('');
}

function isCertificate(text: string): boolean {
  try {
    new X509Certificate(text);
    return true;
  } catch {
    return false;
  }
}
