/** services.md 1 and 11: settings of single sign-on. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { loadConfig, printSetting } from '../../../../src/app/settings.ts';
import { type Config, ConfigError } from '../../../../src/kernel/config/config.ts';

const settings = suite('SAML settings');

const complete: Readonly<Record<string, string>> = {
  authentication_methods: 'SAML2',
  saml_cert_file: 'service.crt',
  saml_key_file: 'service.key',
  saml_idp_metadata_files: 'idp.xml',
  saml_attribute_mapping: '{"uid": ["username"], "mail": ["email"]}',
  login_completed_url: 'https://app.example.com/#/login/{token}/{method}/',
  login_failed_url: 'https://app.example.com/failed',
  logout_completed_url: 'https://app.example.com/bye',
  logout_failed_url: 'https://app.example.com/stay',
};

function rejection(options: Readonly<Record<string, string>>, input: Partial<Config> = {}): string {
  try {
    loadConfig({ options, input });
  } catch (error) {
    assert.instance(error, ConfigError);
    return (error as Error).message;
  }
  return assert.unreachable(`${JSON.stringify(options)} was accepted`) ?? '';
}

settings('reads a complete configuration', () => {
  const config = loadConfig({
    options: { ...complete, saml_idp_metadata_urls: 'https://a.example.com/m?x=1|a.crt, https://b.example.com/|b.crt' },
  });
  assert.equal(config.authentication_methods, ['SAML2']);
  assert.equal(config.saml_attribute_mapping, { uid: ['username'], mail: ['email'] });
  assert.equal(config.saml_idp_metadata_urls, [
    { url: 'https://a.example.com/m?x=1', cert_file: 'a.crt' },
    { url: 'https://b.example.com/', cert_file: 'b.crt' },
  ]);
  assert.is(
    printSetting('saml_idp_metadata_urls', config.saml_idp_metadata_urls),
    'https://a.example.com/m?x=1|a.crt,https://b.example.com/|b.crt',
  );
  assert.is(
    printSetting('saml_attribute_mapping', config.saml_attribute_mapping),
    '{"uid":["username"],"mail":["email"]}',
  );
});

settings('everything is optional and has its default without SAML2', () => {
  const {
    saml_allow_to_select_identity_provider,
    saml_create_unknown_user,
    saml_enable_single_logout,
    saml_link_existing_users,
    saml_idp_metadata_files,
    saml_idp_metadata_urls,
    login_completed_url,
  } = loadConfig();
  assert.equal(
    {
      saml_allow_to_select_identity_provider,
      saml_create_unknown_user,
      saml_enable_single_logout,
      saml_link_existing_users,
      saml_idp_metadata_files,
      saml_idp_metadata_urls,
      login_completed_url,
    },
    {
      saml_allow_to_select_identity_provider: true,
      saml_create_unknown_user: true,
      saml_enable_single_logout: false,
      saml_link_existing_users: false,
      saml_idp_metadata_files: [],
      saml_idp_metadata_urls: [],
      login_completed_url: null,
    },
  );
  assert.is(printSetting('saml_attribute_mapping', null), '');
});

settings('SAML2 requires its settings, and the error names the first missing one', () => {
  for (const name of [
    'saml_cert_file',
    'saml_key_file',
    'saml_attribute_mapping',
    'login_completed_url',
    'login_failed_url',
    'logout_completed_url',
    'logout_failed_url',
  ]) {
    assert.is(rejection({ ...complete, [name]: '' }), `TENANTRY_${name.toUpperCase()} must be set with SAML2`);
  }
  assert.is(
    rejection({ ...complete, saml_idp_metadata_files: '' }),
    'TENANTRY_SAML_IDP_METADATA_FILES or TENANTRY_SAML_IDP_METADATA_URLS must name an identity provider with SAML2',
  );
  loadConfig({
    options: { ...complete, saml_idp_metadata_files: '', saml_idp_metadata_urls: 'https://a.example.com/m|a.crt' },
  });
});

settings('rejects an unknown login method', () => {
  assert.is(
    rejection({ authentication_methods: 'SAML' }),
    '--authentication-methods must list LOCAL_SIGNIN or SAML2 or OIDC, but has "SAML"',
  );
});

settings('rejects mappings to rights and to fields that the service manages, from every source of settings', () => {
  const fields =
    'the fields that can be filled are username, full_name, native_name, job_title, email, phone_number, organization, civil_number, description, preferred_language, competence';
  for (const field of [
    'is_staff',
    'is_support',
    'is_active',
    'uuid',
    'id',
    'token_lifetime',
    'organization_approved',
    'registration_method',
    'date_joined',
    'agreement_date',
    'agree_with_policy',
    'password',
    'password_hash',
    'token',
    'constructor',
    '__proto__',
  ]) {
    const mapping = { uid: ['username'], x: [field] };
    assert.is(
      rejection({ saml_attribute_mapping: JSON.stringify(mapping) }),
      `TENANTRY_SAML_ATTRIBUTE_MAPPING must not fill "${field}": ${fields}`,
    );
    assert.is(
      rejection({}, { saml_attribute_mapping: mapping }),
      `TENANTRY_SAML_ATTRIBUTE_MAPPING must not fill "${field}": ${fields}`,
    );
  }
});

settings('a mapping is an object of lists, fills username, and fills each field once', () => {
  const denial = (text: string): string =>
    rejection({ saml_attribute_mapping: text }).replace(/^(TENANTRY_|--)\S+ /, '');
  for (const text of ['[]', '"uid"', '{"uid": "username"}', '{"uid": [1]}', '{"uid": null}', '1']) {
    assert.is(denial(text), 'must be a JSON object of lists of fields, such as {"mail": ["email"]}', text);
  }
  assert.match(denial('{uid'), /^must be JSON: /);
  assert.is(denial('{}'), 'must fill username from an attribute');
  assert.is(denial('{"mail": ["email"]}'), 'must fill username from an attribute');
  assert.is(denial('{"uid": ["username"], "eppn": ["username"]}'), 'must fill "username" from one attribute');
});

settings('tokens are sent only to a fixed address from the settings', () => {
  const denial = (text: string): string => rejection({ ...complete, login_completed_url: text });
  assert.is(denial('https://app.example.com/{method}'), '--login-completed-url must hold {token}');
  assert.is(denial('https://app.example.com/{token}'), '--login-completed-url must hold {method}');
  for (const text of [
    '/{token}/{method}',
    'javascript:{token}{method}',
    'ftp://app.example.com/{token}/{method}',
    'https://{token}.example.com/{method}',
    'https://{method}/{token}',
    'https://app.example.com:{token}/{method}',
  ]) {
    assert.is(denial(text), '--login-completed-url must be an http or https URL', text);
  }
  assert.is(
    denial('https://app.example.com/a b/{token}/{method}'),
    '--login-completed-url must be an http or https URL without blanks, other characters encoded',
  );
  assert.match(
    rejection({}, { ...loadConfig({ options: complete }), login_completed_url: 'https://app.example.com/' }),
    'login_completed_url must hold {token}',
  );
  assert.is(rejection({ ...complete, logout_failed_url: 'app' }), '--logout-failed-url must be an http or https URL');
});

settings('metadata on the web requires an http address and a certificate', () => {
  assert.is(
    rejection({ saml_idp_metadata_urls: 'https://a.example.com/' }),
    '--saml-idp-metadata-urls must list URL|certificate file, but has "https://a.example.com/"',
  );
  assert.is(
    rejection({ saml_idp_metadata_urls: 'file:///etc/passwd|a.crt' }),
    'TENANTRY_SAML_IDP_METADATA_URLS must list http or https URLs, but has "file:///etc/passwd"',
  );
  assert.is(
    rejection({ saml_idp_metadata_urls: 'https://a.example.com/|' }),
    'TENANTRY_SAML_IDP_METADATA_URLS must name the certificate that signs https://a.example.com/',
  );
});

settings.run();
