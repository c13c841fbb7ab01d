// What a list of revoked certificates (RFC 5280 section 5) says of itself: who issued it, and how long it counts. OpenSSL reads the rest.

interface RevocationList {
  /** The values of the issuer's name, such as `Shop, Clients`. */
  readonly issuer: string
  /** Wall-clock ms. */
  readonly thisUpdate: number
  /** Wall-clock ms until which it counts; infinite where it does not say so. */
  readonly nextUpdate: number
}

const sequence = 0x30
const integer = 0x02
const utcTime = 0x17
const generalizedTime = 0x18

/** Reads a list in PEM that OpenSSL has read before. */
export function readRevocationList(pem: string): RevocationList {
  const der = Buffer.from(pem.replace(/-----[^-]+-----/g, ''), 'base64')
  const [list] = partsOf(der)
  const [content] = partsOf(list!.content)
  const parts = partsOf(content!.content)
  // version, which is optional, signature, issuer, thisUpdate, nextUpdate, which is optional too
  if (parts[0]!.tag === integer) parts.shift()
  const [, issuer, thisUpdate, nextUpdate] = parts
  return {
    issuer: valuesIn(issuer!.content).join(', '),
    thisUpdate: timeIn(thisUpdate!),
    nextUpdate:
      nextUpdate !== undefined && isTime(nextUpdate) ? timeIn(nextUpdate) : Number.POSITIVE_INFINITY,
  }
}

interface Part {
  readonly tag: number
  readonly content: Buffer
}

/** Cuts DER into its parts (X.690 section 8.1), less what is cut off at the end. */
function partsOf(der: Buffer): Part[] {
  const parts: Part[] = []
  for (let at = 0; at + 2 <= der.length; ) {
    const tag = der[at]!
    const short = der[at + 1]!
    const bytes = short < 0x80 ? 0 : short & 0x7f
    const from = at + 2 + bytes
    if (bytes > 4 || from > der.length) break
    const length = bytes === 0 ? short : der.readUIntBE(at + 2, bytes)
    parts.push({ tag, content: der.subarray(from, from + length) })
    at = from + length
  }
  return parts
}

/** Lists the values of a name: a sequence of sets of pairs. */
function valuesIn(name: Buffer): readonly string[] {
  const pairs = partsOf(name).flatMap(set => partsOf(set.content))
  return pairs
    .filter(({ tag }) => tag === sequence)
    .flatMap(pair => partsOf(pair.content)[1]?.content.toString() ?? [])
}

function isTime({ tag }: Part): boolean {
  return tag === utcTime || tag === generalizedTime
}

/** Reads a time as RFC 5280 section 4.1.2.5 has it, in UTC and with seconds. */
function timeIn({ tag, content }: Part): number {
  const text = content.toString('latin1')
  const year = tag === utcTime ? `${Number(text.slice(0, 2)) < 50 ? '20' : '19'}` : ''
  const [, y, month, day, hour, minute, second] =
    /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)Z$/.exec(year + text) ?? []
  return Date.parse(`${y}-${month}-${day}T${hour}:${minute}:${second}Z`)
}
