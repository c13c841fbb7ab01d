// The header rules of a route: their values for one request, and the resulting lines of a message.

import type { Facts } from '../../expression/expression.ts'
import type { Tally } from '../../metrics/counters/distribution.ts'
import type { Read } from '../../expression/readings.ts'
import type { HeaderRewrite } from '../../config/model/rewrite-config.ts'
import { type Refusal, refuse } from '../../errors/catalogue/refusal.ts'
import { isFieldByte } from '../../http1/fields/characters.ts'
import {
  type FieldId,
  type FieldLines,
  field,
  fieldId,
  isClaim,
  isSettable,
} from '../../http1/fields/fields.ts'
import { RewriteValue } from './value.ts'

const maxValueLength = 8 * 1024

interface HeaderRule {
  readonly name: string
  readonly id: FieldId
  readonly value: RewriteValue | null
  readonly cause: { readonly code: string }
}

export class HeaderRules {
  readonly #rules: readonly HeaderRule[]
  readonly #names: ReadonlySet<string>

  /** Throws if an expression does not compile or a field is reserved. */
  constructor(rules: readonly HeaderRewrite[], kind: FieldLines['kind'], failures: Tally) {
    this.#rules = rules.map(({ name, value }) => {
      const id = fieldId(name)
      const cause = { code: `rewrite of ${kind} header ${name}` }
      const compiled = value === null ? null : new RewriteValue(value, failures, cause)
      if (!isSettable(id, kind)) throw new Error(`the ${kind} header ${name} is the gateway's`)
      return { name, id, value: compiled, cause }
    })
    this.#names = new Set(rules.map(({ name }) => asRead(name)))
  }

  /** Refuses an expression that fails (1037), an invalid field value (1041). */
  evaluate(facts: Facts, read: Read): HeaderChanges | Refusal {
    const fields: string[] = []
    const ids: FieldId[] = []
    for (const { name, id, value, cause } of this.#rules) {
      const text = value === null ? '' : value.evaluate(facts, read)
      if (typeof text !== 'string') return text
      if (!isFieldValue(text)) return refuse('rewrite_invalid_header_value', {}, cause)
      if (text === '') continue
      fields.push(name, text)
      // What the operator sets is sent, whatever its name.
      ids.push(isClaim(id) ? field.other : id)
    }
    return new HeaderChanges(this.#names, fields, ids)
  }
}

/** The fields to remove, whoever sent them, and to set. */
export class HeaderChanges {
  readonly #names: ReadonlySet<string>
  /** One bit for each length that a name has, modulo 32: most other names have another one. */
  readonly #lengths: number
  readonly #fields: readonly string[]
  readonly #ids: readonly FieldId[]

  constructor(names: ReadonlySet<string>, fields: readonly string[], ids: readonly FieldId[]) {
    this.#names = names
    this.#lengths = [...names].reduce((lengths, { length }) => lengths | (1 << length), 0)
    this.#fields = fields
    this.#ids = ids
  }

  /** Sets one more field. */
  with(name: string, value: string): HeaderChanges {
    const names = new Set([...this.#names, asRead(name)])
    return new HeaderChanges(names, [...this.#fields, name, value], [...this.#ids, field.other])
  }

  /** Also makes other changes. */
  and(other: HeaderChanges | null): HeaderChanges {
    if (other === null) return this
    const names = this.#names.union(other.#names)
    return new HeaderChanges(names, [...this.#fields, ...other.#fields], [...this.#ids, ...other.#ids])
  }

  /** Set fields are sent even if the sender's Connection names them: the operator decides. */
  applyTo({ kind, fields, ids, hopByHop }: FieldLines): FieldLines {
    const remaining: string[] = []
    const remainingIds: FieldId[] = []
    for (let i = 0; i < ids.length; i++) {
      const name = fields[2 * i]!
      if (this.concerns(name)) continue
      remaining.push(name, fields[2 * i + 1]!)
      remainingIds.push(ids[i]!)
    }
    remaining.push(...this.#fields)
    remainingIds.push(...this.#ids)
    return { kind, fields: remaining, ids: remainingIds, hopByHop: hopByHop && this.#unlisted(hopByHop) }
  }

  concerns(name: string): boolean {
    return (this.#lengths & (1 << name.length)) !== 0 && this.#names.has(asRead(name))
  }

  /** Whether it leaves a message as it is, given as names and values in turns. */
  changesNothingIn(fields: readonly string[]): boolean {
    return this.#fields.length === 0 && !this.concernsAnyOf(fields)
  }

  /** Of names and values in turns. */
  concernsAnyOf(fields: readonly string[]): boolean {
    if (this.#lengths === 0) return false
    for (let i = 0; i < fields.length; i += 2) if (this.concerns(fields[i]!)) return true
    return false
  }

  #unlisted(hopByHop: ReadonlySet<string>): ReadonlySet<string> {
    return new Set([...hopByHop].filter(name => !this.concerns(name)))
  }
}

/** Returns the fields that changes do not concern, as names and values in turns; null for none. */
export function remainingFields<Fields extends readonly string[]>(
  changes: HeaderChanges | null,
  fields: Fields | null,
): Fields | string[] | null {
  if (changes === null || fields === null) return fields
  const remaining = fields.filter((_, i) => !changes.concerns(fields[i - (i % 2)]!))
  return remaining.length === 0 ? null : remaining
}

/** Returns a name as the most lenient recipients read it, which fold all but letters and digits into one. */
export function asRead(name: string): string {
  const lower = name.toLowerCase()
  return /[^a-z0-9-]/.test(lower) ? lower.replace(/[^a-z0-9]/g, '-') : lower
}

/** One-byte characters, no control characters (RFC 9110 section 5.5). */
function isFieldValue(value: string): boolean {
  if (value.length > maxValueLength) return false
  for (let i = 0; i < value.length; i++) if (isFieldByte[value.charCodeAt(i)] !== 1) return false
  return true
}
