// A DNS server on loopback whose zones a test changes while it runs: UDP and TCP on one port, TXT, addresses and CNAME, and every way to fail.

import { createSocket, type RemoteInfo, type Socket } from 'node:dgram'
import { EventEmitter, once } from 'node:events'
import { type AddressInfo, createServer, isIPv4, type Server, type Socket as Connection } from 'node:net'
import type { TestContext } from 'node:test'

/** The chunks of a TXT record; one text is cut as servers do, every 255 bytes. */
export type Txt = string | readonly string[]
export type Failure = 'server_failure' | 'refused' | 'no_such_name' | 'silence'

/** One query as it came. */
export interface Query {
  readonly name: string
  /** Of the records that are asked for: 1 for A, 16 for TXT, 28 for AAAA. */
  readonly type: number
  readonly transport: 'udp' | 'tcp'
  /** Of the asker's socket and, with it, of the query: random, both of them. */
  readonly port: number
  readonly id: number
}

type Entry =
  | { readonly kind: 'txt'; readonly records: readonly Txt[] }
  | { readonly kind: 'addresses'; readonly addresses: readonly string[]; readonly ttl: number }
  | { readonly kind: 'cname'; readonly target: string }
  | { readonly kind: 'failure'; readonly failure: Failure }

interface Answer {
  readonly code: number
  readonly records: readonly Buffer[]
}

const codes: Readonly<Record<Exclude<Failure, 'silence'>, number>> = {
  server_failure: 2,
  no_such_name: 3,
  refused: 5,
}
const A = 1
const CNAME = 5
const TXT = 16
const AAAA = 28

export class DnsServer {
  /** Every query, in the order that they came. */
  readonly queries: Query[] = []
  readonly #zone = new Map<string, Entry>()
  readonly #truncated = new Set<string>()
  readonly #held = new Map<string, Promise<void>>()
  readonly #news = new EventEmitter().setMaxListeners(0)
  readonly #tcp: Server
  readonly #udp: Socket
  readonly #connections = new Set<Connection>()

  constructor(tcp: Server, udp: Socket) {
    this.#tcp = tcp.on('connection', connection => this.#serve(connection))
    this.#udp = udp.on('message', (message, peer) => void this.#answerByUdp(message, peer))
  }

  get port(): number {
    return this.#udp.address().port
  }

  /** Where it is, as resolvers are configured. */
  get address(): string {
    return `127.0.0.1:${this.port}`
  }

  /** Puts TXT records in place of whatever a name had; without any, the name is there and has none. */
  txt(name: string, ...records: Txt[]): void {
    this.#zone.set(name, { kind: 'txt', records })
  }

  /** Puts A and AAAA records in place of whatever a name had. */
  addresses(name: string, addresses: readonly string[], ttl = 60): void {
    this.#zone.set(name, { kind: 'addresses', addresses, ttl })
  }

  cname(name: string, target: string): void {
    this.#zone.set(name, { kind: 'cname', target })
  }

  fail(name: string, failure: Failure): void {
    this.#zone.set(name, { kind: 'failure', failure })
  }

  /** Answers by UDP only that the answer is to be had by TCP. */
  truncate(name: string): void {
    this.#truncated.add(name)
  }

  /** Keeps back the answers for a name until the function returned is called; they tell what the zone has then. */
  hold(name: string): () => void {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#held.set(name, promise)
    return () => {
      this.#held.delete(name)
      resolve()
    }
  }

  /** Counts the questions for a name, or for one type of its records, without those that were sent again, or by TCP after UDP. */
  count(name: string, type?: number): number {
    const asked = this.queries.filter(
      query => query.name === name && query.transport === 'udp' && (type ?? query.type) === query.type,
    )
    return new Set(asked.map(({ port, id }) => `${port} ${id}`)).size
  }

