// Sockets that systemd bound before this process started (sd_listen_fds(3)), and their listeners.

import { inheritedHandle, type SocketHandle } from '../../net/socket/listening-socket.ts'
import type { Config, Endpoint } from '../../config/model/config.ts'
import { isWildcard } from '../../config/resolve/listeners.ts'
import type { Inheritance } from './inheritance.ts'

const first = 3

interface Passed extends Endpoint {
  readonly handle: SocketHandle
  readonly fd: number
  readonly name: string
}

/** Removes systemd's sockets from the environment. Throws a sentence that names one without a use. */
export function activatedSockets(
  env: NodeJS.ProcessEnv,
  config: Pick<Config, 'listen' | 'admin'>,
): Inheritance | null {
  const { LISTEN_PID: pid, LISTEN_FDS: count, LISTEN_FDNAMES: names = '' } = env
  for (const name of ['LISTEN_PID', 'LISTEN_FDS', 'LISTEN_FDNAMES']) delete env[name]
  if (Number(pid) !== process.pid || !(Number(count) > 0)) return null
  const passed = Array.from({ length: Number(count) }, (_, i) =>
    take(first + i, names.split(':')[i] || 'unknown'),
  )
  try {
    return sort(passed, config)
  } catch (cause) {
    // A process that does not serve must be able to end.
    for (const { handle } of passed) handle.close()
    throw cause
  }
}

function sort(passed: readonly Passed[], config: Pick<Config, 'listen' | 'admin'>): Inheritance {
  const edge: Inheritance['edge'][number][] = []
  let admin: Inheritance['admin'] = null
  for (const socket of passed) {
    const { handle } = socket
    const listener = listenerOf(socket, config)
    if (listener === 'admin') {
      if (admin !== null) throw new Error(`${nameOf(socket)} is a second one for admin`)
      admin = { ...config.admin, at: { host: config.admin.host, port: socket.port }, handle }
    } else {
      const slot = edge.filter(one => one.listener === listener).length
      const { host, port } = config.listen[listener]!
      edge.push({ listener, host, port, slot, isAlone: true, handle })
    }
  }
  return { edge, admin, secret: null }
}

function take(fd: number, name: string): Passed {
  try {
    return { ...inheritedHandle(fd), fd, name }
  } catch {
    throw new Error(`systemd passed fd ${fd} (${name}), which is no TCP socket`)
  }
}

function listenerOf(socket: Passed, { listen, admin }: Pick<Config, 'listen' | 'admin'>): number | 'admin' {
  const [, number] = /^listen-(\d+)$/.exec(socket.name) ?? []
  if (number !== undefined && listen[Number(number) - 1] !== undefined) return Number(number) - 1
  if (socket.name === 'admin' || isAt(admin, socket)) return 'admin'
  const at = listen.findIndex(listener => isAt(listener, socket))
  if (at >= 0) return at
  throw new Error(
    `${nameOf(socket)} is for no address of listen or admin; FileDescriptorName= may name it admin, or listen-1 to listen-${listen.length}`,
  )
}

function isAt(endpoint: Endpoint, { host, port }: Passed): boolean {
  return endpoint.port === port && (endpoint.host === host || (isWildcard(endpoint.host) && isWildcard(host)))
}

function nameOf({ host, port, fd, name }: Passed): string {
  return `the socket that systemd passed for ${host.includes(':') ? `[${host}]` : host}:${port} (fd ${fd}, ${name})`
}
