// Sets of one to some millions of addresses and networks that are searched at each request.

import { AddressRows } from './address-rows.ts'
import { AddressWords } from './address-words.ts'
import { atOnce } from '../../base/turns/slices.ts'

export type Found = 'nothing' | 'address' | 'network'

export class AddressTable {
  readonly #v4: AddressRows
  readonly #v6: AddressRows

  /** Sorted rows, as `AddressTableBuilder` returns them. */
  constructor(v4: AddressRows, v6: AddressRows) {
    this.#v4 = v4
    this.#v6 = v6
  }

  /** Throws for members that `parseNetwork` does not accept. */
  static of(members: Iterable<string>): AddressTable {
    const builder = new AddressTableBuilder()
    for (const member of members)
      if (!builder.add(member)) throw new TypeError('not an IP address or CIDR network')
    return atOnce(builder.build())
  }

  get size(): number {
    return this.#v4.count + this.#v6.count
  }

  find({ words, isV4 }: AddressWords): Found {
    const rows = isV4 ? this.#v4 : this.#v6
    const row = rows.find(words)
    if (row === -1) return 'nothing'
    return rows.prefixes[row] === 32 * rows.width ? 'address' : 'network'
  }
}

export class AddressTableBuilder {
  readonly #v4 = new AddressRows(1)
  readonly #v6 = new AddressRows(4)
  readonly #address = new AddressWords()

  /** Returns false for anything that `parseNetwork` rejects. */
  add(member: string): boolean {
    const slash = member.indexOf('/')
    if (!this.#address.read(slash === -1 ? member : member.slice(0, slash))) return false
    const { isV4, isMapped, words } = this.#address
    const rows = isV4 ? this.#v4 : this.#v6
    const bits = 32 * rows.width
    const prefix = slash === -1 ? bits : readPrefix(member, slash + 1) - (isMapped ? 96 : 0)
    if (prefix < 0 || prefix > bits) return false
    rows.add(words, prefix)
    return true
  }

  *build(): Generator<void, AddressTable> {
    return new AddressTable(yield* this.#v4.sorted(), yield* this.#v6.sorted())
  }
}

/** Up to three digits without leading zeros; -1 for anything else. */
function readPrefix(text: string, at: number): number {
  const length = text.length - at
  if (length < 1 || length > 3 || (length > 1 && text.charCodeAt(at) === 0x30)) return -1
  let value = 0
  for (let i = at; i < text.length; i++) {
    const digit = text.charCodeAt(i) - 0x30
    if (digit < 0 || digit > 9) return -1
    value = value * 10 + digit
  }
  return value
}
