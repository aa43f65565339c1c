import { dirname, resolve } from 'node:path';
import { authorityOf } from '../../kernel/config/address.ts';
import type { Setup } from './setup.ts';

/** Quotes a word of a command line in a unit (systemd.syntax(7), systemd.service(5) "COMMAND LINES"). */
const quoteWord = (text: string): string => {
  const escaped = text.replace(/[\\"]/g, '\\$&').replaceAll('%', '%%').replaceAll('$', '$$$$');
  return /^[\w@%+=:,./-]+$/.test(text) ? escaped : `"${escaped}"`;
};

/** Escapes a path. Each path in a list must also be quoted. */
const path = (text: string): string => text.replaceAll('%', '%%');
const quotedPath = (text: string): string => `"${path(text).replace(/[\\"]/g, '\\$&')}"`;

/** Returns the command line that starts the server. */
function startCommand({ config, data, program }: Setup): string {
  const { admin_listen, audit_file, host, log_file, port, tls_cert_file: cert, tls_key_file: key } = config;
  const options = {
    '--data': data,
    '--host': host,
    '--port': String(port),
    ...(admin_listen !== null && { '--admin-listen': admin_listen }),
    ...(cert !== null && { '--tls-cert-file': resolve(cert) }),
    ...(key !== null && { '--tls-key-file': resolve(key) }),
    ...(log_file !== null && { '--log-file': resolve(log_file) }),
    ...(audit_file !== null && { '--audit-file': resolve(audit_file) }),
  };
  return [...program, 'serve', ...Object.entries(options).flat()].map(quoteWord).join(' ');
}

/** Returns a unit that starts and supervises the server, and lets it write only its data. */
export function systemdUnit(setup: Setup): string {
  const { admin, config, data, program } = setup;
  const { audit_file, log_file, port } = config;
  const folders = [log_file, audit_file].flatMap((file) => (file === null ? [] : [dirname(resolve(file))]));
  const writable = [...new Set([data, ...folders])];
  const isAtHome = [...program, ...writable].some((file) => /^\/(home|root|run\/user)\//.test(file));
  const health = admin ? `# Health and metrics: http://${authorityOf(admin)}/readyz, /metrics\n` : '';
  return `# /etc/systemd/system/tenantry.service
#   useradd --system --home-dir ${data} tenantry; install -d -o tenantry -g tenantry -m 0700 ${data}
${health}[Unit]
Description=Tenantry
Wants=network-online.target
After=network-online.target

[Service]
Type=notify
# The program systemd-notify sends the notifications.
NotifyAccess=all
WatchdogSec=30
User=tenantry
WorkingDirectory=${path(data)}
# More settings, one TENANTRY_NAME=value per line. The file is optional.
EnvironmentFile=-/etc/tenantry.env
ExecStart=${startCommand(setup)}
# Reloads the certificate and reopens the log and audit files.
ExecReload=/bin/kill -HUP $MAINPID
Restart=on-failure
RestartSec=2
TimeoutStopSec=30
LimitNOFILE=65536
UMask=0077
${port > 0 && port < 1024 ? 'AmbientCapabilities=CAP_NET_BIND_SERVICE\nCapabilityBoundingSet=CAP_NET_BIND_SERVICE' : 'CapabilityBoundingSet='}
NoNewPrivileges=yes
ProtectSystem=strict
ReadWritePaths=${writable.map(quotedPath).join(' ')}
ProtectHome=${isAtHome ? 'no' : 'yes'}
PrivateTmp=yes
PrivateDevices=yes
ProtectKernelTunables=yes
ProtectKernelModules=yes
ProtectControlGroups=yes
RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK
RestrictNamespaces=yes
RestrictSUIDSGID=yes
LockPersonality=yes
SystemCallArchitectures=native

[Install]
WantedBy=multi-user.target
`;
}
