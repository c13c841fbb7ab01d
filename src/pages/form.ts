// Forms as browsers send them (application/x-www-form-urlencoded), read strictly: a browser never sends what is refused here.

/** What a form says; the names are those of its fields. */
export type Form = ReadonlyMap<string, string>

/** The largest form, in bytes: names and values of all pages fit many times. */
export const largestForm = 32 * 1024

const mostFields = 200

/** Whether a Content-Type is that of a form. */
export function isForm(contentType: string | undefined): boolean {
  return /^application\/x-www-form-urlencoded[ \t]*(?:;[ \t]*charset="?utf-8"?[ \t]*)?$/i.test(
    contentType ?? '',
  )
}

/** Reads a form; null for one that is too large, with a duplicate name, too many fields, broken escapes, control characters, or text that is not UTF-8. */
export function readForm(body: Buffer): Form | null {
  const form = new Map<string, string>()
  if (body.length === 0) return form
  if (body.length > largestForm) return null
  const text = body.toString('latin1')
  if (!/^[\x21-\x7e]*$/.test(text)) return null
  const fields = text.split('&')
  if (fields.length > mostFields) return null
  for (const field of fields) {
    const [, encodedName, encodedValue] = /^([^=]+)=([^=]*)$/.exec(field) ?? []
    const name = decode(encodedName)
    const value = decode(encodedValue)
    if (name === null || value === null || form.has(name)) return null
    form.set(name, value)
  }
  return form
}

function decode(text: string | undefined): string | null {
  try {
    const decoded = decodeURIComponent(text!.replaceAll('+', ' '))
    return /[\0-\x08\x0a-\x1f\x7f]/.test(decoded) ? null : decoded
  } catch {
    return null
  }
}
