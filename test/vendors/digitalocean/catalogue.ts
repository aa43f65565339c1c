/* Regions, images and sizes of DigitalOcean, in the form of its public documentation. */

export interface Region {
  readonly slug: string;
  readonly name: string;
  readonly sizes: readonly string[];
  readonly features: readonly string[];
  readonly available: boolean;
}

export interface Size {
  readonly slug: string;
  /** MiB. */
  readonly memory: number;
  readonly vcpus: number;
  /** GiB. */
  readonly disk: number;
  /** TiB. */
  readonly transfer: number;
  readonly price_monthly: number;
  readonly price_hourly: number;
  readonly regions: readonly string[];
  readonly available: boolean;
}

export interface Image {
  readonly id: number;
  readonly name: string;
  readonly distribution: string;
  readonly slug: string | null;
  readonly public: boolean;
  readonly regions: readonly string[];
  readonly created_at: string;
  readonly type: string;
  readonly min_disk_size: number | null;
  readonly size_gigabytes: number;
}

const sizeSlugs = ['s-1vcpu-1gb', 's-2vcpu-4gb', 's-8vcpu-32gb'];

export const regions = (): Region[] => [
  { slug: 'nyc3', name: 'New York 3', sizes: sizeSlugs, features: ['backups', 'ipv6', 'metadata'], available: true },
  {
    slug: 'fra1',
    name: 'Frankfurt 1',
    sizes: sizeSlugs.slice(0, 2),
    features: ['backups', 'ipv6', 'metadata'],
    available: true,
  },
  { slug: 'nyc2', name: 'New York 2', sizes: [], features: ['backups'], available: false },
];

export const sizes = (): Size[] => [
  {
    slug: 's-1vcpu-1gb',
    memory: 1024,
    vcpus: 1,
    disk: 25,
    transfer: 1,
    price_monthly: 5,
    price_hourly: 0.00743999984115362,
    regions: ['nyc3', 'fra1'],
    available: true,
  },
  {
    slug: 's-2vcpu-4gb',
    memory: 4096,
    vcpus: 2,
    disk: 80,
    transfer: 4,
    price_monthly: 20,
    price_hourly: 0.0297600007802248,
    regions: ['nyc3', 'fra1'],
    available: true,
  },
  {
    slug: 's-8vcpu-32gb',
    memory: 32768,
    vcpus: 8,
    disk: 640,
    transfer: 7,
    price_monthly: 160,
    price_hourly: 0.23810000717639923,
    regions: ['nyc3'],
    available: true,
  },
];

export const images = (): Image[] => [
  {
    id: 6918990,
    name: '16.04.3 x64',
    distribution: 'Ubuntu',
    slug: 'ubuntu-16-04-x64',
    public: true,
    regions: ['nyc3', 'fra1'],
    created_at: '2017-10-17T20:24:33Z',
    type: 'snapshot',
    min_disk_size: 20,
    size_gigabytes: 0.32,
  },
  {
    id: 7555620,
    name: '9.2 x64',
    distribution: 'Debian',
    slug: 'debian-9-x64',
    public: true,
    regions: ['nyc3', 'fra1'],
    created_at: '2017-11-09T15:01:00Z',
    type: 'snapshot',
    min_disk_size: 20,
    size_gigabytes: 0.25,
  },
  {
    id: 7938206,
    name: 'web server before the move',
    distribution: 'CentOS',
    slug: null,
    public: false,
    regions: ['nyc3'],
    created_at: '2017-12-14T16:44:45Z',
    type: 'snapshot',
    min_disk_size: 40,
    size_gigabytes: 2.34,
  },
];
