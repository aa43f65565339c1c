#!/usr/bin/env node
/**
 * Fetches the prebuilt binary of the native package in the working directory from its releases. Exits with 1 if there is none
 * that this Node.js can load; the package then compiles itself. Implements the functions of the package of this name that
 * better-sqlite3 uses, with its npm settings: `build_from_source`, `NAME_binary_host`, `proxy` and `https_proxy`.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import { dirname, resolve, sep } from 'node:path';
import { connect } from 'node:tls';
import { gunzipSync } from 'node:zlib';

const idleMs = 30_000;
const maxRedirects = 5;
const { env } = process;

/** Returns the address of the archive with the binary for this platform and this Node.js. */
function archiveUrl({ name, repository, version }) {
  const { arch, platform, report, versions } = process;
  const libc = platform === 'linux' && !report.getReport().header.glibcVersionRuntime ? 'musl' : '';
  const setting = `npm_config_${name.replace(/\W/g, '_')}_binary_host`;
  const releases = `${repository.url.replace(/^(git\+)?(git|https):/, 'https:').replace(/\.git$/, '')}/releases/download`;
  const host = env[setting] ?? env[`${setting}_mirror`] ?? releases;
  return `${host}/v${version}/${name}-v${version}-node-v${versions.modules}-${platform}${libc}-${arch}.tar.gz`;
}

/** Connects to a host through the configured HTTP proxy. Returns undefined if there is none. */
async function tunnel({ hostname, port, protocol }) {
  const proxy =
    env.npm_config_https_proxy ||
    env.https_proxy ||
    env.HTTPS_PROXY ||
    env.npm_config_proxy ||
    env.http_proxy ||
    env.HTTP_PROXY;
  if (!proxy || proxy === 'null' || protocol !== 'https:') return undefined;
  const { hostname: host, port: proxyPort, username, password } = new URL(proxy);
  const login = Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`).toString('base64');
  const request = http.request({
    host,
    port: proxyPort || 80,
    method: 'CONNECT',
    path: `${hostname}:${port || 443}`,
    headers: username ? { 'proxy-authorization': `Basic ${login}` } : {},
    timeout: idleMs,
  });
  return new Promise((connected, rejected) => {
    request.on('connect', ({ statusCode }, socket) =>
      statusCode === 200
        ? connected(connect({ socket, servername: hostname }))
        : rejected(new Error(`the proxy answers ${statusCode}`)),
    );
    request.on('timeout', () => request.destroy(new Error('the proxy does not answer')));
    request.on('error', rejected).end();
  });
}

/** Fetches an address; follows redirects. */
async function download(address, redirects = 0) {
  const url = new URL(address);
  const socket = await tunnel(url);
  const response = await new Promise((answered, rejected) => {
    const options = { timeout: idleMs, ...(socket ? { createConnection: () => socket } : { agent: false }) };
    const request = (url.protocol === 'https:' ? https : http).get(url, options, answered);
    request.on('timeout', () => request.destroy(new Error(`${url.host} does not answer`))).on('error', rejected);
  });
  const { headers, statusCode } = response;
  if (statusCode !== 200) {
    response.destroy();
    const isRedirect = statusCode >= 300 && statusCode < 400 && headers.location && redirects < maxRedirects;
    if (isRedirect) return download(new URL(headers.location, url), redirects + 1);
    throw new Error(`${url.href} answers ${statusCode}`);
  }
  const chunks = [];
  for await (const chunk of response) chunks.push(chunk);
  return Buffer.concat(chunks);
}

const block = 512;

/** Returns the path and the bytes of the first .node file in a tar archive. */
function addonIn(archive) {
  const text = (from, length) => archive.toString('latin1', from, from + length).replace(/\0.*$/s, '');
  for (let at = 0; at + block <= archive.length && archive[at] !== 0; ) {
    const path = text(at, 100);
    const size = Number.parseInt(text(at + 124, 12), 8) || 0;
    const from = at + block;
    if (path.endsWith('.node')) return { path, bytes: archive.subarray(from, from + size) };
    at = from + Math.ceil(size / block) * block;
  }
  throw new Error('the archive contains no binary');
}

async function install() {
  const manifest = JSON.parse(readFileSync('package.json', 'utf8'));
  if (['true', manifest.name].includes(env.npm_config_build_from_source)) throw new Error('to be built from source');
  const { bytes, path } = addonIn(gunzipSync(await download(archiveUrl(manifest))));
  const file = resolve(path);
  if (!file.startsWith(resolve('build') + sep)) throw new Error(`the archive contains ${path}`);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, bytes);
  // Load it in another process: a binary that is damaged or for another platform may crash.
  if (spawnSync(process.execPath, ['-e', `require(${JSON.stringify(file)})`]).status === 0) return;
  rmSync(file);
  throw new Error('Node.js cannot load the binary');
}

try {
  await install();
} catch (error) {
  console.error(`No prebuilt binary is used: ${error.message}`);
  process.exitCode = 1;
}
