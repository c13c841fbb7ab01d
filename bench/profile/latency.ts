// How long single requests take: each contestant is asked in turn, in short bursts on a connection of its own.
import { connect, type Socket } from 'node:net'
import { once } from 'node:events'
import { asText, type Call } from '../load/call.ts'

/** Whom to ask, and what. */
export interface Asked {
  readonly name: string
  readonly port: number
  readonly call: Call
}

/** Milliseconds of each request, in bursts. */
export type Bursts = readonly (readonly number[])[]

const endOfHead = '\r\n\r\n'
const lastChunk = '\r\n0\r\n\r\n'
const warmUpBursts = 20
const silenceLimit = 30_000

/** Times so many bursts of requests of each, one request at a time, everybody in turn in each burst. */
export async function timeRequests(
  asked: readonly Asked[],
  bursts: number,
  burst: number,
): Promise<Map<string, Bursts>> {
  const times = new Map<string, number[][]>(asked.map(({ name }) => [name, []]))
  const clients = asked.map(({ port, call }) => new SingleClient(port, call))
  await Promise.all(clients.map(client => client.open()))
  try {
    for (let round = -warmUpBursts; round < bursts; round++)
      for (const [at, client] of clients.entries()) {
        const taken: number[] = []
        while (taken.length < burst) taken.push(await client.ask())
        if (round >= 0) times.get(asked[at]!.name)!.push(taken)
      }
  } finally {
    for (const client of clients) client.close()
  }
  return times
}

/** A connection that asks one thing again and again, and wants 200 each time. */
class SingleClient {
  readonly #socket: Socket
  readonly #request: Buffer
  #settle: { resolve: (ms: number) => void; reject: (error: Error) => void } | null = null
  #began = 0
  #head = ''
  #left = -1
  /** The last bytes of a body in chunks. */
  #tail = ''

  constructor(port: number, call: Call) {
    this.#request = Buffer.from(asText(call), 'latin1')
    this.#socket = connect({ port, host: '127.0.0.1', noDelay: true })
    this.#socket.on('data', chunk => this.#read(chunk as Buffer))
    this.#socket.setTimeout(silenceLimit, () => this.#socket.destroy(new Error('no response came')))
    this.#socket.on('close', () => this.#settle?.reject(new Error('the connection was closed')))
    this.#socket.on('error', error => this.#settle?.reject(error))
  }

  async open(): Promise<void> {
    await once(this.#socket, 'connect')
  }

  close(): void {
    this.#settle = null
    this.#socket.destroy()
  }

  ask(): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#settle = { resolve, reject }
      this.#head = ''
      this.#left = -1
      this.#began = performance.now()
      this.#socket.write(this.#request)
    })
  }

  #read(chunk: Buffer): void {
    if (this.#left < 0) {
      this.#head += chunk.toString('latin1')
      const end = this.#head.indexOf(endOfHead)
      if (end < 0) return
      const body = this.#head.length - end - endOfHead.length
      const status = this.#head.slice(0, this.#head.indexOf('\r\n'))
      if (!status.startsWith('HTTP/1.1 200')) return this.#settle?.reject(new Error(status))
      this.#left = lengthOf(this.#head.slice(0, end)) - body
      this.#tail = this.#head.slice(end)
    } else {
      this.#left -= chunk.length
      if (Number.isNaN(this.#left)) this.#tail += chunk.toString('latin1')
    }
    this.#tail = this.#tail.slice(-lastChunk.length)
    if (Number.isNaN(this.#left) && this.#tail === lastChunk) this.#left = 0
    if (this.#left === 0) this.#settle?.resolve(performance.now() - this.#began)
  }
}

/** Returns what a head says of the length of its body; NaN where that is chunked. */
function lengthOf(head: string): number {
  return Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1])
}
