// The request fields that a gate sets from claims, and those that it removes: no client may set them.

import type { ClaimField } from '../../config/model/protect-config.ts'
import { type FieldId, field, fieldId, isClaim } from '../../http1/fields/fields.ts'
import { type Claims, fieldValueOf } from '../../protect/claims.ts'
import { asRead, HeaderChanges } from '../rewrite/headers.ts'

export class ClaimFields {
  readonly #config: readonly ClaimField[]
  readonly #names: ReadonlySet<string>

  /** `keepsToken` if the origin gets Authorization as well, which is not for the gate or is for both. */
  constructor(config: readonly ClaimField[], keepsToken = false) {
    this.#config = config
    const names = config.map(({ name }) => asRead(name))
    this.#names = new Set(keepsToken ? names : ['authorization', ...names])
  }

  changesFor(claims: Claims): HeaderChanges {
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
