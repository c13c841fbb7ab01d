// A form in progress: the values of its fields, and their faults.

import { randomBytes } from 'node:crypto'
import type { Form } from '../../pages/forms/form.ts'
import type { Failure, Faults } from '../page/api-client.ts'

type Values = Readonly<Record<string, string>>

/** The hidden field of the key under which the API creates something once. */
export const keyField = 'idempotency_key'
export const etagField = 'etag'

export class Draft {
  readonly values: Values
  readonly faults: Faults
  /** 422 after a fault, or the status of the API; undefined for a form that was not sent yet. */
  readonly status: number | undefined

  constructor(values: Values = {}, faults: Faults = {}, status?: number) {
    this.values = values
    this.faults = faults
    this.status = status
  }

  /** Makes a draft of a sent form, without faults so far. */
  static of(form: Form): Draft {
    const { form_token, ...values } = Object.fromEntries(form)
    return new Draft(values)
  }

  /**
   * Returns the draft with the faults of the API. `renamed` maps members of its body, and all below them, to
   * fields of the form; a member with a trailing slash is a list, whose items are the fields of a list.
   */
  refused({ status, faults }: Failure, renamed: Readonly<Record<string, string>> = {}): Draft {
    if (status !== 422)
      return new Draft(this.values, renameAll(faults, renamed), status === 400 ? 422 : status)
    // The key was used for something else, and is of no use any more.
    const { [keyField]: _, ...values } = this.values
    return new Draft(values, { '': sentBefore }, 422)
  }

  /**
   * Returns the draft after a concurrent change: the input stays, each field shows the current value beside
   * it, and it is sent again with the current tag.
   */
  overtaken(now: Values, etag: string | null): Draft {
    const names = Object.keys(now).filter(name => now[name] !== this.value(name))
    const faults = names.map(name => [pointerOf(name), `It is now: ${now[name] || 'empty'}.`])
    const values = { ...this.values, ...(etag !== null && { [etagField]: etag }) }
    return new Draft(values, { '': changedMeanwhile, ...Object.fromEntries(faults) }, 412)
  }

  withFault(name: string, sentence: string): Draft {
    return new Draft(this.values, { ...this.faults, [pointerOf(name)]: sentence }, 422)
  }

  with(values: Values): Draft {
    return new Draft({ ...this.values, ...values }, this.faults, this.status)
  }

  value(name: string): string {
    return this.values[name] ?? ''
  }

  has(name: string): boolean {
    return Object.hasOwn(this.values, name)
  }

  ticked(name: string): readonly string[] {
    const prefix = `${name}.`
    return Object.keys(this.values).flatMap(key => (key.startsWith(prefix) ? [key.slice(prefix.length)] : []))
  }

  ticking(name: string, ticked: readonly string[]): Draft {
    const others = Object.entries(this.values).filter(([key]) => !key.startsWith(`${name}.`))
    const boxes = ticked.map(value => [`${name}.${value}`, 'on'])
    return new Draft(Object.fromEntries([...others, ...boxes]), this.faults, this.status)
  }

  fault(name: string): string | undefined {
    return this.faults[pointerOf(name)]
  }

  /** Returns the non-empty values of the fields `name.0`, `name.1` and so on. */
  list(name: string): readonly string[] {
    return indexed(this.values, name).filter(value => value !== '')
  }

  /**
   * Returns how many fields of a list are shown: the filled ones, and one more if `more` was pressed, or
   * there are none.
   */
  lengthOf(name: string): number {
    const { length } = this.list(name)
    return this.values.more === name || length === 0 ? length + 1 : length
  }

  /** Whether a button was pressed that adds a field: then nothing is submitted. */
  get isGrowing(): boolean {
    return this.has('more')
  }

  /** Returns the draft with the fields of lists without gaps, so that faults name the right ones. */
  compact(...names: readonly string[]): Draft {
    const rest = Object.entries(this.values).filter(([key]) => !names.some(name => isOf(key, name)))
    const rows = names.flatMap(name => this.list(name).map((value, i) => [`${name}.${i}`, value]))
    return new Draft(Object.fromEntries([...rest, ...rows]), this.faults, this.status)
  }

  /** Returns the key under which the form's resource is created once: that of the form, or a new one. */
  get key(): string {
    return this.value(keyField) || randomBytes(16).toString('hex')
  }

  get etag(): string | undefined {
    return this.values[etagField]
  }
}

function indexed(values: Values, name: string): readonly string[] {
  return Object.keys(values)
    .filter(key => isOf(key, name))
    .sort((a, b) => Number(a.slice(name.length + 1)) - Number(b.slice(name.length + 1)))
    .map(key => values[key]!.trim())
}

function isOf(key: string, name: string): boolean {
  return key.startsWith(`${name}.`) && /^\d{1,3}$/.test(key.slice(name.length + 1))
}

/** Field names are pointers (RFC 6901) with dots for slashes. */
function pointerOf(name: string): string {
  return `/${name.replaceAll('.', '/')}`
}

const changedMeanwhile =
  'Somebody else changed this after you loaded it. Look at what is there now; send the form again to put yours in its place.'

const sentBefore =
  'This form was sent before, with other values, and what it asked for then was done. Look at that before you send it again.'

function renameAll(faults: Faults, renamed: Readonly<Record<string, string>>): Faults {
  const result: Record<string, string> = {}
  for (const [pointer, rule] of Object.entries(faults)) {
    const place = renameOne(pointer, renamed)
    // A list in the body is not a list for people who fill in fields.
    const sentence = rule.replace(
      /^Must be a list of 1 to (\d+) items\.$/,
      'Enter at least one, and $1 at most.',
    )
    result[place] = result[place] === undefined ? sentence : `${result[place]} ${sentence}`
  }
  return result
}

function renameOne(pointer: string, renamed: Readonly<Record<string, string>>): string {
  for (const [member, name] of Object.entries(renamed)) {
    if (member.endsWith('/') && pointer.startsWith(member))
      return `${pointerOf(name)}/${pointer.slice(member.length)}`
    if (pointer === member || pointer.startsWith(`${member}/`)) return pointerOf(name)
  }
  return pointer
}
