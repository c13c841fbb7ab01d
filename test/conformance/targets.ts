// What can be tried: Gatehouse, and other proxies as Debian has them, each in front of the same origin, on loopback.

import { readFileSync } from 'node:fs'
import { freePort } from '../help/free-port.ts'
import { commandVersion, packageVersion, programIn, ROOT } from '../../bench/load/installed.ts'
import { type Command, emptyFolder, folder, keep, launch } from '../../bench/load/launch.ts'
import { selfSigned } from '../../src/process/demo/self-signed.ts'

/** Where each protocol is spoken; some servers take HTTP/1.1 and HTTP/2 without TLS on one port. */
export interface Ports {
  readonly http1: number
  readonly h2c: number
  readonly tls: number
}

interface Kind {
  version(): string | null
  /** Whether HTTP/2 without TLS needs a port of its own. */
  readonly splitsPorts?: boolean
  command(ports: Ports, behind: Behind): Promise<Command>
}

/** What a target is in front of: ports of loopback by the paths that lead there, and the version of HTTP to speak. */
export interface Behind {
  readonly routes: readonly { readonly path: string; readonly port: number }[]
  readonly version: 1 | 2
}

export const targetNames = ['gatehouse', 'nginx', 'haproxy', 'caddy'] as const
export type TargetName = (typeof targetNames)[number]

/** Files of a certificate for the site and of its key, in PEM. */
function identityFiles(): { readonly certificate: string; readonly key: string } {
  const { cert, key } = selfSigned('site.test')
  return { certificate: keep('site.pem', cert), key: keep('site.key', key) }
}

/** How many bytes a header section may have: more than the largest case. */
const headerRoom = 65_536

const kinds: Readonly<Record<TargetName, Kind>> = {
  gatehouse: {
    version: () => packageVersion(ROOT),
    async command({ http1, tls }, { routes, version }) {
      const { certificate, key } = identityFiles()
      const http = version === 2 ? ', http: h2c' : ''
      const config = `listen:
  - { address: '127.0.0.1:${http1}', h2c: true }
  - { address: '127.0.0.1:${tls}', tls: true }
tls: { certificates: [{ certificate: 'file:${certificate}', key: 'file:${key}' }] }
admin: 127.0.0.1:${await freePort()}
log: { access: false }
client: { header_timeout: 1m }
pools:
${routes.map(({ port }) => `  origin-${port}: { origins: ['http://127.0.0.1:${port}']${http} }\n`).join('')}zones:
  - hosts: [site.test]
    default: true
    routes:
${routes.map(({ path, port }) => `      - { path: ${path}, pool: origin-${port} }\n`).join('')}`
      return {
        file: process.execPath,
        args: [programIn(undefined), 'start', '--config', keep('conformance.yaml', config)],
        env: { GATEHOUSE_DATA: emptyFolder() },
      }
    },
  },
  nginx: {
    version: () => commandVersion('nginx', ['-v']),
    splitsPorts: true,
    async command({ http1, h2c, tls }, { routes, version }) {
      if (version === 2) throw new Error('nginx does not speak HTTP/2 to origins')
      const { certificate, key } = identityFiles()
      const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
      const config = `worker_processes 1;
daemon off;
pid conformance.pid;
error_log stderr crit;
events { worker_connections 4096; }
http {
  access_log off;
  ${temporary.map(name => `${name}_temp_path conformance-${name};`).join('\n  ')}
  map $http_upgrade $connection_upgrade { default upgrade; '' ''; }
  server {
    listen 127.0.0.1:${http1};
    listen 127.0.0.1:${h2c} http2;
    listen 127.0.0.1:${tls} ssl http2;
    ssl_certificate ${certificate};
    ssl_certificate_key ${key};
    large_client_header_buffers 4 ${headerRoom};
    client_max_body_size 100m;
    proxy_http_version 1.1;
    proxy_request_buffering off;
    proxy_buffering off;
    proxy_set_header Host $http_host;
    proxy_set_header Upgrade $http_upgrade;
    proxy_set_header Connection $connection_upgrade;
${routes.map(({ path, port }) => `    location ${path} { proxy_pass http://127.0.0.1:${port}; }\n`).join('')}  }
}
`
      return { file: 'nginx', args: ['-p', folder, '-e', 'stderr', '-c', keep('conformance.conf', config)] }
    },
  },
  haproxy: {
    version: () => commandVersion('haproxy', ['-v']),
    async command({ http1, tls }, { routes, version }) {
      const { certificate, key } = identityFiles()
      const both = keep('conformance.pem', readFileSync(certificate, 'utf8') + readFileSync(key, 'utf8'))
      const config = `global
  nbthread 1
  tune.bufsize ${headerRoom}
defaults
  mode http
  http-reuse always
  timeout connect 5s
  timeout client 30s
  timeout server 30s
frontend site
  bind 127.0.0.1:${http1}
  bind 127.0.0.1:${tls} ssl crt ${both} alpn h2,http/1.1
${routes.map(({ path, port }) => `  use_backend origin-${port} if { path_beg ${path} }\n`).join('')}  default_backend origin-${routes[0]!.port}
${routes.map(({ port }) => `backend origin-${port}\n  server origin 127.0.0.1:${port}${version === 2 ? ' proto h2' : ''}\n`).join('')}`
      return { file: 'haproxy', args: ['-db', '-f', keep('conformance.cfg', config)] }
    },
  },
  caddy: {
    version: () => commandVersion('caddy', ['version']),
    async command({ http1, tls }, { routes, version }) {
      const { certificate, key } = identityFiles()
      const scheme = version === 2 ? 'h2c://' : ''
      const site = `bind 127.0.0.1
${routes.map(({ path, port }) => `  reverse_proxy ${path}* ${scheme}127.0.0.1:${port} {\n    flush_interval -1\n  }\n`).join('')}`
      const config = `{
  admin off
  auto_https off
  log {
    output discard
  }
  servers {
    protocols h1 h2 h2c
  }
}
http://:${http1} {
  ${site}
}
https://:${tls} {
  tls ${certificate} ${key}
  ${site}
}
`
      return {
        file: 'caddy',
        args: ['run', '--adapter', 'caddyfile', '--config', keep('Caddyfile', config)],
        env: { HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder },
      }
    },
  },
}

export interface Target {
  readonly name: TargetName
  readonly version: string | null
  readonly ports: Ports
  stop(): Promise<void>
}

/** Starts a proxy; throws if it is not installed. */
export async function startTarget(name: TargetName, behind: Behind): Promise<Target> {
  const { version, splitsPorts = false, command } = kinds[name]
  const [http1, tls] = [await freePort(), await freePort()]
  const ports = { http1, h2c: splitsPorts ? await freePort() : http1, tls }
  const running = await launch(name, http1, await command(ports, behind))
  return { name, version: version(), ports, stop: () => running.stop() }
}
