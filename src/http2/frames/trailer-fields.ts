// A trailer section (RFC 9113 section 8.1), with the rules of HTTP/1.

import { field } from '../../http1/fields/fields.ts'
import { TrailerSection } from '../../http1/body/trailers.ts'
import { type FieldSink, type HeaderField, pseudo } from '../hpack/decoder.ts'

export class TrailerFields implements FieldSink {
  isMalformed = false
  readonly #section = new TrailerSection(null)

  get fields(): string[] | null {
    return this.#section.fields
  }

  take({ name, value, id, pseudo: which, isSound }: HeaderField): void {
    const isOfConnection = id > field.other && id <= field.upgrade
    if (!isSound || which !== pseudo.none || isOfConnection || !this.#section.field(name, value, id))
      this.isMalformed = true
  }
}

/** Skips a block that is not needed, but still updates the compression table. */
export const nobody: FieldSink = { take() {} }
