// Caddy as a contestant of the bench: one thread of Go, no access log, as by default. It sets the X-Forwarded headers on its own.
import { commandVersion } from '../installed.ts'
import { folder, keep } from '../launch.ts'
import type { Peer } from '../peers.ts'

export const caddy: Peer = {
  name: 'caddy',
  refusal: 502,
  version: () => commandVersion('caddy', ['version']),
  prepare: async (port, origin) => ({
    file: 'caddy',
    args: ['run', '--adapter', 'caddyfile', '--config', keep('Caddyfile', config(port, origin))],
    env: { GOMAXPROCS: '1', HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder },
  }),
}

function config(port: number, origin: number): string {
  return `{
  admin off
  auto_https off
  log {
    output discard
  }
}
http://:${port} {
  bind 127.0.0.1
  reverse_proxy 127.0.0.1:${origin} {
    header_up Via "1.1 caddy"
    transport http {
      keepalive_idle_conns 128
      keepalive_idle_conns_per_host 128
    }
  }
}
`
}
