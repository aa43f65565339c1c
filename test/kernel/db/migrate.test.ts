/** Upgrades of the schema. */
import { readdirSync } from 'node:fs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { hashOf, migrate } from '../../../src/kernel/db/migrate.ts';
import { sql } from '../../../src/kernel/db/sql.ts';
import { SqliteDatabase } from '../../../src/kernel/db/sqlite-database.ts';
import { embeddedMigrations } from '../../../src/kernel/native/embedded.ts';

const migrations = suite('migrations');
let db: SqliteDatabase;

migrations.before.each(() => {
  db = SqliteDatabase.open(':memory:');
});
migrations.after.each(() => db.close());

const files = readdirSync(new URL('../../../migrations', import.meta.url))
  .filter((name) => name.endsWith('.sql'))
  .sort();

migrations('an empty database gets every migration in order, once', () => {
  const applied = migrate(db);
  assert.equal(
    applied.map((name) => name.replace(/\.sql$/, '')),
    files.map((name) => name.replace(/\.sql$/, '')),
  );
  assert.is(db.pragma('user_version'), files.length);
  assert.equal(migrate(db), []);
});

migrations('numbers migrations without a gap, so that their number is the version', () => {
  assert.equal(
    files.map((name) => Number(name.slice(0, 4))),
    files.map((_, i) => i + 1),
  );
});

