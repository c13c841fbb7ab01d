// The trailer section of a chunked body, without the field lines that are not allowed there.

import { cr, lf } from '../fields/characters.ts'
import { crosses, type FieldId, field } from '../fields/fields.ts'
import { endOfHead, type FieldReader, mayContinue, readFieldLines } from '../fields/field-lines.ts'

const limit = 16 * 1024

export class TrailerSection implements FieldReader {
  done = false
  faulty = false
  fields: string[] | null = null
  readonly #hopByHop: ReadonlySet<string> | null
  #partial: Buffer | null = null

  /** Connection applies to trailers as to other fields (RFC 9110 section 7.6.1). */
  constructor(hopByHop: ReadonlySet<string> | null) {
    this.#hopByHop = hopByHop
  }

  next(bytes: Buffer, at: number): number {
    const before = this.#partial
    const section = before === null ? bytes.subarray(at) : Buffer.concat([before, bytes.subarray(at)])
    const end = endOfSection(section)
    if (end === -1) {
      this.#wait(section)
      return bytes.length
    }
    this.done = end <= limit && readFieldLines(section, section.toString('latin1', 0, end), 0, 0, end, this)
    this.faulty = !this.done
    return at + end - (before === null ? 0 : before.length)
  }

  /** Returns false for a field that would change the framing of the message. */
  field(name: string, value: string, id: FieldId): boolean {
    if (crosses(id, 'request') && this.#mayComeLate(name.toLowerCase()))
      (this.fields ??= []).push(name, value)
    return id !== field.contentLength && id !== field.transferEncoding
  }

  #wait(section: Buffer): void {
    this.#partial = section
    this.faulty = section.length > limit || !mayContinue(section, 0)
  }

  /** An underscore may stand for a hyphen, since some origins fold one into the other. */
  #mayComeLate(name: string): boolean {
    return !this.#hopByHop?.has(name) && !spentBeforeBody.has(name.replaceAll('_', '-'))
  }
}

/** Fields that come too late after the body (RFC 9110 section 6.5.1). */
const spentBeforeBody = new Set([
  'age',
  'authorization',
  'cache-control',
  'content-encoding',
  'content-range',
  'content-type',
  'cookie',
  'date',
  'expires',
  'if-match',
  'if-modified-since',
  'if-none-match',
  'if-range',
  'if-unmodified-since',
  'location',
  'max-forwards',
  'pragma',
  'range',
  'retry-after',
  'set-cookie',
  'trailer',
  'vary',
  'warning',
  'www-authenticate',
])

function endOfSection(section: Buffer): number {
  if (section[0] === cr && section[1] === lf) return 2
  return endOfHead(section, 0)
}
