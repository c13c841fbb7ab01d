// The issuer and validity of a list of revoked certificates (RFC 5280 section 5). OpenSSL reads the rest.

import { type Part, partsOf } from './der.ts'

interface RevocationList {
  /** The values of its name, such as `Shop, Clients`. */
  readonly issuer: string
  /** Wall-clock ms. */
  readonly thisUpdate: number
  /** Infinite if it does not say so. */
  readonly nextUpdate: number
}

const sequence = 0x30
const integer = 0x02
const utcTime = 0x17
const generalizedTime = 0x18

/** Reads a list in PEM that OpenSSL has already accepted; a malformed time, which it may have, is NaN. */
export function readRevocationList(pem: string): RevocationList {
  const der = Buffer.from(pem.replace(/-----[^-]+-----/g, ''), 'base64')
  const [list] = partsOf(der)
  const [content] = partsOf(list!.content)
  const parts = partsOf(content!.content)
  // version (optional), signature, issuer, thisUpdate, nextUpdate (optional)
  if (parts[0]!.tag === integer) parts.shift()
  const [, issuer, thisUpdate, nextUpdate] = parts
  return {
    issuer: valuesIn(issuer!.content).join(', '),
    thisUpdate: timeIn(thisUpdate!),
    nextUpdate:
      nextUpdate !== undefined && isTime(nextUpdate) ? timeIn(nextUpdate) : Number.POSITIVE_INFINITY,
  }
}

function valuesIn(name: Buffer): readonly string[] {
  const pairs = partsOf(name).flatMap(set => partsOf(set.content))
  return pairs
    .filter(({ tag }) => tag === sequence)
    .flatMap(pair => partsOf(pair.content)[1]?.content.toString() ?? [])
}

function isTime({ tag }: Part): boolean {
  return tag === utcTime || tag === generalizedTime
}

/** Reads a time as in RFC 5280 section 4.1.2.5, in UTC and with seconds. */
function timeIn({ tag, content }: Part): number {
  const text = content.toString('latin1')
  const year = tag === utcTime ? `${Number(text.slice(0, 2)) < 50 ? '20' : '19'}` : ''
  const [, y, month, day, hour, minute, second] =
    /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)Z$/.exec(year + text) ?? []
  return Date.parse(`${y}-${month}-${day}T${hour}:${minute}:${second}Z`)
}
