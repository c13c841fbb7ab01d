// An origin that does on the wire exactly what a test says, keeps what it received, and takes nothing that strays.

import assert from 'node:assert/strict'
import { EventEmitter, once } from 'node:events'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import type { TestContext } from 'node:test'
import { createServer as createTlsServer } from 'node:tls'
import { selfSigned } from '../../src/process/demo/self-signed.ts'
import { systemPorts } from './free-port.ts'
import { Ended, type Message, Wire } from './raw.ts'

/** What an origin does with one connection; `nth` counts them from 0. */
export type Script = (wire: Wire, nth: number) => unknown

/** What is answered to a request: the bytes, or nothing where the wire was served by hand. */
export type Respond = (
  request: Message,
  wire: Wire,
) => string | Buffer | undefined | Promise<string | undefined>

export class Origin {
  readonly port: number
  readonly wires: Wire[] = []
  /** The requests that it read whole, over all connections. */
  readonly requests: Message[] = []
  readonly #server: Server
  /** With those that never finish a handshake. */
  readonly #sockets: Socket[] = []
  readonly #news = new EventEmitter()

  constructor(server: Server) {
    this.#server = server
    server.on('connection', (socket: Socket) => this.#sockets.push(socket))
    this.port = (server.address() as AddressInfo).port
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`
  }

  get bytesReceived(): number {
    return this.wires.reduce((sum, wire) => sum + wire.bytesReceived, 0)
  }

  /** Gives the nth connection, from 0, as soon as it is there. */
  async wire(nth = 0): Promise<Wire> {
    while (this.wires.length <= nth) await once(this.#news, 'connection')
    return this.wires[nth]!
  }

  /** Stops listening, and hangs up: where it was there is nobody, so its port must be one that nobody else gets. */
  goDown(): Promise<void> {
    assert.ok(this.port < systemPorts, 'an origin that goes down has a free port of its own')
    return this.close()
  }

  async close(): Promise<void> {
    const closed = once(this.#server, 'close')
    this.#server.close()
    this.hangUp()
    await closed
  }

  /** Closes all connections. */
  hangUp(): void {
    for (const { socket } of this.wires) socket.destroy()
    for (const socket of this.#sockets) socket.destroy()
  }

  accept(wire: Wire): void {
    this.wires.push(wire)
    this.#news.emit('connection')
  }
}

/** Starts an origin that follows a script on each connection, on a port that the system chooses unless one is given. */
export async function startOrigin(
  t: TestContext,
  script: Script,
  port = 0,
  host = '127.0.0.1',
): Promise<Origin> {
  const server = createServer({ allowHalfOpen: true, noDelay: true })
  server.listen(port, host)
  return play(t, server, 'connection', script)
}

/** Starts an origin behind TLS, with a certificate that nobody signed, that follows a script on each connection. */
export async function startTlsOrigin(t: TestContext, script: Script): Promise<Origin> {
  const server = createTlsServer({ ...selfSigned('localhost'), allowHalfOpen: true })
  server.on('tlsClientError', () => {})
  server.listen(0, '127.0.0.1')
  return play(t, server, 'secureConnection', script)
}

/** Plays the script on each connection of a server that is about to listen. */
async function play(t: TestContext, server: Server, event: string, script: Script): Promise<Origin> {
  await once(server, 'listening')
  const origin = new Origin(server)
  server.on(event, (socket: Socket) => {
    const wire = new Wire(socket)
    origin.accept(wire)
    follow(script, wire, origin.wires.length - 1)
  })
  t.after(() => {
    server.close()
    origin.hangUp()
  })
  return origin
}

/** Starts an origin that reads each request whole, keeps it, and answers; the test fails where bytes stray behind a request that is not answered yet, or behind the last. */
export async function startResponder(
  t: TestContext,
  respond: Respond | string,
  port = 0,
  host = '127.0.0.1',
): Promise<Origin> {
  const strays: string[] = []
  const answered = new Set<Wire>()
  const look = ({ stray }: Wire) => stray !== '' && strays.push(stray)
  t.after(() => {
    answered.forEach(look)
    assert.deepEqual(strays, [], 'nothing strays behind a request')
  })
  const origin = await startOrigin(t, answerAll, port, host)
  async function answerAll(wire: Wire): Promise<void> {
    for (;;) {
      const request = await wire.request()
      origin.requests.push(request)
      answered.delete(wire)
      look(wire)
      const answer = typeof respond === 'string' ? respond : await respond(request, wire)
      if (answer === undefined) continue
      look(wire)
      answered.add(wire)
      await wire.send(answer)
    }
  }
  return origin
}

/** The last port that was given for dead. */
let deadPort = 0

/** Returns where nobody listens, and nobody will: a port that was let go might be the next test's. */
export function deadOrigin(): { readonly port: number; readonly url: string } {
  deadPort = (deadPort % 6) + 1
  return { port: deadPort, url: `http://127.0.0.1:${deadPort}` }
}

/** Writes a whole answer with its length. */
export function ok(body = '', ...fields: string[]): string {
  return `${['HTTP/1.1 200 OK', ...fields, `Content-Length: ${body.length}`].join('\r\n')}\r\n\r\n${body}`
}

/** Closes the connection behind the script; one that ends in the middle of it has simply ended it. */
async function follow(script: Script, wire: Wire, nth: number): Promise<void> {
  try {
    await script(wire, nth)
  } catch (error) {
    if (!(error instanceof Ended)) throw error
  }
  wire.socket.destroySoon()
}
