// Reads the bodies of custom providers, in the shape of their published client.

import { isObject } from '../../base/text/json.ts'
import { providerUrl, withVersion } from '../../config/settings/ai-rules.ts'
import type { Fault } from '../../errors/catalogue/refusal.ts'
import { crosses, fieldId } from '../../http1/fields/fields.ts'
import type { CustomProvider, CustomProviderNotes } from '../../store/records/custom-provider.ts'
import { Field } from '../http/field.ts'

const slug = /^[a-z0-9-]{1,57}$/
export const slugPattern = slug.source
export const maxHeaders = 20
export const maxNote = 2_000

type New = Omit<CustomProvider, 'account' | 'createdAt' | 'modifiedAt'>
type Change = Partial<Pick<CustomProvider, 'name' | 'isEnabled' | 'headers' | 'notes'>>

const changeable = [
  'name',
  'enable',
  'headers',
  'beta',
  'curl_example',
  'description',
  'js_example',
  'link',
  'position',
] as const

export function isSlug(text: string): boolean {
  return slug.test(text)
}

export function readCustomProvider(body: unknown): New | readonly Fault[] {
  const faults: Fault[] = []
  const members = new Field(body, faults).members(['name', 'slug', 'base_url'], changeable)
  const { name = '', isEnabled = true, headers = [], notes = {} } = readChangeable(members)
  const read: New = {
    id: members.slug.ruled(text => (isSlug(text) ? null : slugRule)) ?? '',
    name,
    url: readUrl(members.base_url),
    isEnabled,
    headers,
    notes,
  }
  return faults.length > 0 ? faults : read
}

/** Reads what can change: keys are sealed for the slug and the address. */
export function readCustomProviderChange(body: unknown): Change | readonly Fault[] {
  const faults: Fault[] = []
  const { base_url, slug, ...members } = new Field(body, faults).members(
    [],
    [...changeable, 'base_url', 'slug'],
  )
  for (const fixed of [base_url, slug])
    if (fixed.value !== undefined) fixed.refuse('cannot be changed: create another provider')
  const read = readChangeable(members)
  return faults.length > 0 ? faults : read
}

function readChangeable(members: Readonly<Record<(typeof changeable)[number], Field>>): Change {
  const name = members.name.text(100)
  const isEnabled = members.enable.flag()
  const headers = members.headers.value === undefined ? null : readHeaders(members.headers)
  const texts = ['curl_example', 'description', 'js_example', 'link'] as const
  const notes: CustomProviderNotes = {
    ...given('beta', members.beta.flag()),
    ...given('position', members.position.integer(0, 1_000_000)),
    ...Object.assign({}, ...texts.map(text => given(text, readNote(members[text])))),
  }
  return {
    ...given('name', name),
    ...given('isEnabled', isEnabled),
    ...given('headers', headers),
    ...(Object.keys(notes).length > 0 && { notes }),
  }
}

function given<Name extends string, T>(name: Name, value: T | null): Partial<Record<Name, T>> {
  return value === null ? {} : ({ [name]: value } as Record<Name, T>)
}

function readNote(field: Field): string | null {
  return field.ruled(text => {
    if (!text.isWellFormed()) return 'must not contain lone surrogates'
    return text.length <= maxNote ? null : `must have at most ${maxNote} characters`
  })
}

const slugRule = 'must be 1 to 57 lower-case letters, digits and hyphens'

function readUrl(field: Field): string {
  const url = field.by(providerUrl)
  if (url === null) return ''
  if (!url.startsWith('https://')) field.refuse('must begin with https://')
  return withVersion('custom-', 'openai', url)
}

/** Reads JSON of fields and their values; credentials are no part of them, since headers are shown again. */
function readHeaders(field: Field): readonly string[] {
  const text = field.ruled(text => (text.length <= 4_096 ? null : 'must have at most 4096 characters'))
  if (text === null || text === '') return []
  const object = jsonOf(text)
  const entries = isObject(object) ? Object.entries(object) : null
  if (entries === null || entries.length > maxHeaders) {
    field.refuse(`must be a JSON object of at most ${maxHeaders} header fields and their values`)
    return []
  }
  for (const [name, value] of entries) {
    if (!/^[A-Za-z0-9-]{1,64}$/.test(name) || !isOwn(name)) field.refuse(`must not set ${name.slice(0, 64)}`)
    else if (typeof value !== 'string' || !/^[!-~](?:[ -~]{0,1022}[!-~])?$/.test(value))
      field.refuse(`must have a text of 1 to 1024 visible ASCII characters as the value of ${name}`)
  }
  return entries.flat() as string[]
}

/** Whether the account may set a field: not those of the connection, of the body, or with credentials. */
function isOwn(name: string): boolean {
  if (!crosses(fieldId(name), 'request')) return false
  return !/^(?:authorization|proxy-.*|cookie|origin|referer|.*api-?key|svc-.*|host|content-.*|accept-encoding|via|forwarded|x-forwarded-.*|cdn-loop|expect|te|trailer|upgrade|sec-.*)$/i.test(
    name,
  )
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
