// Addresses from the command line or the environment, which override those in the file.

import { type Findings, quote } from '../file/mistake.ts'
import { endpoint } from '../shape/host-rules.ts'
import { whole } from '../shape/rules.ts'
import type { Settings } from '../settings/schema.ts'
import { type Placed, type Rule, unwritten } from '../shape/shape.ts'
import type { Endpoint } from '../model/config.ts'

export interface GivenAddresses {
  /** For the one listener without TLS: --listen. */
  readonly listen?: string | undefined
  /** Its port: PORT. Empty is the same as missing. */
  readonly port?: string | undefined
  /** For the side port: --admin. */
  readonly admin?: string | undefined
}

/** Returns settings with these addresses, and records those that are invalid or ambiguous. */
export function withGiven(settings: Settings, given: GivenAddresses, findings: Findings): Settings {
  const admin = read('--admin', endpoint, given.admin, findings)
  const listen = listenersOf(settings.listen, given, findings)
  return { ...settings, listen, ...(admin !== null && { admin: unwritten('--admin', admin) }) }
}

type Listeners = Settings['listen']

function listenersOf(listeners: Listeners, given: GivenAddresses, findings: Findings): Listeners {
  const address = read('--listen', endpoint, given.listen, findings)
  if (address !== null) return moved(listeners, '--listen', () => address, findings)
  if (given.listen !== undefined || !given.port || refersToPort(listeners)) return listeners
  const port = read('PORT', whole(0, 65_535), given.port, findings)
  return port === null ? listeners : moved(listeners, 'PORT', ({ host }) => ({ host, port }), findings)
}

/** Whether the file itself refers to the variable. */
function refersToPort(listeners: Listeners): boolean {
  return listeners.some(({ address }) => address?.variables?.includes('PORT'))
}

/** Moves the one listener without TLS; no such listener, or several, is a mistake. */
function moved(
  listeners: Listeners,
  name: keyof typeof remedies,
  to: (before: Endpoint) => Endpoint,
  findings: Findings,
): Listeners {
  const plain = listeners.filter(({ tls }) => !tls.value)
  const [only] = plain
  if (only === undefined || plain.length > 1) {
    const count = plain.length === 0 ? 'none' : plain.length
    if (!findings.concern('listen'))
      findings.flaw(
        unwritten(name, null),
        `is for the one listener without tls, but listen has ${count}: ${remedies[name]}`,
      )
    return listeners
  }
  const { address } = only
  if (address === null) return listeners
  const given: Placed<Endpoint> = unwritten(name, to(address.value))
  return listeners.map(listener => (listener === only ? { ...listener, address: given } : listener))
}

const remedies = {
  '--listen': 'change the addresses in the file',
  PORT: `write \${PORT} in the file where it is meant, or unset it`,
} as const

function read<T>(name: string, rule: Rule<T>, text: string | undefined, findings: Findings): T | null {
  if (text === undefined) return null
  const reading = rule(text)
  if ('value' in reading) return reading.value
  findings.flaw(unwritten(name, null), `${reading.flaw}; got ${quote(text)}`)
  return null
}
