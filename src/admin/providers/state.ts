// The health of an AI provider, and the verdict of a test: each in one word and one sentence.

import type { ErrorName } from '../../errors/catalogue/catalogue.ts'
import type { KeyTest, ProviderFact } from '../facts/provider-facts.ts'

export const providerStates = ['working', 'limited', 'refused', 'failing', 'no_key', 'unknown'] as const
type ProviderState = (typeof providerStates)[number]

/** How long an accepted call proves its key, in ms: until then, a refusal may be due to the call. */
const trust = 10 * 60_000
/** Refusals in a row that indicate a bad key. */
const manyRefusals = 3

export function stateOf(provider: ProviderFact): ProviderState {
  const { needsKey, keys, processes, goodAt, badAt, badStatus, failures } = provider
  if (needsKey && keys.length === 0) return 'no_key'
  if (keys.length > 0 && processes > 0 && keys.every(({ resting }) => resting === processes))
    return keys.every(({ status }) => status === 401) ? 'refused' : 'limited'
  if (badAt === 0 && goodAt === 0) return 'unknown'
  if (badAt <= goodAt) return 'working'
  if (badStatus === 429) return 'limited'
  if (badStatus !== 401 && badStatus !== 403) return 'failing'
  return badAt - goodAt > trust || failures >= manyRefusals ? 'refused' : 'working'
}

export const testOutcomes = ['accepted', 'reached', 'refused', 'limited', 'failing', 'unreachable'] as const
type TestOutcome = (typeof testOutcomes)[number]

/** Returns the verdict of a test, with a remedy; never with text of the provider, which may repeat a key. */
export function verdictOf(
  { key, status, error, code }: KeyTest,
  path: string,
): { readonly outcome: TestOutcome; readonly message: string } {
  if (status === null) return { outcome: 'unreachable', message: reasonOf(error, code) }
  if (status < 300) {
    const message = key === null ? 'It responds without a key.' : 'It takes the key.'
    return { outcome: 'accepted', message }
  }
  if (status === 401 || status === 403) {
    if (key === null)
      return {
        outcome: 'reached',
        message: 'It responds, and wants a key: set one, or have callers send theirs.',
      }
    return { outcome: 'refused', message: status === 401 ? refused : notAllowed }
  }
  if (status === 429) return { outcome: 'limited', message: limited }
  if (status >= 500) return { outcome: 'failing', message: 'It has a fault of its own: see its status page.' }
  const whatIsNot = key === null ? '.' : ', so that this says nothing about the key.'
  return {
    outcome: 'reached',
    message: `It responds, but not to GET ${path}${whatIsNot} ${elsewhere(status)}`,
  }
}

const refused =
  'It does not take the key: put a valid one where this one comes from, and reload the configuration.'
const notAllowed =
  'It does not allow the request: the key may be restricted, or the account or region blocked. Models may work all the same: send a test request through a gateway.'
const limited = 'It takes no more for now: wait, or raise the limits or the balance of the account there.'

function elsewhere(status: number): string {
  return status < 400 ? 'It redirects: check its url.' : 'Send a test request through a gateway.'
}

/** Returns why a provider was not reached, with what to check. */
export function reasonOf(error: ErrorName | null, code = ''): string {
  if (code.startsWith('GH_') && code.includes('PROXY'))
    return 'The proxy on the way to it did not let the request through: check ai.proxy.'
  return (error !== null && reasons[error]) || 'The connection failed before a response came.'
}

const tls = 'Its certificate is not trusted: check its url, its tls.ca, and what intercepts TLS on the way.'
const reasons: Partial<Record<ErrorName, string>> = {
  origin_dns_error: 'Its name was not found: check its url and the DNS of this machine.',
  origin_down: 'It refused the connection: check its url, and whether it runs.',
  origin_unreachable: 'It cannot be reached from this machine: check firewalls and ai.proxy.',
  connection_timeout: 'It did not take the connection in time: check firewalls and ai.proxy.',
  origin_response_timeout: 'It did not respond in time.',
  origin_gateway_timeout: 'It did not respond in time.',
  ssl_handshake_failed: 'The TLS handshake with it failed: check its url and tls settings.',
  invalid_ssl_certificate: tls,
  prohibited_origin_ip: 'Its name leads to an address that its settings do not allow.',
  dns_loop: 'Its url leads back to this gateway.',
  service_unavailable:
    'No key for it could be made: check its identity in the configuration, and whether this machine reaches the service that makes keys.',
}
