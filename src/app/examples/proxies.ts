import type { Setup } from './setup.ts';

/** Returns a comment with the settings that make the server trust a proxy on this machine. */
const settingsComment = ({ name }: Setup): string =>
  `# Set on the server: TENANTRY_TRUSTED_PROXIES=127.0.0.1,::1 and TENANTRY_BASE_URL=https://${name}\n`;

/** Maximum size of a body in MiB. Files for JIRA may exceed max_body_bytes. */
const maxBodyMib = ({ config }: Setup): number => Math.max(12, Math.ceil(config.max_body_bytes / 2 ** 20) + 1);

/** Returns a server block for nginx. */
export const nginxServer = (setup: Setup): string => `# /etc/nginx/conf.d/tenantry.conf
${settingsComment(setup)}server {
    listen 443 ssl;
    server_name ${setup.name};
    ssl_certificate     /etc/ssl/${setup.name}.pem;
    ssl_certificate_key /etc/ssl/${setup.name}.key;
    client_max_body_size ${maxBodyMib(setup)}m;

    location / {
        proxy_pass ${setup.upstream};
        proxy_http_version 1.1;
        proxy_set_header Host $http_host;
        proxy_set_header Connection "";
        proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
        proxy_set_header X-Forwarded-Proto $scheme;
        # The server trusts these headers of a proxy, so those of clients must not get through.
        proxy_set_header X-Forwarded-Host "";
        proxy_set_header X-Forwarded-Port "";
    }
}
`;

/** Returns a site for Caddy, which sets the forwarding headers itself and drops those from clients. */
export const caddySite = (setup: Setup): string => `# /etc/caddy/Caddyfile
${settingsComment(setup)}${setup.name} {
	reverse_proxy ${setup.upstream}
}
`;
