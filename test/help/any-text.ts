// Any character, path and URL, for random tests. Those of fast-check itself fill a map of all 1,112,064 characters, in a second and 200 MB, only
// to know how `__proto__` is written with them.

import fc from 'fast-check'

const surrogates = { first: 0xd800, count: 0x800 }

/** Makes any character but half of a pair, as `unit: 'binary'` of `fc.string` does. */
export const anyCharacter: fc.Arbitrary<string> = fc
  .nat({ max: 0x10ffff - surrogates.count })
  .map(fromNumber, toNumber)

function fromNumber(n: number): string {
  return String.fromCodePoint(n < surrogates.first ? n : n + surrogates.count)
}

function toNumber(character: unknown): number {
  const code = typeof character === 'string' ? character.codePointAt(0)! : NaN
  const n = code < surrogates.first ? code : code - surrogates.count
  if (!(n >= 0) || fromNumber(n) !== character) throw new Error('no character')
  return n
}

const escaped = anyCharacter.map(character => {
  const written = encodeURIComponent(character)
  return written === character ? `%${character.charCodeAt(0).toString(16)}` : written
})
const ofSegments = uriCharacters("-._~!$&'()*+,;=:@")
const ofQueries = fc.string({ unit: uriCharacters("-._~!$&'()*+,;=:@/?") })

/** Makes paths, empty ones too, as `fc.webPath` does. */
export const anyPath: fc.Arbitrary<string> = fc
  .array(fc.string({ unit: ofSegments }))
  .map(segments => segments.map(segment => `/${segment}`).join(''))

/** Makes URLs of http and https with query and fragment, as `fc.webUrl` does. */
export const anyUrl: fc.Arbitrary<string> = fc
  .tuple(
    fc.constantFrom('http', 'https'),
    fc.webAuthority(),
    anyPath,
    fc.option(ofQueries),
    fc.option(ofQueries),
  )
  .map(
    ([scheme, authority, path, query, fragment]) =>
      `${scheme}://${authority}${path}${query === null ? '' : `?${query}`}${fragment === null ? '' : `#${fragment}`}`,
  )

/** Makes letters, digits and some others, and now and then what is escaped. */
function uriCharacters(others: string): fc.Arbitrary<string> {
  const letters = 'abcdefghijklmnopqrstuvwxyz'
  const plain = fc.constantFrom(...letters, ...letters.toUpperCase(), ...'0123456789', ...others)
  return fc.oneof({ weight: 10, arbitrary: plain }, { weight: 1, arbitrary: escaped })
}
