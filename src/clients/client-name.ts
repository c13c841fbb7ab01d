// The rule for the name of a client, as words that follow the name of the member. People read it before they let the client in, so it must look like what it is.

const longest = 100

/** Gives the rule that a name breaks; characters are counted as code points. */
export function clientNameFault(name: string): string | null {
  if (!name.isWellFormed()) return 'must be of whole Unicode characters, without half of a surrogate pair'
  const length = [...name].length
  if (length === 0 || length > longest) return `must have 1 to ${longest} characters`
  if (/[\p{Cc}\p{Zl}\p{Zp}]/u.test(name)) return 'must be without line ends and other control characters'
  if (/[\u202a-\u202e\u2066-\u2069]/u.test(name))
    return 'must be without characters that override the direction of text (U+202A to U+202E, U+2066 to U+2069)'
  if (name !== name.normalize('NFC')) return 'must be in the composed form of Unicode (NFC)'
  if (/^[\p{White_Space}\p{Default_Ignorable_Code_Point}]*$/u.test(name))
    return 'must have a character that can be seen'
  return null
}
