import type { App } from '../../kernel/app.ts';
import { sql } from '../../kernel/db/sql.ts';
import { missingLease } from '../../kernel/durability/storage-error.ts';
import type { Driver, DriverSettings } from '../catalogue/driver.ts';
import { ProviderError } from '../catalogue/provider-error.ts';
import { isSimulated } from '../catalogue/simulation.ts';
import { VendorHttp, vendorAddressRule } from '../catalogue/vendor-http.ts';
import { SimulatorDriver } from '../providers/simulator/driver.ts';

interface Row {
  readonly id: number;
  readonly uuid: string;
  readonly type: string;
  readonly name: string;
  readonly backend_url: string | null;
  readonly username: string | null;
  readonly password: Uint8Array | null;
  readonly token: Uint8Array | null;
  readonly certificate: Uint8Array | null;
  readonly domain: string | null;
  readonly options: string;
  readonly secret_options: Uint8Array | null;
  readonly by_staff: number;
}

/** Settings as passed to a driver; undefined if they no longer exist. */
export function driverSettings({ db, secrets }: App, id: number): DriverSettings | undefined {
  const row = db.get<Row>(sql`SELECT * FROM service_settings WHERE id = ${id}`);
  if (!row) return undefined;
  const opened = (secret: Uint8Array | null): string | null =>
    secret === null ? null : secrets.open(secret, row.uuid);
  const { by_staff: byStaff, options, secret_options: secretOptions, ...plain } = row;
  return {
    ...plain,
    password: opened(row.password),
    token: opened(row.token),
    certificate: opened(row.certificate),
    options: { ...JSON.parse(options), ...(secretOptions && JSON.parse(secrets.open(secretOptions, row.uuid))) },
    mayBePrivate: byStaff === 1,
  };
}

/** The driver of settings: the simulator or the vendor's. Throws ProviderError if the simulator is not allowed. */
export function driverOf(app: App, settings: DriverSettings): Driver {
  const type = app.catalogue.type(settings.type);
  if (isSimulated(settings.backend_url)) {
    if (!app.config.simulator_enabled) throw new ProviderError('invalid', 'Simulation is switched off.');
    return new SimulatorDriver(app, type, settings);
  }
  if (!type.driver) throw new Error(`There is no driver for ${type.name} backends`);
  return type.driver(settings, vendorHttp(app, settings));
}

/** HTTP client of a driver: allows the addresses of these settings and redacts their secrets in messages. */
function vendorHttp({ config, db, log, resolve }: App, settings: DriverSettings): VendorHttp {
  const { certificate, mayBePrivate, password, token, uuid } = settings;
  return new VendorHttp({
    resolve,
    allows: vendorAddressRule(config.provider_allowed_networks, mayBePrivate),
    certificate,
    secrets: [password, token].filter((secret) => secret !== null),
    log: log.child({ settings: uuid }),
    pausedBy: () => missingLease(db.trouble),
  });
}
