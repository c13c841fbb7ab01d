// A provider as the SDKs know it, on loopback: real HTTP by node:http, or by node:http2 behind TLS, answers in the shapes of OpenAI and Anthropic, and a record of
// what was asked.

import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { createSecureServer, type ServerHttp2Session } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { json, text } from 'node:stream/consumers'
import type { TestContext } from 'node:test'
import type { ProviderConfig } from '../../src/config/model/config.ts'
import { usualTransport } from '../../src/config/model/pool-config.ts'
import { selfSigned } from '../../src/process/demo/self-signed.ts'

export interface Asked {
  readonly path: string
  readonly headers: IncomingMessage['headers']
  readonly body: Record<string, unknown>
}

export type Reply = (asked: Asked, response: ServerResponse) => void | Promise<void>

export class Provider {
  readonly asked: Asked[] = []
  /** Settles when a caller has left before its answer was whole. */
  readonly left = Promise.withResolvers<void>()
  readonly #server: Server
  #port: number

  constructor(reply: Reply, port = 0) {
    this.#port = port
    this.#server = createServer((request, response) => void this.#serve(request, response, reply))
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`
  }

  /** Listens, on the port that it had before if it was stopped. */
  async start(): Promise<void> {
    this.#server.listen(this.#port, '127.0.0.1')
    await once(this.#server, 'listening')
    this.#port = (this.#server.address() as AddressInfo).port
  }

  /** Hangs up and listens no more. */
  async stop(): Promise<void> {
    const closed = once(this.#server, 'close')
    this.#server.close()
    this.#server.closeAllConnections()
    await closed
  }

  async #serve(request: IncomingMessage, response: ServerResponse, reply: Reply): Promise<void> {
    response.on('close', () => {
      if (!response.writableFinished) this.left.resolve()
    })
    const sent = await text(request)
    const asked = {
      path: request.url!,
      headers: request.headers,
      body: (sent === '' ? {} : JSON.parse(sent)) as Asked['body'],
    }
    this.asked.push(asked)
    await reply(asked, response)
  }
}

/** Starts a provider that answers as told, on a port that the system chooses unless one is given. */
export async function startProvider(t: TestContext, reply: Reply, port = 0): Promise<Provider> {
  const provider = new Provider(reply, port)
  await provider.start()
  t.after(() => provider.stop().catch(() => {}))
  return provider
}

/** A provider that speaks HTTP/2 alone, behind TLS. */
export class Http2Provider {
  readonly asked: Asked[] = []
  /** The connections that it had. */
  readonly sessions: ServerHttp2Session[] = []
  readonly #server: Server
  readonly #certificate = selfSigned('localhost')

  constructor(reply: Reply) {
    // The compatible API of node:http2 fits replies, which use nothing beyond it.
    const serve = async (request: IncomingMessage, response: ServerResponse) => {
      const body = request.method === 'GET' ? {} : ((await json(request)) as Asked['body'])
      const asked = { path: request.url!, headers: request.headers, body }
      this.asked.push(asked)
      await reply(asked, response)
    }
    const server = createSecureServer({ ...this.#certificate })
    server.on('session', session => this.sessions.push(session))
    server.on('request', (request, response) => {
      response.stream.on('error', () => {})
      void serve(request as unknown as IncomingMessage, response as unknown as ServerResponse)
    })
    this.#server = server as unknown as Server
  }

  /** What a provider has to be configured with. */
  get config(): Pick<ProviderConfig, 'url' | 'tls' | 'transport'> {
    const { port } = this.#server.address() as AddressInfo
    const tls = { verify: true, serverName: 'localhost', ca: this.#certificate.cert, identity: null }
    return { url: `https://127.0.0.1:${port}`, tls, transport: { ...usualTransport, http: '2' } }
  }

  async start(): Promise<void> {
    this.#server.listen(0, '127.0.0.1')
    await once(this.#server, 'listening')
  }

  stop(): void {
    this.#server.close()
    for (const session of this.sessions) session.destroy()
  }
}

/** Starts a provider that answers as told over HTTP/2. */
export async function startHttp2Provider(t: TestContext, reply: Reply): Promise<Http2Provider> {
  const provider = new Http2Provider(reply)
  await provider.start()
  t.after(() => provider.stop())
  return provider
}

/** Answers with JSON. */
export function say(
  response: ServerResponse,
  value: unknown,
  status = 200,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers })
  response.end(JSON.stringify(value))
}

/** Begins an event stream, and gives what sends one event with a name or none. */
export function stream(response: ServerResponse): (data: unknown, name?: string) => void {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  return (data, name) => {
    const text = typeof data === 'string' ? data : JSON.stringify(data)
    response.write(`${name === undefined ? '' : `event: ${name}\n`}data: ${text}\n\n`)
  }
}
