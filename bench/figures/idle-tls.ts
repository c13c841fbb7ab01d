// The memory of connections that have made one request each and stay open, for the bench and bench/micro/tls/idle.ts.
import { once } from 'node:events'
import { connect as connectPlainly, type Socket } from 'node:net'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { connect, createSecureContext } from 'node:tls'
import { freePort } from '../../test/help/free-port.ts'
import { programIn, ROOT } from '../load/installed.ts'
import { emptyFolder, keep, launch } from '../load/launch.ts'
import { residentMemory } from '../load/proc.ts'
import { identityFiles } from '../load/tls.ts'
import type { Measure } from './figures.ts'

export interface IdleOptions {
  /** Connections; the limit of open files must allow twice as many. */
  readonly count: number
  readonly isTls: boolean
  /** Requests that come before. */
  readonly warmUp: number
  /** The path of a program in this tree; undefined for what `npm start` starts. */
  readonly program: string | undefined
}

/** What idle connections take: resident MiB with the first of them and with all, and KiB of each that came between. */
export interface IdleMemory {
  readonly before: number
  readonly after: number
  readonly each: number
}

/** Connections that come before the others. */
export const first = 500
/** Ms behind the start in which more code is loaded. */
const settling = 3_000
/** Clients that connect at once. */
const atOnce = 50

const [usual, quick] = [5_000, 2_000]

/** Measures connections over TLS. */
export const measureIdleTls: Measure = async (peers, _origin, isQuick) => {
  if (!peers.has('gatehouse')) return {}
  const count = isQuick ? quick : usual
  const { each } = await measureIdle({ count, isTls: true, warmUp: 0, program: undefined })
  return { idleTls: { value: each } }
}

export async function measureIdle({ count, isTls, warmUp, program }: IdleOptions): Promise<IdleMemory> {
  const port = await freePort()
  const path = keep('idle.yaml', config(port, await freePort(), count, isTls))
  const server = await launch('gatehouse idle', port, {
    file: process.execPath,
    args: [program === undefined ? programIn(undefined) : join(ROOT, program), 'start', '--config', path],
    env: { GATEHOUSE_DATA: emptyFolder() },
  })
  const clients = new IdleClients(port, isTls)
  try {
    // What the first connections make once, and what is loaded behind the start, is no part of those that follow.
    await clients.growTo(first)
    for (let left = Math.ceil(warmUp / first); left > 0; left--) await clients.askAll()
    await setTimeout(settling)
    const before = residentMemory(server.pid)
    await clients.growTo(count)
    const after = residentMemory(server.pid)
    return { before, after, each: ((after - before) * 1024) / (count - first) }
  } finally {
    clients.close()
    await server.stop()
  }
}

function config(port: number, admin: number, count: number, isTls: boolean): string {
  return `workers: 0
listen: [{ address: '127.0.0.1:${port}', tls: ${isTls} }]
${isTls ? certificates() : ''}
admin: 127.0.0.1:${admin}
client: { connections: ${count + 1_000}, connections_per_address: off, keep_alive: 1h }
zones: [{ hosts: ['127.0.0.1'], routes: [] }]
`
}

function certificates(): string {
  const { certificate, key } = identityFiles()
  return `tls: { certificates: [{ certificate: 'file:${certificate}', key: 'file:${key}' }] }`
}

class IdleClients {
  readonly #port: number
  readonly #isTls: boolean
  readonly #secureContext = createSecureContext({})
  readonly #open: Socket[] = []

  constructor(port: number, isTls: boolean) {
    this.#port = port
    this.#isTls = isTls
  }

  /** Opens connections until there are so many. */
  async growTo(total: number): Promise<void> {
    let begun = this.#open.length
    const connectOn = async () => {
      while (begun++ < total) this.#open.push(await this.#visit())
    }
    await Promise.all(Array.from({ length: atOnce }, connectOn))
  }

  async askAll(): Promise<void> {
    await Promise.all(this.#open.map(ask))
  }

  close(): void {
    for (const socket of this.#open) socket.destroy()
  }

  async #visit(): Promise<Socket> {
    const where = { host: '127.0.0.1', port: this.#port }
    const socket = this.#isTls
      ? connect({ ...where, secureContext: this.#secureContext, servername: '', rejectUnauthorized: false })
      : connectPlainly(where)
    await once(socket, this.#isTls ? 'secureConnect' : 'connect')
    await ask(socket)
    return socket
  }
}

async function ask(socket: Socket): Promise<void> {
  socket.write('GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n')
  await once(socket, 'data')
}
