// Recognises members by name in the bytes of a request, also as readers do that ignore case, such as Go's.

/** What a name means, and whether it is spelled as its API does. */
interface Named<Meaning> {
  readonly meaning: Meaning
  readonly isExact: boolean
}

interface KnownName<Meaning> {
  readonly bytes: Buffer
  /** With the bit set that tells apart the cases of a letter. */
  readonly lower: Buffer
  readonly exact: Named<Meaning>
}

/** Most names are told apart by their length and first letter, and no other is read as text. */
export class MemberNames<Meaning> {
  readonly #firstLetters = new Int32Array(longest + 1)
  readonly #byLength: readonly (readonly KnownName<Meaning>[])[]
  readonly #named = new Map<string, Named<Meaning>>()
  readonly #folded = new Map<string, Named<Meaning>>()

  constructor(names: Readonly<Record<string, Meaning>>) {
    const byLength: KnownName<Meaning>[][] = Array.from({ length: longest + 1 }, () => [])
    for (const [text, meaning] of Object.entries(names)) {
      const exact = { meaning, isExact: true }
      this.#firstLetters[text.length]! |= letterBit(text.charCodeAt(0))
      this.#named.set(text, exact)
      this.#folded.set(folded(text), { meaning, isExact: false })
      const bytes = Buffer.from(text)
      byLength[text.length]!.push({ bytes, lower: bytes.map(byte => byte | caseBit) as Buffer, exact })
    }
    this.#byLength = byLength
  }

  /** Of the name between the quotes at `start` and before `end`; null for others. */
  at(json: Buffer, start: number, end: number): Named<Meaning> | null {
    const length = end - start - 2
    if (length <= longest && (this.#firstLetters[length]! & letterBit(json[start + 1]!)) !== 0)
      for (const candidate of this.#byLength[length]!)
        if (isAlike(json, start + 1, candidate.lower))
          return isEqual(json, start + 1, candidate.bytes) ? candidate.exact : this.#odd(json, start, end)
    return isPlain(json, start, end) ? null : this.#odd(json, start, end)
  }

  #of(name: string): Named<Meaning> | null {
    return this.#named.get(name) ?? this.#folded.get(folded(name)) ?? null
  }

  /** Of one with escapes, or with letters that only look different in another case. */
  #odd(json: Buffer, start: number, end: number): Named<Meaning> | null {
    if (end - start > longestOdd) return null
    const name = parsed(json.toString('utf8', start, end))
    return name === null ? null : this.#of(name)
  }
}

const longest = 40
/** Each character as an escape. */
const longestOdd = 6 * longest + 2
const caseBit = 0x20

/** The same for a letter in both cases. */
function letterBit(code: number): number {
  return 1 << (code & 31)
}

function isAlike(json: Buffer, start: number, lower: Buffer): boolean {
  for (let i = 0; i < lower.length; i++) if ((json[start + i]! | caseBit) !== lower[i]) return false
  return true
}

function isEqual(json: Buffer, start: number, bytes: Buffer): boolean {
  for (let i = 0; i < bytes.length; i++) if (json[start + i] !== bytes[i]) return false
  return true
}

function isPlain(json: Buffer, start: number, end: number): boolean {
  for (let at = start; at < end; at++) if (json[at]! >= 0x80 || json[at] === backslash) return false
  return true
}

/** The long s and the Kelvin sign are letters in another case, too. */
export function folded(name: string): string {
  return name.toLowerCase().toUpperCase()
}

function parsed(quoted: string): string | null {
  try {
    return JSON.parse(quoted)
  } catch {
    return null
  }
}

const backslash = 0x5c