  /** Waits until a name was asked for so often. */
  async asked(name: string, times = 1, type?: number): Promise<void> {
    while (this.count(name, type) < times) await once(this.#news, 'query')
  }

  async close(): Promise<void> {
    for (const connection of this.#connections) connection.destroy()
    this.#udp.close()
    this.#tcp.close()
    await once(this.#tcp, 'close')
  }

  async #answerByUdp(message: Buffer, { port, address }: RemoteInfo): Promise<void> {
    const answer = await this.#answer(message, 'udp', port)
    if (answer) this.#udp.send(answer, port, address, () => {})
  }

  #serve(connection: Connection): void {
    this.#connections.add(connection)
    connection.on('error', () => {}).on('close', () => this.#connections.delete(connection))
    let unread: Buffer = Buffer.alloc(0)
    connection.on('data', (chunk: Buffer) => {
      unread = Buffer.concat([unread, chunk])
      while (unread.length >= 2 && unread.length >= 2 + unread.readUInt16BE()) {
        const end = 2 + unread.readUInt16BE()
        void this.#answerByTcp(connection, unread.subarray(2, end))
        unread = unread.subarray(end)
      }
    })
  }

  async #answerByTcp(connection: Connection, message: Buffer): Promise<void> {
    const answer = await this.#answer(message, 'tcp', connection.remotePort!)
    if (!answer || connection.destroyed) return
    const length = Buffer.alloc(2)
    length.writeUInt16BE(answer.length)
    connection.write(Buffer.concat([length, answer]))
  }

  async #answer(message: Buffer, transport: Query['transport'], port: number): Promise<Buffer | null> {
    const { name, end } = readName(message, 12)
    const question = message.subarray(12, end + 4)
    const type = message.readUInt16BE(end)
    this.queries.push({ name, type, transport, port, id: message.readUInt16BE(0) })
    this.#news.emit('query')
    await this.#held.get(name)
    if (transport === 'udp' && this.#truncated.has(name)) return compose(message, question, 0, [], true)
    const answer = this.#find(name, type)
    return answer && compose(message, question, answer.code, answer.records, false)
  }

  /** Follows names to the records; null for silence. */
  #find(name: string, type: number): Answer | null {
    const entry = this.#zone.get(name)
    if (!entry) return { code: codes.no_such_name, records: [] }
    if (entry.kind === 'txt')
      return { code: 0, records: entry.records.map(txt => record(name, TXT, chunks(txt))) }
    if (entry.kind === 'addresses') return { code: 0, records: addressRecords(name, type, entry) }
    if (entry.kind === 'failure')
      return entry.failure === 'silence' ? null : { code: codes[entry.failure], records: [] }
    const alias = record(name, CNAME, writeName(entry.target))
    // A name that leads nowhere is told without an error, as many servers do where the other zone is not theirs.
    const rest = this.#zone.has(entry.target) ? this.#find(entry.target, type) : { code: 0, records: [] }
    return rest && { code: rest.code, records: [alias, ...rest.records] }
  }
}

/** Starts a server that ends with the test. */
export async function startDns(t: TestContext): Promise<DnsServer> {
  const dns = await listen()
  t.after(() => dns.close())
  return dns
}

async function listen(): Promise<DnsServer> {
  const tcp = createServer().listen(0, '127.0.0.1')
  await once(tcp, 'listening')
  const udp = createSocket({ type: 'udp4', recvBufferSize: 1024 * 1024 })
  try {
    udp.bind((tcp.address() as AddressInfo).port, '127.0.0.1')
    await once(udp, 'listening')
    return new DnsServer(tcp, udp)
  } catch (failure) {
    udp.close()
    tcp.close()
    if ((failure as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw failure
    return listen()
  }
}

function compose(
  query: Buffer,
  question: Buffer,
  code: number,
  records: readonly Buffer[],
  isTruncated: boolean,
): Buffer {
  const header = Buffer.alloc(12)
  header.writeUInt16BE(query.readUInt16BE(0), 0)
  const isRecursionDesired = query.readUInt16BE(2) & 0x01_00
  header.writeUInt16BE(0x80_80 | isRecursionDesired | (isTruncated ? 0x02_00 : 0) | code, 2)
  header.writeUInt16BE(1, 4)
  header.writeUInt16BE(records.length, 6)
  return Buffer.concat([header, question, ...records])
}

/** Lists the records of the family that was asked for. */
function addressRecords(
  name: string,
  type: number,
  { addresses, ttl }: Entry & { kind: 'addresses' },
): Buffer[] {
  const ofFamily = addresses.filter(address => (isIPv4(address) ? A : AAAA) === type)
  return ofFamily.map(address => record(name, type, isIPv4(address) ? v4(address) : v6(address), ttl))
}

function v4(address: string): Buffer {
  return Buffer.from(address.split('.').map(Number))
}

/** Reads an address that may have one double colon. */
function v6(address: string): Buffer {
  const [before = [], after = []] = address.split('::').map(half => half.split(':').filter(Boolean))
  const groups = [...before, ...Array.from({ length: 8 - before.length - after.length }, () => '0'), ...after]
  return Buffer.from(groups.map(group => group.padStart(4, '0')).join(''), 'hex')
}

function record(name: string, type: number, data: Buffer, ttl = 60): Buffer {
  const fixed = Buffer.alloc(10)
  fixed.writeUInt16BE(type, 0)
  fixed.writeUInt16BE(1, 2)
  fixed.writeUInt32BE(ttl, 4)
  fixed.writeUInt16BE(data.length, 8)
  return Buffer.concat([writeName(name), fixed, data])
}

function chunks(txt: Txt): Buffer {
  const texts = typeof txt === 'string' ? (txt.match(/.{1,255}/gs) ?? ['']) : txt
  return Buffer.concat(texts.map(text => prefixed(Buffer.from(text, 'latin1'))))
}

function writeName(name: string): Buffer {
  const labels = name.split('.').map(label => prefixed(Buffer.from(label, 'latin1')))
  return Buffer.concat([...labels, Buffer.alloc(1)])
}

function prefixed(bytes: Buffer): Buffer {
  return Buffer.concat([Buffer.of(bytes.length), bytes])
}

function readName(message: Buffer, start: number): { readonly name: string; readonly end: number } {
  const labels: string[] = []
  let at = start
  while (message[at] !== 0) {
    const end = at + 1 + message[at]!
    labels.push(message.toString('latin1', at + 1, end))
    at = end
  }
  return { name: labels.join('.').toLowerCase(), end: at + 1 }
}
