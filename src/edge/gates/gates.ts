// Compiles the gates of routes. A reload takes over those that are unchanged, with what they know.

import type { Clock } from '../../base/clock.ts'
import type { JwtGateConfig, ProtectConfig } from '../../config/model/protect-config.ts'
import { Memo } from '../../expression/memo.ts'
import type { Logger } from '../../log/log.ts'
import { AddressSet } from '../../net/address/address.ts'
import { isPublic } from '../../net/address/public-address.ts'
import { JwtGate } from './jwt-gate.ts'
import { KeySet } from './key-set.ts'

export type Gate = JwtGate

const maxGates = 1000

export class Gates {
  readonly #clock: Clock
  readonly #log: Pick<Logger, 'info' | 'warn'>
  readonly #gates = new Memo<Gate>(maxGates)
  readonly #keySets = new Memo<KeySet>(maxGates)

  constructor({ clock, log }: { readonly clock: Clock; readonly log: Pick<Logger, 'info' | 'warn'> }) {
    this.#clock = clock
    this.#log = log
  }

  /** Throws if one does not compile. */
  of(config: ProtectConfig): readonly Gate[] {
    return config.map(gate => once(this.#gates, gate, () => this.#jwt(gate)))
  }

  #jwt(config: JwtGateConfig): JwtGate {
    const { keys: url, ca, networks } = config
    const keySet = once(this.#keySets, { url, ca, networks }, () => {
      const allowed = new AddressSet(networks)
      const isAllowed = (address: string) => isPublic(address) || allowed.has(address)
      return new KeySet({
        url,
        ca,
        isAllowed,
        clock: this.#clock,
        changed: failure => this.#note(url, failure),
      })
    })
    return new JwtGate(config, keySet, this.#clock)
  }

  #note(url: string, reason: string | null): void {
    if (reason === null) this.#log.info({ url }, 'key set fetched again')
    else this.#log.warn({ url, reason }, 'fetching a key set failed')
  }
}

function once<T extends object>(memo: Memo<T>, key: object, make: () => T): T {
  const text = JSON.stringify(key)
  let value = memo.get(text)
  if (value === undefined) memo.set(text, (value = make()))
  return value
}
