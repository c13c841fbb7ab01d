// Servers of DNS in a world, with the sockets that lead to them: by UDP, whose datagrams are lost, late and forged, and by TCP.

import dgram from 'node:dgram'
import { EventEmitter } from 'node:events'
import { syncBuiltinESMExports } from 'node:module'
import net from 'node:net'
import type { Process, World } from './world.ts'

/** How the servers of a zone behave; `wrong`: they send records of other names, and somebody else replies too. */
export type ZoneState =
  | 'fine'
  | 'slow'
  | 'silent'
  | 'truncated'
  | 'wrong'
  | 'server_failure'
  | 'no_such_name'
  | 'refused'

interface Zone {
  texts: readonly string[]
  state: ZoneState
}

type Reply = (message: Buffer) => void

const codes = { server_failure: 2, no_such_name: 3, refused: 5 } as const
const [txt, internet] = [16, 1] as const
/** Where the name of the question begins, as a pointer to it (RFC 1035 section 4.1.4). */
const questioned = Buffer.of(0xc0, 12)
const [slowest, headLength] = [18_000, 12]

export class SimulatedDns {
  readonly zones = new Map<string, Zone>()
  readonly #world: World
  /** The texts that were sent as records of a name, by both. */
  readonly #sent = new Set<string>()

  constructor(world: World) {
    this.#world = world
  }

  /** Runs something that opens sockets to these servers instead of those of the system. */
  async during(work: () => Promise<void>): Promise<void> {
    const { createSocket } = dgram
    const { connect } = net
    Object.assign(dgram, { createSocket: () => new UdpSocket(this, this.#world) })
    Object.assign(net, { connect: () => new TcpSocket(this, this.#world) })
    syncBuiltinESMExports()
    try {
      await work()
    } finally {
      Object.assign(dgram, { createSocket })
      Object.assign(net, { connect })
      syncBuiltinESMExports()
    }
  }

  hasSent(host: string, text: string): boolean {
    return this.#sent.has(`${host} ${text}`)
  }

  ask(from: Process, question: Buffer, isTcp: boolean, reply: Reply): void {
    const world = this.#world
    const carry = (to: Process, work: () => void) =>
      isTcp ? world.later(to, world.below(20), work) : world.send(to, work)
    carry(world.outside, () => {
      const host = hostIn(question)
      const zone = this.zones.get(host) ?? { texts: [], state: 'no_such_name' }
      const delay = zone.state === 'slow' ? world.below(slowest) : 0
      for (const message of this.#repliesTo(question, host, zone, isTcp))
        world.later(world.outside, delay, () => carry(from, () => reply(message)))
    })
  }

  #repliesTo(question: Buffer, host: string, { texts, state }: Zone, isTcp: boolean): readonly Buffer[] {
    if (state === 'silent') return []
    if (state === 'truncated' && !isTcp) return [compose(question, 0x02_00, [])]
    if (state in codes) return [compose(question, codes[state as keyof typeof codes], [])]
    for (const text of texts) this.#sent.add(`${host} ${text}`)
    if (state !== 'wrong') return [compose(question, 0, texts.map(own))]
    const [wanted = 'nothing', ...others] = texts
    this.#sent.delete(`${host} ${wanted}`)
    const forged = Buffer.from(compose(question, 0, [own(wanted)]))
    forged.writeUInt16BE((forged.readUInt16BE(0) + 1) & 0xff_ff, 0)
    const near = [wanted.slice(0, -1), `${wanted}0`, wanted.toUpperCase(), ...others]
    return [forged, compose(question, 0, [record(Buffer.from('\x05other\x00'), wanted), ...near.map(own)])]
  }
}

class UdpSocket extends EventEmitter {
  readonly #dns: SimulatedDns
  readonly #world: World
  readonly #process: Process
  #isClosed = false

  constructor(dns: SimulatedDns, world: World) {
    super()
    this.#dns = dns
    this.#world = world
    this.#process = world.current
  }

  connect(): void {
    this.#world.later(this.#process, 0, () => this.#isClosed || this.emit('connect'))
  }

  send(question: Buffer): void {
    this.#dns.ask(this.#process, question, false, reply => this.#isClosed || this.emit('message', reply))
  }

  close(): void {
    this.#isClosed = true
  }
}

class TcpSocket extends EventEmitter {
  readonly #dns: SimulatedDns
  readonly #process: Process
  #isClosed = false

  constructor(dns: SimulatedDns, world: World) {
    super()
    this.#dns = dns
    this.#process = world.current
  }

  write(framed: Buffer): void {
    this.#dns.ask(this.#process, framed.subarray(2), true, reply => {
      const length = Buffer.alloc(2)
      length.writeUInt16BE(reply.length)
      if (!this.#isClosed) this.emit('data', Buffer.concat([length, reply]))
    })
  }

  destroy(): void {
    this.#isClosed = true
  }
}

function compose(query: Buffer, flags: number, records: readonly Buffer[]): Buffer {
  const head = Buffer.alloc(headLength)
  head.writeUInt16BE(query.readUInt16BE(0), 0)
  head.writeUInt16BE(0x80_80 | flags, 2)
  head.writeUInt16BE(1, 4)
  head.writeUInt16BE(records.length, 6)
  return Buffer.concat([head, query.subarray(headLength, endOfName(query) + 4), ...records])
}

function own(text: string): Buffer {
  return record(questioned, text)
}

function record(owner: Buffer, text: string): Buffer {
  const fixed = Buffer.alloc(11)
  fixed.writeUInt16BE(txt, 0)
  fixed.writeUInt16BE(internet, 2)
  fixed.writeUInt16BE(text.length + 1, 8)
  fixed.writeUInt8(text.length, 10)
  return Buffer.concat([owner, fixed, Buffer.from(text)])
}

function endOfName(query: Buffer): number {
  let at = headLength
  while (query[at] !== 0) at += 1 + query[at]!
  return at + 1
}

function hostIn(query: Buffer): string {
  const labels: string[] = []
  for (let at = headLength; query[at] !== 0; at += 1 + query[at]!)
    labels.push(query.toString('latin1', at + 1, at + 1 + query[at]!))
  return labels.join('.')
}
