// Runs cases of origins: each has a server of its own, of which the first connection is looked at.

import { once } from 'node:events'
import { request } from 'node:http'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { flag, frameType } from '../../../src/http2/frames/frames.ts'
import { settings, settingsAck } from '../../help/http2.ts'
import type { Verdict } from '../case.ts'
import { type Address, awake } from '../dial.ts'
import { Connection } from '../http2/connection.ts'
import type { OriginCase, Reply } from './expect.ts'

/** An origin that serves every request as its case says. */
export class CaseOrigin {
  port = 0
  /** Where the client of this origin takes requests itself: what comes late from a busy one is waited for. */
  client: Address | null = null
  /** The first connection, and the stream of the first request on it. */
  readonly first: Promise<{ readonly connection: Connection; readonly stream: number }>
  readonly #of: OriginCase
  readonly #server: Server
  readonly #connections: Connection[] = []
  #begin: (first: { connection: Connection; stream: number }) => void = () => {}

  constructor(of: OriginCase) {
    this.#of = of
    const { promise, resolve } = Promise.withResolvers<{ connection: Connection; stream: number }>()
    this.first = promise
    this.#begin = resolve
    this.#server = createServer(socket => void this.#serve(Connection.accept(socket, this.#awake)))
  }

  async listen(): Promise<this> {
    this.#server.listen(0, '127.0.0.1')
    await once(this.#server, 'listening')
    this.port = (this.#server.address() as AddressInfo).port
    return this
  }

  close(): void {
    this.#server.close()
    for (const connection of this.#connections) connection.close()
  }

  readonly #awake = async (): Promise<unknown> => this.client && awake(this.client)

  async #serve(connection: Connection): Promise<void> {
    this.#connections.push(connection)
    if (this.#of.settings !== null) connection.send(settings(...this.#of.settings))
    await connection.until(() => connection.has(frameType.settings, 0, 0))
    if (this.#of.settings !== null) {
      connection.send(settingsAck)
      await connection.until(() => connection.has(frameType.settings, flag.ack, 0))
    }
    const begins = ({ type, stream }: { type: number; stream: number }) =>
      type === frameType.headers && stream > 0
    // Connections that a gateway opens ahead may wait long for a request.
    if (!(await connection.until(() => connection.frames.some(begins), 60_000))) return
    const { stream } = connection.frames.find(begins)!
    await this.#of.serve(connection, stream)
    this.#begin({ connection, stream })
  }
}

/** Sends a request to the target, and returns its response. */
export function ask(
  port: number,
  path: string,
  method: string,
  body: number,
  readsAfter?: Promise<unknown>,
): Promise<Reply> {
  const headers = { Host: 'site.test', ...(body > 0 && { 'Content-Length': body }) }
  const { promise, resolve } = Promise.withResolvers<Reply>()
  const sent = request({ host: '127.0.0.1', port, path, method, headers, agent: false }, response => {
    let text = ''
    const done = () => resolve({ status: response.statusCode!, body: text, isWhole: response.complete })
    response.setEncoding('latin1')
    const read = () => response.on('data', piece => (text += piece))
    if (readsAfter === undefined) read()
    else void readsAfter.then(read)
    response.on('error', () => {})
    response.on('close', done)
  })
  sent.on('error', () => resolve({ status: 0, body: '', isWhole: false }))
  sent.end(Buffer.alloc(body, 'x'))
  return promise
}

/** Runs one case by a request for its path. */
export async function runOriginCase(
  of: OriginCase,
  origin: CaseOrigin,
  port: number,
  path: string,
): Promise<Verdict> {
  origin.client = { port, tls: false, from: '127.0.0.1' }
  const over = origin.first.then(({ connection }) => connection.until(() => connection.isClosed))
  const reply = ask(port, path, of.method, of.body, of.readsLate ? over : undefined)
  const none = reply.then(() => wait(500)).then(() => null)
  const first = await Promise.race([origin.first, none])
  if (first === null) return { result: 'failed', note: `no request; the client got ${(await reply).status}` }
  return of.expectation.verdict({
    ...first,
    reply,
    ask: (method = 'GET', body = 0) => ask(port, path, method, body),
  })
}
