// Compiles the gates of routes. A reload takes over those that are unchanged, with what they know.

import type { Clock } from '../../base/clock.ts'
import type { GateConfig, IdentityConfig, ProtectConfig } from '../../config/model/protect-config.ts'
import { Memo } from '../../expression/memo.ts'
import type { Logger } from '../../log/log.ts'
import { AddressSet } from '../../net/address/address.ts'
import { isPublic } from '../../net/address/public-address.ts'
import type { KnownSiteSessions } from '../../people/sessions/known-site-sessions.ts'
import type { SigningKeys } from '../../tokens/signing-keys.ts'
import { ForwardGate } from './forward-gate.ts'
import { JwtGate } from './jwt-gate.ts'
import { KeySet } from './key-set.ts'
import { SignInGate } from './sign-in-gate.ts'
import { TokenGate } from './token-gate.ts'
import { ZoneIdentity } from './zone-identity.ts'

export type Gate = JwtGate | ForwardGate | TokenGate | SignInGate

const maxGates = 1000

interface GatesParts {
  readonly clock: Clock
  /** Those that sign svc-identity. */
  readonly identityKeys: Pick<SigningKeys, 'current'>
  readonly log: Pick<Logger, 'info' | 'warn'>
  /** Null where there is no store. */
  readonly sessions: KnownSiteSessions | null
}

export class Gates {
  readonly #clock: Clock
  readonly #identityKeys: GatesParts['identityKeys']
  readonly #log: Pick<Logger, 'info' | 'warn'>
  readonly #sessions: KnownSiteSessions | null
  readonly #gates = new Memo<Gate>(maxGates)
  readonly #identities = new Memo<ZoneIdentity>(maxGates)
  readonly #keySets = new Memo<KeySet>(maxGates)

  constructor({ clock, identityKeys, log, sessions }: GatesParts) {
    this.#clock = clock
    this.#identityKeys = identityKeys
    this.#log = log
    this.#sessions = sessions
  }

  /** Throws if one does not compile. `names` are the fields that no client of the route may set. */
  of(config: ProtectConfig, names: readonly string[]): readonly Gate[] {
    // A token that a gate has not let in must not reach an origin as if it had.
    const withToken = config.some(({ kind }) => takesToken(kind)) ? ['authorization', ...names] : names
    return config.map(gate => {
      const removed = takesToken(gate.kind) ? names : withToken
      return once(this.#gates, { gate, removed }, () => this.#compile(gate, removed))
    })
  }

  identityOf(config: IdentityConfig): ZoneIdentity {
    const parts = { keys: this.#identityKeys, clock: this.#clock }
    return once(this.#identities, config, () => new ZoneIdentity(config, parts))
  }

  #compile(config: GateConfig, names: readonly string[]): Gate {
    if (config.kind === 'token') return new TokenGate(config, names)
    if (config.kind === 'sign_in') return new SignInGate(config, names, this.#sessions)
    const { ca, networks } = config
    if (config.kind === 'forward') {
      const { url } = config
      return new ForwardGate(config, {
        names,
        isAllowed: allowedIn(networks),
        changed: reason => this.#note(url, reason),
      })
    }
    const { keys: url } = config
    const keySet = once(this.#keySets, { url, ca, networks }, () => {
      const changed = (reason: string | null) => this.#note(url, reason)
      return new KeySet({ url, ca, isAllowed: allowedIn(networks), clock: this.#clock, changed })
    })
    return new JwtGate(config, names, { keySet, clock: this.#clock })
  }

  #note(address: string, reason: string | null): void {
    // A query may contain a key.
    const { origin, pathname } = new URL(address)
    const url = `${origin}${pathname}`
    if (reason === null) this.#log.info({ url }, 'gate works again')
    else this.#log.warn({ url, reason }, 'gate failed: no key set or authorizer')
  }
}

/** Whether such a gate looks for its credential in Authorization. */
function takesToken(kind: GateConfig['kind']): boolean {
  return kind === 'jwt' || kind === 'token'
}

function allowedIn(networks: readonly string[]): (address: string) => boolean {
  const allowed = new AddressSet(networks)
  return address => isPublic(address) || allowed.has(address)
}

function once<T extends object>(memo: Memo<T>, key: object, make: () => T): T {
  const text = JSON.stringify(key)
  let value = memo.get(text)
  if (value === undefined) memo.set(text, (value = make()))
  return value
}
