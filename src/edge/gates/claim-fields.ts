// The request fields that a gate sets from claims, and those that it removes: no client may set them.

import type { ClaimField, ProtectConfig } from '../../config/model/protect-config.ts'
import { type FieldId, field, fieldId, isClaim } from '../../http1/fields/fields.ts'
import { type Claims, fieldValueOf } from '../../protect/claims.ts'
import { asRead, HeaderChanges } from '../rewrite/headers.ts'
import type { Admission } from './gate.ts'

/**
 * Returns the fields that any gate of a zone sets, as readers see their names: an origin believes each of
 * them on all its paths, whichever gate let a client in.
 */
export function fieldsSetBy(
  routes: readonly { readonly protect: ProtectConfig | null }[],
): readonly string[] {
  const names = routes
    .flatMap(({ protect }) => protect ?? [])
    .flatMap(gate => (gate.kind === 'forward' ? gate.copy : gate.fields.map(({ name }) => name)))
  return [...new Set(names.map(asRead))].toSorted()
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
