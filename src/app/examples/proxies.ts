import type { Setup } from './setup.ts';

/** What the server must be told, so that it believes a proxy on this machine. */
const told = ({ name }: Setup): string =>
  `# Tell the server of this proxy: TENANTRY_TRUSTED_PROXIES=127.0.0.1,::1 and TENANTRY_BASE_URL=https://${name}\n`;

/** The largest body that anybody may send, in MiB: files for JIRA are larger than what max_body_bytes bounds. */
const largestBody = ({ config }: Setup): number => Math.max(12, Math.ceil(config.max_body_bytes / 2 ** 20) + 1);

/** A server of nginx, to be included where its servers are. */
export const nginxServer = (setup: Setup): string => `# /etc/nginx/conf.d/tenantry.conf
${told(setup)}server {
    listen 443 ssl;
    server_name ${setup.name};
    ssl_certificate     /etc/ssl/${setup.name}.pem;
    ssl_certificate_key /etc/ssl/${setup.name}.key;
    client_max_body_size ${largestBody(setup)}m;

    location / {
        proxy_pass ${setup.upstream};
        proxy_http_version 1.1;
        proxy_set_header Host $http_host;
        proxy_set_header Connection "";
        proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
        proxy_set_header X-Forwarded-Proto $scheme;
        # The headers below are believed of a trusted proxy: what a client wrote must not get through.
        proxy_set_header X-Forwarded-Host "";
        proxy_set_header X-Forwarded-Port "";
    }
}
`;

/** A site of Caddy, which sets these headers by itself, and drops those of its clients. */
export const caddySite = (setup: Setup): string => `# /etc/caddy/Caddyfile
${told(setup)}${setup.name} {
	reverse_proxy ${setup.upstream}
}
`;
