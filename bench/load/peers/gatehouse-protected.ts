// Gatehouse with a gate before its zone as a contestant of bench/compare.ts, and the same without one.
import { join } from 'node:path'
import { type Call, ROOT } from '../call.ts'
import { keep } from '../launch.ts'
import type { Peer } from '../peers.ts'
import { gatehouse } from './gatehouse.ts'
import { fillStore, type Gate, type GateKind } from './gates.ts'

interface ProtectedOptions {
  /** The folder of a tree whose sources are started. */
  readonly root: string
  /** Whether each request is of another client than the one before. */
  readonly inTurn: boolean
  /** Whether the origin gets svc-identity. */
  readonly identity: boolean
}

const CLIENTS_IN_TURN = 1000

/** Makes a peer whose clients show what its gate lets in; its store has that before it starts. */
export function gatehouseProtected(
  kind: GateKind,
  name: string,
  { root, inTurn, identity }: ProtectedOptions,
): Peer {
  let call: Call | null = null
  const prepare = async (port: number, origin: number, isTls?: boolean) => {
    const more = async (data: string) => {
      const clients = inTurn ? CLIENTS_IN_TURN : 1
      const gate = await fillStore(join(data, 'gatehouse.db'), { kind, clients, port })
      call = callOf(gate, port, inTurn)
      return settingsOf(gate, identity)
    }
    return gatehouse(name, { root, more }).prepare(port, origin, isTls)
  }
  return { ...gatehouse(name, { root }), prepare, call: () => call! }
}

function callOf({ shown }: Gate, port: number, inTurn: boolean): Call {
  const heads = shown.map(([field, value]) => ({ ...PROGRAM, [field]: value }))
  if (!inTurn) return { ...ROOT, fields: heads[0]! }
  const requests = keep(`requests-${port}`, heads.map(fields => `${headOf(port, fields)}\0`).join(''))
  return { ...ROOT, fields: heads[0]!, requests }
}

/** What clients send besides. */
const PROGRAM = {
  'User-Agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0',
  Accept: 'application/json',
  'Accept-Language': 'en-US,en;q=0.5',
  'Accept-Encoding': 'gzip, deflate, br, zstd',
}

function headOf(port: number, fields: Readonly<Record<string, string>>): string {
  const lines = Object.entries({ Host: `127.0.0.1:${port}`, ...fields })
  return `GET / HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`
}

/** Continues the one zone, the end of the configuration. */
function settingsOf({ account, protect, settings }: Gate, identity: boolean): string {
  const zone = protect === null ? '' : `    account: ${account}\n    protect: ${protect}\n`
  return `${zone}${identity ? '    identity: on\n' : ''}${settings}`
}
