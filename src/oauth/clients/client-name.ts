// The rule for the name of a client, as words that follow the member's name. People read the name before they
// authorize the client, so it must look like what it is: characters that may be invisible are refused.

const maxLength = 100

/** Returns the rule that a name breaks, or null; characters are counted as code points. */
export function clientNameFault(name: string): string | null {
  if (!name.isWellFormed()) return 'must not contain lone surrogates'
  const length = [...name].length
  if (length === 0 || length > maxLength) return `must have 1 to ${maxLength} characters`
  if (/[\p{Cc}\p{Zl}\p{Zp}]/u.test(name)) return 'must not contain line breaks or other control characters'
  if (/[\u202a-\u202e\u2066-\u2069]/u.test(name))
    return 'must not contain characters that change text direction (U+202A to U+202E, U+2066 to U+2069)'
  const unseen = unseenIn(name)
  if (unseen !== null)
    return `must contain only visible characters and plain spaces, not ${codePoint(unseen)}`
  if (name !== name.normalize('NFC')) return 'must be in Unicode normalization form C (NFC)'
  if (name !== name.trim()) return 'must not begin or end with a space'
  if (/^\p{M}/u.test(name)) return 'must not begin with a combining character'
  return null
}

/**
 * Returns the first invisible character, or null. The patterns are built with the first name, which takes as
 * long as loading fifty files.
 */
function unseenIn(name: string): string | null {
  // Emoji that people send (UTS #51): only these may contain joiners and selectors. Regional flags hide text
  // in tags.
  const rest = name.replace(/[\p{RGI_Emoji}--\p{RGI_Emoji_Tag_Sequence}]/gv, '')
  // Everything but letters, marks, numbers, punctuation, symbols (Unicode Standard section 4.5) and three
  // spaces: formats, tags, noncharacters, unassigned and private code points. Then invisible ones of those
  // categories: fillers, variation selectors, blank signs and joiners.
  const unseen =
    /[[^\p{L}\p{M}\p{N}\p{P}\p{S} \u00a0\u3000]\p{Default_Ignorable_Code_Point}\u2800\u2d7f\ufffc\ufffd\u{1107f}\u{11f42}\u{13441}\u{13442}\u{16fe4}\u{1d159}]/v
  return unseen.exec(rest)?.[0] ?? null
}

function codePoint(character: string): string {
  return `U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}`
}
