// Clients of every kind, which note each request that fails and whose connection it was on. They do what well-behaved clients do: none repeats a request
// that may have been processed, and one that is told of an end connects again for its next.

import { once } from 'node:events'
import { Agent, type ClientRequest, type IncomingMessage, request } from 'node:http'
import { type ClientHttp2Session, connect as connectHttp2 } from 'node:http2'
import { Agent as TlsAgent, request as secureRequest } from 'node:https'
import type { Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { WebSocket } from 'ws'

/** Where the load goes. */
export interface Target {
  readonly port: number
  readonly securePort: number
}

export interface Failure {
  readonly kind: string
  readonly reason: string
  /** The port of the client; 0 where it had none yet. */
  readonly from: number
}

type Ask = (noted: (socket: Socket) => void) => Promise<void>

/** How long anything may take, in ms. */
const patience = 60_000
/** How long a stream lasts, in ms. */
const streamLife = 2_000
const uploaded = 256 * 1024
const mostTries = 5

export class MixedLoad {
  readonly failures: Failure[] = []
  /** What succeeded, by kind. */
  readonly counts: Record<string, number> = {}
  readonly #target: Target
  readonly #agents: (Agent | TlsAgent)[] = []
  readonly #sessions: ClientHttp2Session[] = []
  readonly #done: Promise<unknown>
  #isOver = false

  constructor(target: Target, clients = 2) {
    this.#target = target
    const each = () => [
      this.#keptAlive(),
      this.#connecting(),
      this.#connectingSecurely(),
      this.#multiplexed(),
      this.#streaming(),
      this.#uploading(),
      this.#webSocket(),
    ]
    this.#done = Promise.all(Array.from({ length: clients }, each).flat())
  }

  /** Lets each client finish what it does. */
  async stop(): Promise<void> {
    this.#isOver = true
    await this.#done
    for (const agent of this.#agents) agent.destroy()
    for (const session of this.#sessions) session.destroy()
  }

  /** Has a client ask again and again, a little apart, so that the gateway gets the processors too. */
  async #repeat(kind: string, ask: Ask): Promise<void> {
    this.counts[kind] = 0
    while (!this.#isOver) {
      let from = 0
      const noted = (socket: Socket) => {
        from = socket.localPort ?? from
      }
      try {
        await inTime(ask(noted))
        this.counts[kind]++
      } catch (cause) {
        const { code, message } = cause as NodeJS.ErrnoException
        this.failures.push({ kind, reason: `${code ?? ''} ${message}`, from })
      }
      await sleep(20)
    }
  }

  #keptAlive(): Promise<void> {
    const agent = this.#agentOf(new Agent({ keepAlive: true }))
    return this.#repeat('h1', noted => this.#get(agent, noted))
  }

  #connecting(): Promise<void> {
    const agent = this.#agentOf(new Agent({ keepAlive: false }))
    return this.#repeat('connect', noted => this.#get(agent, noted))
  }

  #connectingSecurely(): Promise<void> {
    const agent = this.#agentOf(new TlsAgent({ keepAlive: false, rejectUnauthorized: false }))
    return this.#repeat('tls', async noted => {
      const asked = secureRequest({ ...this.#secure, agent, path: '/' }).end()
      await expect(await responseTo(asked, noted), 'hello')
    })
  }

  #multiplexed(): Promise<void> {
    let session: ClientHttp2Session | null = null
    const open = () => {
      const opened = connectHttp2(`https://127.0.0.1:${this.#target.securePort}`, {
        rejectUnauthorized: false,
      })
      this.#sessions.push(opened)
      const over = () => {
        if (session === opened) session = null
      }
      opened.on('goaway', over).on('close', over).on('error', over)
      return opened
    }
    const ask = async (noted: (socket: Socket) => void) => {
      session ??= open()
      const { socket } = session
      const stream = session.request({ ':path': '/', ':authority': '127.0.0.1' })
      const body = text(stream)
      const failed = body.catch(() => {})
      try {
        const closed = once(stream, 'close').then(() =>
          Promise.reject(new Error('closed without a response')),
        )
        closed.catch(() => {})
        const [headers] = await Promise.race([once(stream, 'response'), closed])
        if (headers[':status'] !== 200) throw new Error(`status ${headers[':status']}`)
        if ((await body) !== 'hello') throw new Error('cut')
      } finally {
        await failed
        noted(socket as Socket)
      }
    }
    return this.#repeat('h2', async noted => {
      for (let tries = 1; ; tries++) {
        try {
          return await ask(noted)
        } catch (cause) {
          // What GOAWAY has crossed was not processed, and is sent again by every client (RFC 9113 section 8.7).
          if (tries === mostTries || !/REFUSED_STREAM|GOAWAY|INVALID_SESSION/.test(String(cause))) throw cause
          session = null
        }
      }
    })
  }

  #streaming(): Promise<void> {
    const agent = this.#agentOf(new Agent({ keepAlive: false }))
    return this.#repeat('stream', async noted => {
      const asked = request({ ...this.#plain, agent, path: '/stream' }).end()
      const body = await bodyOf(await responseTo(asked, noted))
      if (!/^(data: tick\n\n)+data: end\n\n$/.test(body)) throw new Error('a stream was cut')
    })
  }

  #uploading(): Promise<void> {
    const agent = this.#agentOf(new Agent({ keepAlive: true }))
    return this.#repeat('upload', async noted => {
      const asked = request({ ...this.#plain, agent, method: 'POST', path: '/upload' })
      const response = responseTo(asked, noted)
      response.catch(() => {})
      for (let sent = 0; sent < uploaded && !asked.destroyed; sent += uploaded / 4) {
        asked.write(Buffer.alloc(uploaded / 4))
        await sleep(50)
      }
      asked.end()
      await expect(await response, String(uploaded))
    })
  }

  #webSocket(): Promise<void> {
    return this.#repeat('websocket', async noted => {
      const socket = new WebSocket(`ws://127.0.0.1:${this.#target.port}/echo`)
      const closed = new Promise<number>(resolve => socket.once('close', resolve))
      await new Promise<void>((resolve, reject) => {
        socket.once('open', resolve)
        socket.on('error', reject)
      })
      noted((socket as unknown as { _socket: Socket })._socket)
      for (const end = performance.now() + streamLife; performance.now() < end; await sleep(100)) {
        const echo = new Promise<boolean>(resolve => {
          socket.once('message', () => resolve(true))
          void closed.then(() => resolve(false))
        })
        socket.send('echo')
        if (!(await echo)) throw new Error(`a WebSocket was closed with ${await closed}`)
      }
      socket.close(1000)
      await closed
    })
  }

  get #plain() {
    return { host: '127.0.0.1', port: this.#target.port }
  }

  get #secure() {
    return { host: '127.0.0.1', port: this.#target.securePort }
  }

  async #get(agent: Agent, noted: (socket: Socket) => void): Promise<void> {
    const asked = request({ ...this.#plain, agent, path: '/' }).end()
    await expect(await responseTo(asked, noted), 'hello')
  }

  #agentOf<A extends Agent | TlsAgent>(agent: A): A {
    this.#agents.push(agent)
    return agent
  }
}

