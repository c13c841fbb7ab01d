// A gate that asks an outside authorizer about each request. Any 2xx lets it in, any other response is the
// client's, and where there is none in time nobody passes.

import { isIP } from 'node:net'
import type { Agent } from 'undici'
import { MiB, second } from '../../base/units.ts'
import type { ForwardGateConfig } from '../../config/model/protect-config.ts'
import { crossingLines, type FieldId, field, fieldId, isClaim } from '../../http1/fields/fields.ts'
import { lookupOnly } from '../../net/address/checked-lookup.ts'
import { HeaderChanges } from '../rewrite/headers.ts'
import type { Admission, GateFault, Relayed } from './gate.ts'

const { getCACertificates } = process.getBuiltinModule('node:tls')

interface ForwardGateParts {
  /** The fields that no client of the route may set, as readers see their names. */
  readonly names: readonly string[]
  readonly isAllowed: (address: string) => boolean
  /** Called for the first failure and each with another reason, and with null once it is over. */
  readonly changed: (failure: string | null) => void
}

/** Bytes of a response that the client gets: a page to sign in, or a redirect to it. */
const maxSize = MiB

export class ForwardGate {
  readonly kind = 'forward'
  readonly config: ForwardGateConfig
  readonly #parts: ForwardGateParts
  readonly #names: ReadonlySet<string>
  #agent: Agent | null = null
  #asking = 0
  #failure: string | null = null

  constructor(config: ForwardGateConfig, parts: ForwardGateParts) {
    this.config = config
    this.#parts = parts
    this.#names = new Set(parts.names)
  }

  /** `lines` are names and values in turns. Never rejects. */
  async ask(lines: string[]): Promise<Admission | GateFault> {
    if (this.#asking >= this.config.concurrency) return unavailable('GH_AUTHORIZER_BUSY')
    this.#asking++
    try {
      const verdict = await this.#send(lines)
      this.#note(null)
      return verdict
    } catch (error) {
      const reason = reasonOf(error)
      this.#note(reason)
      return unavailable(reason === late ? 'GH_AUTHORIZER_TIMEOUT' : 'GH_AUTHORIZER_UNREACHABLE')
    } finally {
      this.#asking--
    }
  }

  async #send(lines: string[]): Promise<Admission | GateFault> {
    const { url, timeout } = this.config
    const address = new URL(url).hostname.replace(/^\[|\]$/g, '')
    // Literals are not looked up.
    if (isIP(address) !== 0 && !this.#parts.isAllowed(address)) throw new ProhibitedAddress()
    // It takes 4 MiB, and few gateways need it.
    const undici = await import('undici')
    this.#agent ??= this.#agentOf(undici)
    const { statusCode, headers, body } = await undici.request(url, {
      dispatcher: this.#agent,
      responseHeaders: 'raw',
      headers: lines,
      signal: AbortSignal.timeout(timeout),
    })
    const fields = headers as unknown as string[]
    if (statusCode >= 200 && statusCode < 300) {
      // The rest does not matter, and must not keep the request waiting.
      body.dump({ limit: maxSize }).catch(() => {})
      return { subject: null, claims: {}, changes: this.#changesOf(fields), isCurrent: () => false }
    }
    const content = Buffer.from(await body.arrayBuffer()).toString('latin1')
    return { ...refused, relayed: relayedOf(statusCode, fields, content) }
  }

  /** A field that comes several times is a list. */
  #changesOf(fields: readonly string[]): HeaderChanges {
    const set: string[] = []
    const ids: FieldId[] = []
    for (const name of this.config.copy) {
      const values = fields.filter(
        (_, i) => i % 2 === 1 && fields[i - 1]!.toLowerCase() === name.toLowerCase(),
      )
      if (values.length === 0) continue
      set.push(name, values.join(', '))
      const id = fieldId(name)
      // What the operator copies is sent, whatever its name.
      ids.push(isClaim(id) ? field.other : id)
    }
    return new HeaderChanges(this.#names, set, ids)
  }

  #agentOf({ Agent }: Pick<typeof import('undici'), 'Agent'>): Agent {
    const { ca, timeout, concurrency } = this.config
    const tls = ca === null ? {} : { ca: [...getCACertificates('default'), ca] }
    return new Agent({
      ...{ connections: concurrency, keepAliveTimeout: 4 * second, maxResponseSize: maxSize },
      ...{ headersTimeout: timeout, bodyTimeout: timeout },
      connect: { ...tls, timeout, lookup: lookupOnly(this.#parts.isAllowed) },
    })
  }

  #note(failure: string | null): void {
    if (failure !== this.#failure) this.#parts.changed(failure)
    this.#failure = failure
  }
}

class ProhibitedAddress extends Error {
  readonly code = 'PROHIBITED'
}

/** Hop-by-hop fields and those of this gateway stay behind, as they do from origins. */
function relayedOf(status: number, fields: readonly string[], body: string): Relayed {
  const ids = fields.flatMap((name, i) => (i % 2 === 0 ? [fieldId(name)] : []))
  const lines = crossingLines({ kind: 'response', fields, ids, hopByHop: null })
  return { status, lines, body }
}

function unavailable(code: string): GateFault {
  return { kind: 'unavailable', cause: { code }, wait: 0, challenge: null }
}

const refused = {
  kind: 'refused',
  cause: { code: 'GH_AUTHORIZER_REFUSED' },
  wait: 0,
  challenge: null,
} as const

const late = 'no response in time'

function reasonOf(error: unknown): string {
  const { code = '', name } = error as NodeJS.ErrnoException
  if (code === 'PROHIBITED') return 'its address is not on the public Internet, and not in allow_networks'
  if (name === 'TimeoutError' || name === 'AbortError' || /TIMEOUT/.test(code)) return late
  return code === '' ? 'connection failed' : code
}
