// One question to one DNS server, by UDP and, if the reply does not fit, by TCP.

import { randomInt } from 'node:crypto'
import { createSocket } from 'node:dgram'
import { connect, isIPv6 } from 'node:net'
import type { DnsOutcome } from '../store/records/oauth-client.ts'
import { readTxtReply, type TxtReply, writeTxtQuestion } from './txt-message.ts'

interface QueryOptions {
  /** The timeout of one try, in ms, and the number of tries. */
  readonly timeout: number
  readonly tries: number
}

type Closing = () => void

export class TxtQuery {
  /** The texts, or why there are none; never rejects. */
  readonly result: Promise<readonly string[] | DnsOutcome>
  readonly #host: string
  readonly #server: { readonly host: string; readonly port: number }
  readonly #id = randomInt(0x1_00_00)
  readonly #settle: (result: readonly string[] | DnsOutcome) => void
  readonly #closing: Closing[] = []
  #extension = true
  #isOver = false

  /** Queries a server, an address with a port unless that is 53, for the TXT records of a host. */
  constructor(server: string, host: string, { timeout, tries }: QueryOptions) {
    const { promise, resolve } = Promise.withResolvers<readonly string[] | DnsOutcome>()
    this.result = promise
    this.#settle = resolve
    this.#host = host
    this.#server = partsOf(server)
    const timer = setTimeout(() => this.#end('timeout'), timeout * tries)
    this.#closing.push(() => clearTimeout(timer))
    this.#askByUdp(timeout)
  }

  /** Ends the query with the outcome `error`, unless it has already ended. */
  cancel(): void {
    this.#end('error')
  }

  #end(result: readonly string[] | DnsOutcome): void {
    if (this.#isOver) return
    this.#isOver = true
    for (const close of this.#closing.splice(0)) close()
    this.#settle(result)
  }

  #question(): Buffer {
    return writeTxtQuestion(this.#id, this.#host, this.#extension)
  }

  #askByUdp(timeout: number): void {
    const { host, port } = this.#server
    const socket = createSocket(isIPv6(host.replace(/%.*/, '')) ? 'udp6' : 'udp4')
    const send = () => socket.send(this.#question(), () => {})
    socket.on('error', () => this.#end('error'))
    socket.on('message', message => {
      // Anybody who guesses the port can send anything: the real reply may still arrive.
      const reply = readTxtReply(message, this.#id, this.#host)
      if (reply === null || this.#isOver) return
      if (reply.kind === 'truncated') return this.#askByTcp()
      if (reply.kind !== 'format_error' || !this.#extension) return this.#end(foundIn(reply))
      this.#extension = false
      send()
    })
    socket.on('connect', () => {
      if (this.#isOver) return
      send()
      const again = setInterval(send, timeout)
      this.#closing.push(() => clearInterval(again))
    })
    // From now on the system drops datagrams from any other address or port, and reports a closed port.
    socket.connect(port, host)
    this.#closing.push(() => socket.close())
  }

  #askByTcp(): void {
    const question = this.#question()
    const length = Buffer.alloc(2)
    length.writeUInt16BE(question.length)
    const socket = connect(this.#server)
    // Everything but the timer.
    for (const close of this.#closing.splice(1)) close()
    this.#closing.push(() => socket.destroy())
    let unread = Buffer.alloc(0)
    socket.on('error', () => this.#end('error')).on('close', () => this.#end('error'))
    socket.on('data', (chunk: Buffer) => {
      unread = Buffer.concat([unread, chunk])
      while (unread.length >= 2 && unread.length >= 2 + unread.readUInt16BE()) {
        const end = 2 + unread.readUInt16BE()
        const reply = readTxtReply(unread.subarray(2, end), this.#id, this.#host)
        if (reply !== null) return this.#end(foundIn(reply))
        unread = unread.subarray(end)
      }
    })
    socket.write(Buffer.concat([length, question]))
  }
}

function foundIn(reply: TxtReply): readonly string[] | DnsOutcome {
  if (reply.kind !== 'records') return outcomes[reply.kind]
  return reply.texts.length > 0 ? reply.texts : 'no_records'
}

const outcomes = {
  no_such_name: 'no_such_name',
  server_failure: 'server_failure',
  refused: 'refused',
  truncated: 'error',
  format_error: 'error',
  other: 'error',
} as const satisfies Record<Exclude<TxtReply['kind'], 'records'>, DnsOutcome>

/** Parses an entry of `getServers` of Node. */
function partsOf(server: string): { host: string; port: number } {
  const [, bracketed, plain, port] = /^(?:\[(.*)\]|([^:]*)):(\d+)$/.exec(server) ?? []
  return { host: bracketed ?? plain ?? server, port: port === undefined ? 53 : Number(port) }
}
