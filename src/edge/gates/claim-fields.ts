// The request fields that a gate sets from claims, and those that it removes: no client may set them.

import type { OriginConfig, RouteConfig, ZoneConfig } from '../../config/model/config.ts'
import type { ClaimField, ProtectConfig } from '../../config/model/protect-config.ts'
import { isLoopback } from '../../config/shape/host-rules.ts'
import { type FieldId, field, fieldId, isClaim } from '../../http1/fields/fields.ts'
import { type Claims, fieldValueOf } from '../../protect/claims.ts'
import { asRead, HeaderChanges } from '../rewrite/headers.ts'
import type { Admission } from './gate.ts'

/**
 * The fields that gates set, as readers see their names. An origin believes each of them on all its paths,
 * whichever gate let a client in, so that no client may send it on any route of a zone where a gate sets it,
 * of another zone that leads to the same origin, or in an AI call to it.
 */
export class FieldsSetByGates {
  readonly #byZone = new Map<ZoneConfig, readonly string[]>()
  readonly #byOrigin = new Map<string, readonly string[]>()

  constructor(zones: readonly ZoneConfig[]) {
    for (const zone of zones) {
      const names = unique(zone.routes.flatMap(({ protect }) => namesOf(protect)))
      this.#byZone.set(zone, names)
      if (names.length > 0)
        for (const origin of zone.routes.flatMap(addressesOf))
          this.#byOrigin.set(origin, unique([...(this.#byOrigin.get(origin) ?? []), ...names]))
    }
  }

  /** Returns the fields that clients of a route may not send, in lower case and in order. */
  notFrom(route: RouteConfig, zone: ZoneConfig): readonly string[] {
    const names = addressesOf(route).flatMap(origin => this.#byOrigin.get(origin) ?? [])
    return unique([...this.#byZone.get(zone)!, ...names])
  }

  /** Returns what removes the fields that callers of a provider may not send; null if there are none. */
  notTo(provider: Address): HeaderChanges | null {
    const names = this.#byOrigin.get(addressOf(provider))
    return names === undefined ? null : new HeaderChanges(new Set(names), [], [])
  }
}

type Address = Pick<OriginConfig, 'host' | 'port'>

function namesOf(protect: ProtectConfig | null): readonly string[] {
  return (protect ?? [])
    .flatMap(gate => (gate.kind === 'forward' ? gate.copy : gate.fields.map(({ name }) => name)))
    .map(asRead)
}

function addressesOf({ pool }: RouteConfig): readonly string[] {
  return (pool?.origins ?? []).map(addressOf)
}

/** Neither the scheme nor another name of loopback makes another origin: one process often serves all. */
function addressOf({ host, port }: Address): string {
  return `${isLoopback(host) ? 'localhost' : host}:${port}`
}

function unique(names: readonly string[]): readonly string[] {
  return [...new Set(names)].toSorted()
}

/** Lets anybody in, without fields that gates set; null if there are none. */
export function strangerWithout(names: readonly string[]): Admission | null {
  if (names.length === 0) return null
  const changes = new HeaderChanges(new Set(names), [], [])
  return { subject: null, claims: {}, changes, isCurrent: () => true }
}

export class ClaimFields {
  readonly #config: readonly ClaimField[]
  readonly #names: ReadonlySet<string>
  readonly #withoutClaims: HeaderChanges

  /**
   * `names` are what it removes besides the token. `keepsToken` if the origin gets Authorization as well,
   * which is not for the gate or is for both.
   */
  constructor(config: readonly ClaimField[], names: readonly string[], keepsToken = false) {
    this.#config = config
    this.#names = new Set(keepsToken ? names : ['authorization', ...names])
    this.#withoutClaims = new HeaderChanges(this.#names, [], [])
  }

  changesFor(claims: Claims): HeaderChanges {
    if (this.#config.length === 0) return this.#withoutClaims
    const fields: string[] = []
    const ids: FieldId[] = []
    for (const { name, claim } of this.#config) {
      const value = fieldValueOf(claims, claim)
      if (value === null) continue
      fields.push(name, value)
      const id = fieldId(name)
      // What the operator sets is sent, whatever its name.
      ids.push(isClaim(id) ? field.other : id)
    }
    return new HeaderChanges(this.#names, fields, ids)
  }
}