/** Digests of the text of every migration. A new migration adds a line; existing lines never change. */
const hashes: Readonly<Record<string, string>> = {
  '0001_accounts': 'a0c7855fcb9dc7e9a474fd4690f7ebfa6d71f4a2a6b7b9c158321c6d0ca0b9f6',
  '0002_organisations': 'a1627c62a683efc5b56d04fd22472d0f6f94db17ce5b5b3c663a068868bd8f28',
  '0003_quotas': 'e27548e5062df968f1b8147389f23d33c00379a0a28f5fc68072c0caf700ebde',
  '0004_events': '2f6ca76ed7ddea3748f56a08a082017ddc63dcdb9c2f7a0ef8469cd04f791733',
  '0005_services': '84ded592b057b0c3979107124759998b6e93953d919d8995d57393dbb676905b',
  '0006_alerts': '5869b61d9fc473ef17eaa6ee1c4fe8031a65962da8d54a30b534c5b7e92d7a58',
  '0007_hooks': 'ba47ee4c49f666c91afb9e6b621f7d3de6f0c3e9af24cebc065d847bf82e5156',
  '0008_resources': '8fb7ca3e39190c8b68023f8c01093304792328117fa8f8de917941d937a4e0b2',
  '0009_properties': '9853bb42c599e09a100c4ada8093752ab1418380eb886b6f3fe1998535c398db',
  '0010_jobs': '50b48ec3d7a1a51c421ec6910ddf57cebfa83fb6698e9228829e7bc1daf0e401',
  '0011_jira': '058932bd4f919ad3b32920de48edf00df44e385878e887ad86f62239a8692ddc',
  '0012_invitations': '2096876f29216b8efd02c6b80dc0c3ca0c67b26091a1434d4b573b9524dea691',
  '0013_saml': '61da20d42fbf7a6807ab73e8f0a3bbade0b3ce5814e1e284e7bb9ecdc4fd6a86',
  '0014_event_search': 'fa83b03be63c52add13b8ec44b9162362132302a65d0650c99ec3d49b2d75c7f',
  '0015_event_words_removal': 'c9c61921ad0e7225bba62b866a9eacb004375bce2127749e89905f7049399de2',
  '0016_active_roles': 'b21155ab3eedc0dda2abf8a7b02d6633338097defe4b112e270e82c42f6d0a6c',
  '0017_email_verified': '2d8c9b3956af2224e2643fcd2596e6a3b8a00176ace4ad4738363b196ee81c3d',
  '0018_invitation_secrets': 'b377e3093a0d1429d4cb19b38ec46ebb05e01f21266c5339f87b8a22b3e437d4',
  '0019_property_sets': '5a3d36efa1468008160f28e1f7b9572216b5c71fd224150377427ff38c72ed6a',
  '0020_digest_key': '315a0fcaf2289fd3cb1d79be7cb21798d44e9bb9edd4fb12f6ddcfbf990304d1',
  '0021_hook_confirmation': '0de4492f050994d67c4f7ed9d149f9c2acb52afd8840372e857e9a720023f237',
  '0022_deployment': '2a1025f7281f1d4b49f9fdc891a379f2600fa63e25a8c1d86f36f5fc46aaec90',
  '0023_gathered_mails': '5ffff7a6d2748e4a4e6c98f7f7350398d294509e5c1d17506ed62ccf9d064322',
  '0024_push_tokens': '0b3c1d3b2f566f29e04908d6d1c82a5336198a78a9977f87255451d690675c79',
  '0025_user_notices': 'c96488c76e3145a736e00ca63542397d077ed593384406fc21679359cecc45b1',
  '0026_password_resets': 'cde00682491f723e1e3c4ca055a80fee82085b0007107b64be52d7981a112547',
  '0027_job_actor': '34748eb927806cff8840e5469ec000914524f0e28048698f1f90301332944013',
  '0028_clock': '58fee18974e234dec02fe7282375db650ba699fa39a34851fcbfcd71d1eb0180',
  '0029_backend_names': 'ccade773bf2371564f88843c4dd8112ac4ce16f34119c4249718835e06078ffc',
  '0030_backend_members': '56c39168c905b01d04df229f3ea2ebe6086fd298d7910b6ec887f2f67b46eb64',
  '0031_replication': '645a6fcdaa0c6c576b7a64e8bd6d22dcd248d69ce8fd03d3b898128a3b53b4fb',
  '0032_operation': '2f98a1d499d8ea728653fe31f41b8d7f26732becdfc41704f6c2eb4e32fb1f08',
  '0033_delivery_attempts': '8a73b47b7af58908ce1a3391c041322dcb2e7dd8a887f24a42aa7896948a4aff',
  '0034_sessions': '5adee128ee21f5383062f9956071bc42b16b44d357d8a9a3ad4def16067d3421',
  '0035_monitoring_history': '355d0e7812c5b72b178c2ebf6e57af61048bf2bc987c4ade79522599a4458cf5',
  '0036_restorations': '3e64b2e1c928345addbd2dce97f75c7d22174ae6a058ca991bd46e720aa4b213',
  '0037_invitation_links': '59359d7ec90b38597c00fddcaa339438d7076d7061ce99c1508f5b5206a64217',
  '0038_email_domains': '356508b17fb86c618bab889ff7a25c9aad6989d289e57ebdf40bad2e0bc41071',
  '0039_web_hook_options': '5d770e21cb63078a7706240a247308f38a5c43f2d411cc5e932db7f3e3876976',
  '0040_notifications': '6ce6bd8b11e445e88291f67934703eec5013a68b447bbabf0d1e3ed2b3a29d2d',
  '0041_backups': '466c4f480f52adc09144b829f043ac0e2ebb7f7c3f594280587c8c31a0898105',
  '0042_session_confirmation': '7f855ec7c45e31014345e3081f602c66259df1e2e7ca50404cb85eea11bd3a88',
  '0043_api_keys': '55c8d096080a76f686c66e50be47eee29dc233e0b958379b052637fb9c89388d',
  '0044_second_factors': 'dedcda94d3ab4c8b325cc9120ca452696831c2c777245136a6d5dc674894b5ec',
  '0045_kinds_of_notices': '5c9600f67f7c9cac658ab539312c2889838b1d46c436f709906b7d9d9f30dcb5',
  '0046_service_accounts': 'f8f83bb66d1952e0084799068f4e8491aaa84361cf68602d575dded9c09c245f',
  '0047_recovery_links': '282f50dc7b06e3e219a3912ecdf55a7c78af02515a10b919c180a500d0089071',
  '0048_api_key_bounds': 'e4d3c0cd20c4085c755070b528c432903e111642ba93c8d434b8c8fd1a4faa42',
  '0049_api_key_reminders': 'd85c980a61f6269bd704701786fcee067e0f9006324bf37748e6fd1b67809b89',
  '0050_oidc': 'f8b4f4aaf00c8eb1ecaeb7d2ebed1e7a86af02b41c96f8ec7f95d911c8ffc36f',
  '0051_audit': '0ea064d1e71ebd181de4e9383a046a3f7f5a55d8b1d19bf3d0d6a1bf475fd501',
  '0052_group_roles': '783395d7e7f300ea1240fd66df2df5bae0ab987de6acac407629b059f374d8bc',
  '0053_impersonation': '22dbe2d705229af24d64b7fdf69537d55b9137a008826c371b11c743d4d45274',
  '0054_audit_sinks': '8bbf9fe2a3efc80b11fd55d375cfaf855bbfa082f02cf062387ad74ab1581082',
  '0055_api_key_networks': 'd6cda0be52ed5dbb83162748fadf8005ae6a868d58f5d4dca14bd9c5d372e7cf',
  '0056_audit_keys': '46fd03fc025a451824f504a80575a20e377ef072cd01cf1f5bee3110f5c70fdc',
  '0057_oidc_logout': '73c147270639ae69bd6c31615626ca4dec261d1d34b9076c0d25cc0164762b05',
  '0058_audit_sink_heads': '4cb5599d8b6a1a119a96ddfdba05e5ed9a01147bf0ddd8e8e4dc191abf00d08f',
  '0059_passkey_challenges': '43d909992bdd22421fff6f2483f43f1850dd004995e652d434006221a0f11ae3',
  '0060_staff_networks': 'fcae7fed163c109d103fcee8fdaa3d60e63e85a8d5196354afc371878efd29c5',
  '0061_pending_sign_ons': '2b50ec19af43b586708f78944ce7e5774861251a6abcff01c2ad58e1e75f705c',
  '0062_oidc_failures': '85c1e20d3e809a6c8ea1796b8bb050a1cdf0189a26463a8a7407d336a186889d',
};

