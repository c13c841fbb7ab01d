// Removes credentials of this gateway from texts to be stored or shown.

import { character, minLength, holdsOurs, prefixes, shortest } from './misplaced-tokens.ts'

const all = new RegExp(`(${prefixes})${character}{${minLength},}`, 'g')
const basic = /(?<![A-Za-z0-9])(basic[ \t]+)([\w+/=-]{48,})/gi

export const mask = '[redacted]'

/** Replaces each credential of this gateway, in any encoding, by its prefix and `[redacted]`. */
export function redacted(text: string): string {
  if (text.length < shortest) return text
  return text.replace(all, `$1${mask}`).replace(basic, (match, scheme, credentials) => {
    const isOurs = holdsOurs(Buffer.from(credentials, 'base64').toString('latin1'))
    return isOurs ? `${scheme}${mask}` : match
  })
}

/** Like `redacted`, for a text in as many pieces: `[redacted]` is in the piece where a credential begins. */
export function redactedPieces(pieces: readonly string[]): string[] {
  const secrets = Array.from(pieces.join('').matchAll(all), ({ 0: match, 1: prefix, index }) => ({
    from: index + prefix!.length,
    to: index + match.length,
  }))
  let end = 0
  return pieces.map(piece => {
    const start = end
    end += piece.length
    let safe = ''
    let done = start
    for (const { from, to } of secrets) {
      if (to <= start || from >= end) continue
      if (from >= start) safe += `${piece.slice(done - start, from - start)}${mask}`
      done = Math.min(to, end)
    }
    return safe + piece.slice(done - start)
  })
}

/** Like `redacted`, for bytes; returns the given bytes if they contain none. */
export function redactedBytes(bytes: Buffer): Buffer {
  const text = bytes.toString('latin1')
  const safe = redacted(text)
  return safe === text ? bytes : Buffer.from(safe, 'latin1')
}

/**
 * Calls back with positions in credentials of this gateway: of `svc`, of an escape of one of its letters, or
 * of Basic. Other texts have them too, but rarely. The search goes on from the returned position.
 */
export function eachSign(bytes: Buffer, onSign: (at: number) => number): void {
  const text = bytes.toString('latin1')
  for (let from = 0; ; ) {
    signs.lastIndex = from
    const match = signs.exec(text)
    if (match === null) return
    from = onSign(match.index)
  }
}

/** V8 skips characters, as each alternative has three at least. No space is near behind Basic. */
const signs = /svc|\\u00[67]|%(?:7[36]|63|25|u0)|[bB](?:asic|ASIC)[ \t][^ ]{24}/g
