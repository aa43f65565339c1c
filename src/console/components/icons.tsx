/** Pictures beside words, of the icon set Lucide: they say nothing by themselves, and nothing to those who listen. */
import { h, type JSX } from 'preact';
import { ownValue } from '../own.ts';
import {
  Activity,
  Bell,
  Bug,
  Building,
  ChartColumn,
  Check,
  CircleCheck,
  CircleX,
  Clock,
  Download,
  type Icon as Elements,
  Folder,
  House,
  Info,
  Key,
  LayoutGrid,
  LogOut,
  Mail,
  Menu,
  Pencil,
  Play,
  Plug,
  Plus,
  RefreshCw,
  RotateCw,
  Search,
  Send,
  Server,
  Square,
  Trash,
  TriangleAlert,
  Users,
  Wrench,
  X,
} from './lucide.ts';

/** By places of the console, the last word of what an action does, tones of states and severities. */
const drawn: Readonly<Record<string, Elements>> = {
  home: House,
  customers: Building,
  projects: Folder,
  resources: Server,
  events: Activity,
  alerts: TriangleAlert,
  'service-settings': Plug,
  'user-invitations': Mail,
  hooks: Bell,
  users: Users,
  keys: Key,
  statistics: ChartColumn,
  operation: Wrench,
  all: LayoutGrid,
  menu: Menu,
  search: Search,
  leave: LogOut,
  dismiss: X,
  create: Plus,
  edit: Pencil,
  delete: Trash,
  remove: Trash,
  destroy: Trash,
  unlink: X,
  cancel: X,
  start: Play,
  stop: Square,
  restart: RotateCw,
  redeliver: RotateCw,
  pull: RefreshCw,
  sync: RefreshCw,
  download: Download,
  send: Send,
  test: Send,
  acknowledge: Check,
  close: CircleCheck,
  good: CircleCheck,
  bad: CircleX,
  busy: Clock,
  error: CircleX,
  warning: TriangleAlert,
  info: Info,
  debug: Bug,
};

/** The picture of a name, where there is one: for words beside it. */
export function Icon({ name }: { readonly name: string }): JSX.Element | null {
  const parts = ownValue(drawn, name.toLowerCase());
  if (!parts) return null;
  return (
    <svg class="icon" viewBox="0 0 24 24" aria-hidden="true" focusable="false">
      {parts.map(([tag, attributes]) => h(tag, attributes))}
    </svg>
  );
}
