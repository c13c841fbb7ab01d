// Forms with files (multipart/form-data, RFC 7578), read strictly, as text in UTF-8.

import { type Form, type FormRules, unprintable, unprintableOrFeed } from './form.ts'

/** Returns the boundary of a Content-Type of such a form (RFC 2046 section 5.1.1); null for any other. */
export function boundaryOf(contentType: string | undefined): string | null {
  const [, quoted, plain] =
    /^multipart\/form-data[ \t]*;[ \t]*boundary=(?:"([\w'()+,./:=?-]{1,70})"|([\w'()+./:=?-]{1,70}))$/i.exec(
      contentType ?? '',
    ) ?? []
  return quoted ?? plain ?? null
}

/** Null with a duplicate name, too many fields, another kind of part, or no UTF-8; a file may be empty. */
export function readMultipart(
  body: Buffer,
  boundary: string,
  { maxBytes, fields, hasLines }: FormRules,
): Form | null {
  const form = new Map<string, string>()
  const delimiter = `\r\n--${boundary}`
  if (body.length > maxBytes) return null
  // The first delimiter has no line before it.
  const text = `\r\n${body.toString('latin1')}`
  const parts = text.split(delimiter)
  if (parts.length < 2 || parts.shift() !== '' || !/^--(\r\n)?$/.test(parts.pop()!)) return null
  if (parts.length > fields) return null
  for (const part of parts) {
    const [, name, isFile, value] = fieldIn(part) ?? []
    const decodedName = name === undefined ? null : decode(unescapeName(name))
    const decoded = value === undefined ? null : decode(value)
    if (decodedName === null || decoded === null || form.has(decodedName)) return null
    const lines = isFile === undefined ? decoded.replaceAll('\r\n', '\n') : decoded
    if (isFile === undefined && (hasLines ? unprintable : unprintableOrFeed).test(lines)) return null
    form.set(decodedName, lines)
  }
  return form
}

function fieldIn(part: string): RegExpExecArray | null {
  return /^\r\nContent-Disposition: form-data; name="([^"\r\n]+)"(; filename="[^"\r\n]*")?(?:\r\nContent-Type: [^\r\n]*)?\r\n\r\n([\s\S]*)$/i.exec(
    part,
  )
}

/** Names have quotes and line ends escaped (HTML 4.10.21.8). */
function unescapeName(name: string): string {
  return name.replaceAll('%22', '"').replaceAll('%0D', '\r').replaceAll('%0A', '\n')
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

function decode(bytes: string): string | null {
  try {
    return utf8.decode(Buffer.from(bytes, 'latin1'))
  } catch {
    return null
  }
}
