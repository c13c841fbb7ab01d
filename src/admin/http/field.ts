// One place in the body of a request. Violations are recorded with its pointer, and all reported at once.

import { isObject, pointerStep } from '../../base/text/json.ts'
import { parseMoment } from '../../base/text/moment.ts'
import { didYouMean } from '../../base/text/nearest.ts'
import type { Rule } from '../../config/shape/shape.ts'
import { faultAt } from '../../errors/catalogue/api-faults.ts'
import type { Fault } from '../../errors/catalogue/refusal.ts'

type JsonObject = Readonly<Record<string, unknown>>

type PlaceFault = 'invalid' | 'missing' | 'unknown' | 'repeated' | 'owned'

const maxFaults = 100
/** Maximum of characters of a caller's member name in messages. */
const maxNameLength = 100

export class Field {
  readonly value: unknown
  readonly #pointer: string
  readonly #name: string
  readonly #faults: Fault[]
  #isRefused = false

  /** Begins at the root of a body; faults of everything read from it are added to the list. */
  constructor(value: unknown, faults: Fault[], pointer = '', name = '') {
    this.value = value
    this.#faults = faults
    this.#pointer = pointer
    this.#name = name
  }

  /** Records a violation, in words that follow the name of the field; the first one is reported. */
  refuse(rule: string, fault: PlaceFault = 'invalid'): null {
    if (!this.#isRefused && this.#faults.length < maxFaults)
      this.#faults.push(faultAt(this.#pointer, fault, this.#name || 'The body', rule))
    this.#isRefused = true
    return null
  }

  mustBe(id: string): void {
    if (this.value !== undefined && this.value !== id)
      this.refuse('must match the id in the path, or be left out')
  }

  flag(): boolean | null {
    if (this.value === undefined || typeof this.value === 'boolean') return this.value ?? null
    return this.refuse('must be true or false')
  }

  integer(min: number, max: number): number | null {
    const { value } = this
    if (value === undefined) return null
    if (typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max) return value
    return this.refuse(`must be a whole number from ${min} to ${max}`)
  }

  text(maxLength: number): string | null {
    const { value } = this
    if (value === undefined) return null
    if (typeof value !== 'string' || value.trim() === '' || value.length > maxLength)
      return this.refuse(`must be a string of 1 to ${maxLength} characters`)
    return unprintable.test(value)
      ? this.refuse('must not contain control characters or lone surrogates')
      : value
  }

  /** Reads a text; faults are described in words that follow the name of the field. */
  ruled(faultOf: (text: string) => string | null): string | null {
    const { value } = this
    if (value === undefined) return null
    if (typeof value !== 'string') return this.refuse('must be a string')
    const fault = faultOf(value)
    return fault === null ? value : this.refuse(fault)
  }

  by<T>(rule: Rule<T>): T | null {
    const { value } = this
    if (value === undefined) return null
    if (typeof value !== 'string') return this.refuse('must be a string')
    if (!value.isWellFormed()) return this.refuse('must not contain lone surrogates')
    const reading = rule(value)
    return 'flaw' in reading ? this.refuse(reading.flaw) : reading.value
  }

  oneOf<const Choice extends string>(choices: readonly Choice[]): Choice | null {
    const { value } = this
    if (value === undefined) return null
    return choices.find(choice => choice === value) ?? this.refuse(`must be ${choices.join(' or ')}`)
  }

  /** Reads a time (RFC 3339) as ms since the epoch; null stands for none, as absence does. */
  time(): number | null {
    const { value } = this
    if (value === undefined || value === null) return null
    const time = typeof value === 'string' ? parseMoment(value) : null
    return time ?? this.refuse('must be a time such as 2030-01-31T12:00:00Z')
  }

  items(min: number, max: number): readonly Field[] {
    const { value } = this
    if (value === undefined) return []
    if (Array.isArray(value) && value.length >= min && value.length <= max)
      return value.map((item, i) => this.#at(item, String(i), `${this.#name}[${i}]`))
    this.refuse(`must be a list of ${min} to ${max} items`)
    return []
  }

  /** Returns the members of an object by name; records missing and unknown ones. */
  members<Required extends string, Optional extends string = never>(
    required: readonly Required[],
    optional: readonly Optional[] = [],
  ): Readonly<Record<Required | Optional, Field>> {
    const object = this.object()
    const names: readonly string[] = [...required, ...optional]
    for (const name of Object.keys(object ?? {})) if (!names.includes(name)) this.#refuseUnknown(name, names)
    const fields = names.map(name => [name, this.#member(ownValue(object, name), name)] as const)
    if (object)
      for (const [, field] of fields.slice(0, required.length))
        if (field.value === undefined) field.refuse('is required', 'missing')
    return Object.fromEntries(fields) as Record<Required | Optional, Field>
  }

  object(): JsonObject | null {
    const { value } = this
    if (value === undefined) return null
    if (isObject(value)) return value
    return this.refuse('must be an object')
  }

  #refuseUnknown(name: string, names: readonly string[]): void {
    if (this.#faults.length >= maxFaults) return
    const hint = didYouMean(name.slice(0, maxNameLength), names)
    this.#member(undefined, name).refuse(`is an unknown member${hint}`, 'unknown')
  }

  #member(value: unknown, name: string): Field {
    const short = name.slice(0, maxNameLength).toWellFormed()
    return this.#at(value, short, this.#name === '' ? short : `${this.#name}.${short}`)
  }

  #at(value: unknown, token: string, name: string): Field {
    return new Field(value, this.#faults, this.#pointer + pointerStep(token), name)
  }
}

/** Of what a page or a log line could not show as it is. */
export const unprintable = /[\p{Cc}\p{Cs}\u2028\u2029\u202a-\u202e\u2066-\u2069]/u

function ownValue(object: JsonObject | null, name: string): unknown {
  return object && Object.hasOwn(object, name) ? object[name] : undefined
}
