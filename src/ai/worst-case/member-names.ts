// Recognises members by name in the bytes of a request, also as readers do that ignore case, such as Go's.

/** What a name means, and whether it is spelled as its API does. */
interface Named<Meaning> {
  readonly meaning: Meaning
  readonly isExact: boolean
}

/** Most names are told apart by their length and first letter, without reading them as text. */
export class MemberNames<Meaning> {
  readonly #firstLetters = new Int32Array(longest + 1)
  readonly #named = new Map<string, Named<Meaning>>()
  readonly #folded = new Map<string, Named<Meaning>>()

  constructor(names: Readonly<Record<string, Meaning>>) {
    for (const [name, meaning] of Object.entries(names)) {
      this.#firstLetters[name.length]! |= letterBit(name.charCodeAt(0))
      this.#named.set(name, { meaning, isExact: true })
      this.#folded.set(folded(name), { meaning, isExact: false })
    }
  }

  /** Of the name between the quotes at `start` and before `end`; null for others. */
  at(json: Buffer, start: number, end: number): Named<Meaning> | null {
    const length = end - start - 2
    const mayBeOurs = length <= longest && (this.#firstLetters[length]! & letterBit(json[start + 1]!)) !== 0
    if (mayBeOurs) return this.of(json.toString('latin1', start + 1, end - 1)) ?? this.#odd(json, start, end)
    return this.#odd(json, start, end)
  }

  of(name: string): Named<Meaning> | null {
    return this.#named.get(name) ?? this.#folded.get(folded(name)) ?? null
  }

  /** Of one with escapes, or with letters that only look different in another case. */
  #odd(json: Buffer, start: number, end: number): Named<Meaning> | null {
    if (end - start > longestOdd || !isOdd(json, start, end)) return null
    const name = parsed(json.toString('utf8', start, end))
    return name === null ? null : this.of(name)
  }
}

const longest = 40
/** Each character as an escape. */
const longestOdd = 6 * longest + 2

/** The same for a letter in both cases. */
function letterBit(code: number): number {
  return 1 << (code & 31)
}

function isOdd(json: Buffer, start: number, end: number): boolean {
  for (let at = start; at < end; at++) if (json[at]! >= 0x80 || json[at] === backslash) return true
  return false
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
