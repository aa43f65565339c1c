/** Decorative Lucide icons. They are hidden from screen readers, because text always accompanies them. */
import { h, type JSX } from 'preact';
import { ownValue } from '../item.ts';
import lucide from './lucide.json' with { type: 'json' };

/** A Lucide icon: the elements inside its `svg`. */
type Elements = readonly (readonly [tag: string, attributes: Readonly<Record<string, string | number>>])[];

/** Icons by name: pages, object types, actions, tones and severities. */
const icons: Readonly<Record<string, keyof typeof lucide>> = {
  home: 'House',
  customers: 'Building2',
  projects: 'Folder',
  resources: 'Server',
  events: 'Activity',
  alerts: 'TriangleAlert',
  'service-settings': 'Plug',
  services: 'Plug',
  'user-invitations': 'Mail',
  hooks: 'Bell',
  'hooks-web': 'Webhook',
  'hooks-email': 'Mail',
  'hooks-push': 'Smartphone',
  users: 'Users',
  keys: 'Key',
  sessions: 'Lock',
  statistics: 'ChartColumn',
  operation: 'Wrench',
  all: 'Braces',
  documentation: 'BookOpen',
  backups: 'Database',
  quotas: 'Gauge',
  jobs: 'Clock',
  outbox: 'Send',
  'customer-permissions': 'ShieldCheck',
  'project-permissions': 'ShieldCheck',

  machine: 'Server',
  volume: 'HardDrive',
  snapshot: 'Camera',
  cloud: 'Cloud',
  network: 'Network',
  shield: 'Shield',
  application: 'Box',
  database: 'Database',
  repository: 'GitBranch',
  issue: 'Ticket',
  flavor: 'Cpu',
  image: 'Layers',
  user: 'User',

  menu: 'Menu',
  search: 'Search',
  help: 'CircleQuestionMark',
  appearance: 'SunMoon',
  light: 'Sun',
  dark: 'Moon',
  language: 'Globe',
  keyboard: 'Keyboard',
  leave: 'LogOut',
  dismiss: 'X',
  more: 'Ellipsis',
  expand: 'ChevronDown',
  next: 'ChevronRight',
  switch: 'ChevronsUpDown',
  ascending: 'ArrowUp',
  descending: 'ArrowDown',
  copy: 'Copy',
  external: 'ExternalLink',
  columns: 'Columns3',
  filter: 'ListFilter',
  offline: 'WifiOff',
  simulated: 'FlaskConical',
  place: 'MapPin',
  audit: 'ShieldCheck',

  create: 'Plus',
  edit: 'Pencil',
  update: 'Pencil',
  change: 'Pencil',
  delete: 'Trash',
  remove: 'Trash',
  destroy: 'Trash',
  revoke: 'X',
  unlink: 'Unlink',
  cancel: 'X',
  reject: 'X',
  start: 'Play',
  stop: 'Square',
  restart: 'RotateCw',
  redeliver: 'RotateCw',
  pull: 'RefreshCw',
  sync: 'RefreshCw',
  download: 'Download',
  send: 'Send',
  test: 'Send',
  acknowledge: 'Check',
  close: 'CircleCheck',
  invite: 'UserPlus',
  attach: 'Link',
  detach: 'Unlink',
  extend: 'ArrowRight',
  restore: 'Undo2',
  change_flavor: 'Cpu',
  password: 'Key',

  good: 'CircleCheck',
  bad: 'CircleX',
  busy: 'Clock',
  warn: 'TriangleAlert',
  idle: 'Circle',
  error: 'CircleX',
  warning: 'TriangleAlert',
  info: 'Info',
  problem: 'CircleAlert',
};

/** Whether an icon with this name exists. */
export const hasIcon = (name: string): boolean => Object.hasOwn(icons, name);

/** Renders an icon by name, or nothing if there is none. `size` defaults to 16 px. */
export function Icon({ name, size }: { readonly name: string; readonly size?: 'sm' | 'lg' }): JSX.Element | null {
  const icon = ownValue(icons, name.toLowerCase());
  if (!icon) return null;
  // TypeScript does not infer tuples from JSON.
  const parts = lucide[icon] as unknown as Elements;
  return (
    <svg class={size ? `icon ${size}` : 'icon'} viewBox="0 0 24 24" aria-hidden="true" focusable="false">
      {parts.map(([tag, attributes]) => h(tag, attributes))}
    </svg>
  );
}

/** The product logo. */
export const Logo = (): JSX.Element => (
  <svg viewBox="0 0 24 24" aria-hidden="true" focusable="false">
    <rect x="1" y="1" width="22" height="22" rx="6" fill="currentColor" />
    <path d="M6 7.5h12M12 7.5v10" stroke="#fff" stroke-width="2.6" stroke-linecap="round" />
    <path d="M7 12.5v5M17 12.5v5" stroke="#fff" stroke-width="2.6" stroke-linecap="round" opacity=".55" />
  </svg>
);
