// IP addresses as numbers, read without regular expressions: tables of millions are searched at each request.

const colon = 0x3a
const dot = 0x2e
const groupCount = 8

/** One address, which the next call of `read` replaces. IPv6-mapped IPv4 becomes IPv4. */
export class AddressWords {
  /** Word 0 holds an IPv4 address; all four, the first the highest, an IPv6 address. */
  readonly words = new Uint32Array(4)
  isV4 = false
  /** A prefix length then counts from the start of all 128 bits. */
  isMapped = false
  /** Results for one address are valid until this changes. */
  readings = 0

  /** Reads any spelling of RFC 4291 section 2.2 without a zone id; false for anything else. */
  read(text: string): boolean {
    this.readings++
    this.isMapped = false
    this.isV4 = readV4(text, 0, this.words)
    return this.isV4 || this.#readV6(text)
  }

  #readV6(text: string): boolean {
    if (text.length < 2 || !readGroups(text)) return false
    const { words } = this
    for (let i = 0; i < 4; i++) words[i] = (groups[2 * i]! << 16) | groups[2 * i + 1]!
    if (words[0] !== 0 || words[1] !== 0 || words[2] !== 0xffff) return true
    words[0] = words[3]!
    this.isMapped = true
    this.isV4 = true
    return true
  }
}

const groups = new Uint16Array(groupCount)
const tail = new Uint32Array(1)

/** Four decimal numbers, without leading zeros. */
function readV4(text: string, at: number, into: Uint32Array): boolean {
  let address = 0
  let i = at
  for (let part = 0; part < 4; part++) {
    const start = i
    let value = 0
    for (; i < text.length && i < start + 3; i++) {
      const digit = text.charCodeAt(i) - 0x30
      if (digit < 0 || digit > 9) break
      value = value * 10 + digit
    }
    const length = i - start
    if (length === 0 || value > 255 || (length > 1 && text.charCodeAt(start) === 0x30)) return false
    address = (address << 8) | value
    if (part < 3 && text.charCodeAt(i++) !== dot) return false
  }
  if (i !== text.length) return false
  into[0] = address
  return true
}

/** At most one gap, and perhaps an IPv4 address at the end. */
function readGroups(text: string): boolean {
  const startsWithGap = text.charCodeAt(0) === colon
  if (startsWithGap && text.charCodeAt(1) !== colon) return false
  let gap = startsWithGap ? 0 : -1
  let count = 0
  let i = startsWithGap ? 2 : 0
  while (i < text.length) {
    const end = endOfGroup(text, i)
    if (text.charCodeAt(end) === dot) return count <= 6 && readTail(text, i, count, gap)
    if (end === i || count === groupCount) return false
    groups[count++] = group
    if (end === text.length) return settle(count, gap)
    if (text.charCodeAt(end) !== colon) return false
    i = end + 1
    if (text.charCodeAt(i) === colon) {
      if (gap !== -1) return false
      gap = count
      i++
    } else if (i === text.length) return false
  }
  return settle(count, gap)
}

let group = 0

function endOfGroup(text: string, start: number): number {
  group = 0
  let i = start
  for (; i < text.length && i < start + 4; i++) {
    const digit = hexDigit(text.charCodeAt(i))
    if (digit === -1) break
    group = (group << 4) | digit
  }
  return i
}

function readTail(text: string, at: number, count: number, gap: number): boolean {
  if (!readV4(text, at, tail)) return false
  groups[count] = tail[0]! >>> 16
  groups[count + 1] = tail[0]!
  return settle(count + 2, gap)
}

/** A gap stands for at least one group. */
function settle(count: number, gap: number): boolean {
  if (gap === -1) return count === groupCount
  if (count === groupCount) return false
  groups.copyWithin(groupCount - count + gap, gap, count)
  groups.fill(0, gap, groupCount - count + gap)
  return true
}

function hexDigit(code: number): number {
  if (code >= 0x30 && code <= 0x39) return code - 0x30
  const lower = code | 0x20
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1
}
