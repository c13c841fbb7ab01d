// DNS messages about TXT records (RFC 1035 section 4): the question, and parsing the reply. A record counts
// only if the reply itself shows that it belongs to the requested name: resolvers pass on what servers of
// other names add.

/**
 * The content of a reply. `truncated`: retry by TCP. `format_error`: the server does not understand the
 * question, for example its extension. `other`: any other failure.
 */
export type TxtReply =
  | { readonly kind: 'records'; readonly texts: readonly string[] }
  | {
      readonly kind: 'truncated' | 'format_error' | 'no_such_name' | 'server_failure' | 'refused' | 'other'
    }

const headLength = 12
const [cname, txt, opt, internet] = [5, 16, 41, 1] as const
/** The size of a reply by UDP, in bytes, that is not fragmented on the way. */
const largestDatagram = 1232
/** The maximum length of a chain of aliases. */
const maxHops = 16
const maxNameLength = 255

/**
 * Writes the question for the TXT records of a host; with `extension`, it announces the accepted size of
 * datagrams (RFC 6891).
 */
export function writeTxtQuestion(id: number, host: string, extension: boolean): Buffer {
  const head = Buffer.alloc(headLength)
  head.writeUInt16BE(id, 0)
  // Recursion is desired.
  head.writeUInt16BE(0x01_00, 2)
  head.writeUInt16BE(1, 4)
  head.writeUInt16BE(extension ? 1 : 0, 10)
  const question = Buffer.alloc(4)
  question.writeUInt16BE(txt, 0)
  question.writeUInt16BE(internet, 2)
  const size = Buffer.alloc(extension ? 11 : 0)
  if (extension) {
    size.writeUInt16BE(opt, 1)
    size.writeUInt16BE(largestDatagram, 3)
  }
  return Buffer.concat([head, Buffer.from(wireName(host), 'latin1'), question, size])
}

/** Parses the reply to a question; null for anything else, or a damaged one. */
export function readTxtReply(message: Buffer, id: number, host: string): TxtReply | null {
  if (message.length < headLength || message.readUInt16BE(0) !== id) return null
  const flags = message.readUInt16BE(2)
  const [isReply, operation, code] = [(flags & 0x80_00) !== 0, flags & 0x78_00, flags & 0xf]
  if (!isReply || operation !== 0) return null
  const questions = message.readUInt16BE(4)
  // Servers without the extension may omit the question here (RFC 6891 section 7).
  if (questions === 0 && code === 1) return { kind: 'format_error' }
  const reader = new Reader(message)
  const requested = wireName(host)
  if (
    questions !== 1 ||
    reader.name() !== requested ||
    reader.number() !== txt ||
    reader.number() !== internet
  )
    return null
  if ((flags & 0x02_00) !== 0) return { kind: 'truncated' }
  if (code !== 0) return { kind: failures[code] ?? 'other' }
  return textsIn(reader, message.readUInt16BE(6), requested)
}

const failures: Readonly<Record<number, Exclude<TxtReply['kind'], 'records' | 'truncated'>>> = {
  1: 'format_error',
  2: 'server_failure',
  3: 'no_such_name',
  5: 'refused',
}

/** Returns the texts of a name, following CNAME records; null if they cannot be parsed. */
function textsIn(reader: Reader, count: number, requested: string): TxtReply | null {
  const aliases = new Map<string, string>()
  const texts: (readonly [owner: string, text: string])[] = []
  for (let i = 0; i < count; i++) {
    const owner = reader.name()
    const [type, kind] = [reader.number(), reader.number()]
    reader.skip(4)
    const end = reader.at + 2 + reader.number()
    if (owner === null || reader.isOver(end)) return null
    if (kind === internet && type === cname) {
      const target = reader.name()
      if (target === null || reader.at !== end) return null
      // A name has only one (RFC 2181 section 10.1).
      if (!aliases.has(owner)) aliases.set(owner, target)
    } else if (kind === internet && type === txt) {
      const text = reader.text(end)
      if (text === null) return null
      texts.push([owner, text])
    } else reader.at = end
  }
  const reached = reachedFrom(requested, aliases)
  return { kind: 'records', texts: texts.filter(([owner]) => reached.has(owner)).map(([, text]) => text) }
}

function reachedFrom(requested: string, aliases: ReadonlyMap<string, string>): ReadonlySet<string> {
  const reached = new Set([requested])
  let next = aliases.get(requested)
  while (next !== undefined && !reached.has(next) && reached.size <= maxHops) {
    reached.add(next)
    next = aliases.get(next)
  }
  return reached
}

/** Formats a name as in messages, in lower case: joined by dots, a dot in a label would be lost. */
function wireName(host: string): string {
  const labels = host.split('.').map(label => String.fromCharCode(label.length) + lowerCase(label))
  return `${labels.join('')}\0`
}

/** Only ASCII letters have a case (RFC 4343). */
function lowerCase(text: string): string {
  return text.replace(/[A-Z]+/g, letters => letters.toLowerCase())
}

/** Reads a message after its header; anything beyond its end is 0. */
class Reader {
  at = headLength
  readonly #message: Buffer

  constructor(message: Buffer) {
    this.#message = message
  }

  isOver(end: number): boolean {
    return end > this.#message.length
  }

  skip(bytes: number): void {
    this.at += bytes
  }

  number(): number {
    this.at += 2
    return this.isOver(this.at) ? 0 : this.#message.readUInt16BE(this.at - 2)
  }

  /**
   * Reads a name in the format of `wireName`; null if it is invalid. Its rest may be earlier in the message
   * (RFC 1035 section 4.1.4), and only there, so that it is finite.
   */
  name(): string | null {
    let name = ''
    let [at, start, isBehind] = [this.at, this.at, false]
    for (;;) {
      const length = this.#message[at]
      if (length === undefined) return null
      if (length >= 0xc0) {
        const low = this.#message[at + 1]
        const target = ((length & 0x3f) << 8) | (low ?? 0)
        if (low === undefined || target < headLength || target >= start) return null
        if (!isBehind) this.at = at + 2
        isBehind = true
        at = start = target
        continue
      }
      const end = at + 1 + length
      if (length > 63 || this.isOver(end) || name.length + 1 + length > maxNameLength) return null
      name += String.fromCharCode(length) + lowerCase(this.#message.toString('latin1', at + 1, end))
      at = end
      if (length > 0) continue
      if (!isBehind) this.at = at
      return name
    }
  }

  /**
   * Reads the strings up to a position as one, with one character per byte; null if they do not end there.
   */
  text(end: number): string | null {
    let text = ''
    while (this.at < end) {
      const begin = this.at + 1
      this.at = begin + this.#message[this.at]!
      if (this.at > end) return null
      text += this.#message.toString('latin1', begin, this.at)
    }
    return text
  }
}
