// Rules for reading an untrusted request.

import { type Place, shorten } from './place.ts'

/** Undefined if there is nothing to write: a fault was recorded, or the value means "off". */
export type Rule<T> = (value: unknown, at: Place) => T | undefined

type Rules = Readonly<Record<string, Rule<unknown>>>
type Meaning<R> = R extends Rule<infer T> ? T : never
type Read<N extends Rules, O extends Rules> = { readonly [K in keyof N]: Meaning<N[K]> } & {
  readonly [K in keyof O]?: Meaning<O[K]> | undefined
}

export function record<const N extends Rules, const O extends Rules>(
  needed: N,
  optional: O,
): Rule<Read<N, O>> {
  const rules: Rules = { ...needed, ...optional }
  return (value, at) => {
    if (!isObject(value)) return at.fault('must be an object')
    for (const key of Object.keys(value)) {
      if (!Object.hasOwn(rules, key) && value[key] !== null)
        at.step(key).fault(`is unknown in ${at.findings.direction.from}`)
    }
    const read: Record<string, unknown> = {}
    for (const [key, rule] of Object.entries(rules)) {
      const member = value[key] ?? null
      if (member !== null) read[key] = rule(member, at.step(key))
      else if (Object.hasOwn(needed, key)) at.step(key).fault('is missing')
    }
    return read as Read<N, O>
  }
}

/** An object by the rule that its own member `key` names; without that member, by `usual`. */
export function variants<const V extends Rules>(
  key: string,
  table: V,
  usual?: keyof V & string,
): Rule<Meaning<V[keyof V]>> {
  return (value, at) => {
    if (!isObject(value)) return at.fault('must be an object')
    const kind = value[key] ?? usual
    if (kind === undefined || kind === null) return at.step(key).fault('is missing')
    if (typeof kind === 'string' && Object.hasOwn(table, kind)) {
      return table[kind]!(value, at) as Meaning<V[keyof V]> | undefined
    }
    return refuseWord(kind, Object.keys(table), at.step(key))
  }
}

/** One of a few words, as the other API's word for it. */
export function words<const T>(table: Readonly<Record<string, T>>): Rule<T> {
  return (value, at) => {
    if (typeof value === 'string' && Object.hasOwn(table, value)) return table[value]
    return refuseWord(value, Object.keys(table), at)
  }
}

export function list<T>(rule: Rule<T>): Rule<readonly T[]> {
  return (value, at) => {
    if (!Array.isArray(value)) return at.fault('must be a list')
    return value.map((member, index) => rule(member, at.step(index)) as T)
  }
}

export function textOr<T>(rule: Rule<T>): Rule<string | T> {
  return (value, at) => (typeof value === 'string' ? value : rule(value, at))
}

export function map<T, U>(rule: Rule<T>, turn: (read: T, at: Place) => U | undefined): Rule<U> {
  return (value, at) => {
    const before = at.findings.count
    const read = rule(value, at)
    return at.findings.count > before || read === undefined ? undefined : turn(read, at)
  }
}

/** Only values that switch the member off; anything else has no equivalent. */
export function off(...values: readonly unknown[]): Rule<never> {
  return (value, at) => (values.some(off => isSame(value, off)) ? undefined : at.untranslatable())
}

/** Reported to the caller: it has no equivalent, but is a hint, or not read by the model. */
export const dropped: Rule<never> = (_value, at) => at.drop()

/** Silently if the value means "off", else as `dropped`. */
export function droppedUnless(...values: readonly unknown[]): Rule<never> {
  return (value, at) => (values.some(off => isSame(value, off)) ? undefined : at.drop())
}

/** Refuses every value, with advice on what to do instead. */
export function never(advice: string): Rule<never> {
  return (_value, at) => at.untranslatable(advice)
}

export const anything: Rule<unknown> = value => value

export const text: Rule<string> = (value, at) =>
  typeof value === 'string' ? value : at.fault('must be a string')

export const truth: Rule<boolean> = (value, at) =>
  typeof value === 'boolean' ? value : at.fault('must be true or false')

export const object: Rule<Readonly<Record<string, unknown>>> = (value, at) =>
  isObject(value) ? value : at.fault('must be an object')

export function whole(min: number): Rule<number> {
  return (value, at) => {
    const number = numberIn(value)
    return number !== undefined && Number.isSafeInteger(number) && number >= min
      ? number
      : at.fault(`must be a whole number of at least ${min}`)
  }
}

export function number(min: number, max: number, why = ''): Rule<number> {
  return (value, at) => {
    const number = numberIn(value)
    return number !== undefined && number >= min && number <= max
      ? number
      : at.fault(`must be a number from ${min} to ${max}${why}`)
  }
}

/** A number that kept its digits is no object. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !isRawJson(value)
}

/** Also of a number that kept its digits; undefined for anything else. */
export function numberIn(value: unknown): number | undefined {
  if (typeof value === 'number') return value
  return isRawJson(value) ? Number(value.rawJSON) : undefined
}

interface RawJson {
  readonly rawJSON: string
}

const { isRawJSON: isRawJson } = JSON as unknown as { isRawJSON(value: unknown): value is RawJson }

function refuseWord(value: unknown, words: readonly string[], at: Place): undefined {
  if (typeof value !== 'string') return at.fault('must be a string')
  at.fault(`"${shorten(value)}" cannot be translated to ${at.findings.direction.to}; use ${words.join(', ')}`)
}

/** `off` is a single value, a list of such, or the empty object. */
function isSame(value: unknown, off: unknown): boolean {
  if (Array.isArray(off)) {
    return (
      Array.isArray(value) && value.length === off.length && off.every((member, i) => value[i] === member)
    )
  }
  if (typeof off === 'number') return numberIn(value) === off
  return value === off || (isObject(off) && isObject(value) && Object.keys(value).length === 0)
}
