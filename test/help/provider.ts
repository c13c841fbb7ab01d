// A provider as the SDKs know it, on loopback: real HTTP by node:http, answers in the shapes of OpenAI and Anthropic, and a record of what was asked.

import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import type { TestContext } from 'node:test'

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
    const asked = {
      path: request.url!,
      headers: request.headers,
      body: (await json(request)) as Asked['body'],
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