migrations('released migrations are never edited, because existing databases have applied them', () => {
  assert.equal(
    Object.fromEntries(embeddedMigrations().map((migration) => [migration.name, hashOf(migration)])),
    hashes,
  );
});

migrations('a database stores the digest of each migration, and is rejected if one differs', () => {
  migrate(db);
  assert.equal(
    db.all(sql`SELECT number, name, sha256 FROM migration ORDER BY number`),
    Object.entries(hashes).map(([name, sha256], i) => ({ number: i + 1, name, sha256 })),
  );
  db.script("UPDATE migration SET sha256 = 'other' WHERE number = 14");
  const message =
    "The database was made by an unreleased version: its migration 0014_event_search is not this version's";
  assert.throws(
    () => migrate(db),
    (error: Error) => error.message === message,
  );
});

migrations('rejects a database with a negative version', () => {
  migrate(db);
  db.script('PRAGMA user_version = -1');
  assert.throws(
    () => migrate(db),
    (error: Error) => error.message === 'The database has schema -1, which no version has: it is damaged',
  );
});

migrations('every foreign key has an index', () => {
  migrate(db);
  const tables = db.values<string>(
    sql`SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND name NOT LIKE 'sqlite_%'`,
  );
  for (const table of tables) {
    for (const column of db.values<string>(sql`SELECT "from" FROM pragma_foreign_key_list(${table})`)) {
      const indexed = db.values<string>(
        sql`SELECT ii.name FROM pragma_index_list(${table}) il, pragma_index_info(il.name) ii WHERE ii.seqno = 0`,
      );
      const isKey = db.value(sql`SELECT 1 FROM pragma_table_info(${table}) WHERE name = ${column} AND pk = 1`);
      assert.ok(isKey || indexed.includes(column), `${table}.${column}`);
    }
  }
});

migrations('rejects a database of another program', () => {
  db.script('PRAGMA application_id = 1');
  assert.throws(() => migrate(db), /^The database belongs to another program$/);
  assert.equal(db.values(sql`SELECT name FROM sqlite_schema`), []);
});

migrations('rejects a database with another schema and no application id', () => {
  db.script('PRAGMA user_version = 3');
  assert.throws(() => migrate(db), /^The database belongs to another program$/);
});

migrations('rejects a database of a newer version', () => {
  migrate(db);
  db.script('PRAGMA user_version = 9999');
  assert.throws(
    () => migrate(db),
    new RegExp(`^The database has schema 9999, newer than this version's ${files.length}: use a newer Tenantry$`),
  );
});

migrations('a failed migration leaves the previous version', () => {
  db.script('CREATE TABLE user (id INTEGER)');
  assert.throws(() => migrate(db), /^Migration 0001_\w+(\.sql)? failed: table user already exists$/);
  assert.is(db.pragma('user_version'), 0);
});

migrations('reports a disk failure during a migration that makes SQLite end the transaction', () => {
  const { script } = db;
  db.script = (text) => {
    script.call(db, text);
    if (!text.startsWith('--')) return;
    script.call(db, 'ROLLBACK');
    throw new Error('disk I/O error');
  };
  assert.throws(() => migrate(db), /^Migration 0001_accounts failed: disk I\/O error$/);
  assert.is(db.pragma('user_version'), 0);
});

migrations.run();
