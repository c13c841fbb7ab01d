// Forms as browsers send them, read strictly: a browser never sends what is refused here.

export type Form = ReadonlyMap<string, string>

export interface FormRules {
  readonly maxBytes: number
  readonly fields: number
  readonly hasLines: boolean
  readonly hasFiles?: boolean
}

/** Limits for sign-in: many times the names and values of all its pages. */
export const signInForms: FormRules = { maxBytes: 32 * 1024, fields: 200, hasLines: false }

export function isForm(contentType: string | undefined): boolean {
  return /^application\/x-www-form-urlencoded[ \t]*(?:;[ \t]*charset="?utf-8"?[ \t]*)?$/i.test(
    contentType ?? '',
  )
}

/** Null if too large, with a duplicate name, too many fields, control characters or broken text. */
export function readForm(body: Buffer, { maxBytes, fields: maxFields, hasLines } = signInForms): Form | null {
  const form = new Map<string, string>()
  if (body.length === 0) return form
  if (body.length > maxBytes) return null
  const text = body.toString('latin1')
  if (!/^[\x21-\x7e]*$/.test(text)) return null
  const fields = text.split('&')
  if (fields.length > maxFields) return null
  for (const field of fields) {
    const [, encodedName, encodedValue] = /^([^=]+)=([^=]*)$/.exec(field) ?? []
    const name = decode(encodedName)
    const value = decode(encodedValue, hasLines)
    if (name === null || value === null || form.has(name)) return null
    form.set(name, value)
  }
  return form
}

/** Browsers send lines with a carriage return before each feed; the result has the feed alone. */
function decode(text: string | undefined, hasLines = false): string | null {
  try {
    const decoded = decodeURIComponent(text!.replaceAll('+', ' '))
    const value = hasLines ? decoded.replaceAll('\r\n', '\n') : decoded
    return (hasLines ? unprintable : unprintableOrFeed).test(value) ? null : value
  } catch {
    return null
  }
}

/** Control characters that no field may contain: all but tabs and line ends. */
export const unprintable = /[\0-\x08\x0b-\x1f\x7f]/
export const unprintableOrFeed = /[\0-\x08\x0a-\x1f\x7f]/