/** The origin that the load expects: `/`, `/stream`, `/upload`, and WebSockets that echo at `/echo`. */
export function serveLoad(
  asked: IncomingMessage,
  response: {
    write(text: string): unknown
    end(text: string): unknown
    setHeader(name: string, value: string): unknown
    on(event: 'close', listener: () => void): unknown
  },
): void {
  if (asked.url === '/stream') {
    response.setHeader('content-type', 'text/event-stream')
    const ticking = setInterval(() => response.write('data: tick\n\n'), 50)
    const ending = setTimeout(() => {
      clearInterval(ticking)
      response.end('data: end\n\n')
    }, streamLife)
    response.on('close', () => {
      clearInterval(ticking)
      clearTimeout(ending)
    })
  } else if (asked.url === '/upload') {
    let length = 0
    asked.on('data', (piece: Buffer) => {
      length += piece.length
    })
    asked.on('end', () => response.end(String(length)))
  } else response.end('hello')
}

async function responseTo(asked: ClientRequest, noted: (socket: Socket) => void): Promise<IncomingMessage> {
  asked.once('socket', (socket: Socket) => {
    noted(socket)
    if (socket.connecting) socket.once('connect', () => noted(socket))
  })
  const [response] = (await once(asked, 'response')) as [IncomingMessage]
  asked.on('error', () => {})
  return response
}

/** Fails what comes to no end, which is worse than a failure. */
async function inTime(asked: Promise<void>): Promise<void> {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => late.reject(new Error('no end in sight')), patience)
  await Promise.race([asked, late.promise]).finally(() => clearTimeout(timer))
}

async function bodyOf(response: IncomingMessage): Promise<string> {
  const body = await text(response)
  if (response.statusCode !== 200) throw new Error(`status ${response.statusCode}: ${body.slice(0, 80)}`)
  return body
}

async function expect(response: IncomingMessage, wanted: string): Promise<void> {
  const body = await bodyOf(response)
  if (body !== wanted) throw new Error(`${body.length} bytes in place of ${wanted.length}`)
}
