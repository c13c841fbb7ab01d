// What this process knows about each provider from its calls.

import type { ErrorName } from '../../errors/catalogue/catalogue.ts'
import type { Cause } from '../../errors/catalogue/origin-failure.ts'
import type { ResponseHead } from '../../http1/heads/response-head.ts'
import type { Clock } from '../../base/clock.ts'
import type { MadeKey } from '../cloud-keys/made-key.ts'
import type { EdgeAi } from '../snapshot/snapshot.ts'
import type { Exchange } from '../exchange/exchange.ts'
import type { AiExchange } from '../ai-call/ai-exchange.ts'
import { bringsCredential } from '../ai-call/outbound-call.ts'

/** Times are in ms since the epoch, 0 for never. */
export interface ProviderInProcess {
  readonly name: string
  readonly resource: string | null
  readonly keys: readonly KeyInProcess[]
  readonly lastAt: number
  readonly goodAt: number
  readonly badAt: number
  readonly badStatus: number
  readonly badError: ErrorName | null
  readonly badCode: string
  readonly failures: number
}

interface KeyInProcess {
  readonly restsUntil: number
  readonly status: number
  readonly made?: MadeKeyInProcess
}

/** Of a key that is made: when it expires, 0 if there is none, and why the latest could not be made. */
export interface MadeKeyInProcess {
  readonly expiresAt: number
  readonly failure: string | null
}

/** Records the status of a provider's response. */
export function noteResponse(x: Exchange, ai: AiExchange, { status }: ResponseHead): void {
  if (ai.ownKeys !== null && ai.key !== null) x.plane.ai!.keys.used(ai.gateway!, ai.ownKeys, ai.key)
  const mayBeRefusal = status >= 400 && status < 500
  const isOurs = !mayBeRefusal || ai.key !== null || !bringsCredential(x.head, ai)
  ai.calls!.responded(status, x.plane.clock.now(), isOurs)
}

/** Records that a provider did not respond. */
export function noteNoResponse(x: Exchange, ai: AiExchange, error: ErrorName, { code }: Cause): void {
  // A lack of local resources is no fault of the provider or the network.
  if (error !== 'internal_server_error') ai.calls!.failed(error, code ?? '', x.plane.clock.now())
}

/** Includes others that were called. */
export function providerStates({ providers, routeTo }: EdgeAi, clock: Clock): readonly ProviderInProcess[] {
  const [now, monotonic] = [clock.now(), clock.monotonic()]
  const states = new Map<string, ProviderInProcess>()
  for (const provider of providers.all) {
    const { name, resource, config } = provider
    const id = `${name}/${resource ?? ''}`
    const { keys, made, calls } = routeTo(provider)
    if (states.has(id) || (config === null && calls.lastAt === 0)) continue
    const { lastAt, goodAt, badAt, badStatus, badError, badCode, failures } = calls
    const keyStates = keys.all.map(({ restsUntil, status }) => {
      const left = restsUntil - monotonic
      return {
        restsUntil: left > 0 ? Math.ceil(now + left) : 0,
        status,
        ...(made !== null && { made: { expiresAt: endOf(made, now), failure: made.failure } }),
      }
    })
    const latest = { lastAt, goodAt, badAt, badStatus, badError, badCode, failures }
    states.set(id, { name, resource, keys: keyStates, ...latest })
  }
  return [...states.values()]
}

function endOf({ timeLeft }: MadeKey, now: number): number {
  return timeLeft === 0 ? 0 : Math.ceil(now + timeLeft)
}
