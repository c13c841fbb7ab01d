// The scripts of a name. Letters of several can look the same, so a name that mixes them may imitate another
// one (Unicode Technical Standard 39).

interface Script {
  /** Its Unicode name, such as `Cyrillic`; `another script` for those not told apart here. */
  readonly name: string
  /** The first of its letters, without duplicates. */
  readonly letters: readonly string[]
}

const mostLetters = 5

/**
 * Returns the scripts of a name that mixes some that are not written together, each with its letters; empty
 * for any other name. Japanese, Korean and Chinese are written in several scripts, with Latin too (the
 * profile "highly restrictive" of UTS 39 section 5.2).
 */
export function mixedScripts(name: string): readonly Script[] {
  const scripts = scriptsOf(name)
  const isUsual = together.some(usual => scripts.every(script => usual.has(script.name)))
  return scripts.length < 2 || isUsual ? [] : scripts
}

/** Returns the script of a name whose letters all belong to one that looks like Latin, or null. */
export function latinLike(name: string): string | null {
  const scripts = scriptsOf(name)
  const [only] = scripts
  return scripts.length === 1 && likeLatin.has(only!.name) ? only!.name : null
}

/** Returns warnings about the letters of a name, as clauses whose subject is the name. */
export function scriptDoubts(name: string): readonly string[] {
  const mixed = mixedScripts(name)
  if (mixed.length > 0) {
    const parts = mixed.map(({ name, letters }) =>
      name === 'Latin' ? name : `${name} (${letters.join(' ')})`,
    )
    return [`has letters of several scripts, ${listing.format(parts)}, and may imitate another name`]
  }
  const script = latinLike(name)
  return script === null ? [] : [`is all in ${script} letters, which can look like Latin ones`]
}

const listing = new Intl.ListFormat('en')

/** Lists the scripts of a name's letters; digits, punctuation and shared marks have none. */
function scriptsOf(name: string): readonly Script[] {
  if (/^[\0-\x7f]*$/.test(name)) return []
  const text = name.normalize('NFKC')
  return patterns().flatMap(([name, pattern]) => {
    const letters = [...new Set(text.match(pattern))].slice(0, mostLetters)
    return letters.length === 0 ? [] : [{ name, letters }]
  })
}

const together: readonly ReadonlySet<string>[] = [
  new Set(['Latin', 'Han', 'Hiragana', 'Katakana']),
  new Set(['Latin', 'Han', 'Hangul']),
  new Set(['Latin', 'Han', 'Bopomofo']),
]

/** The scripts for which UTS 39 lists whole words that look Latin. */
const likeLatin: ReadonlySet<string> = new Set([
  'Armenian',
  'Cherokee',
  'Coptic',
  'Cyrillic',
  'Deseret',
  'Greek',
  'Lisu',
])

/** The scripts that are told apart; all others count as one more. */
const scriptNames =
  `Latin Cyrillic Greek Han Hiragana Katakana Hangul Bopomofo Arabic Armenian Bengali Canadian_Aboriginal Cherokee
  Coptic Deseret Devanagari Ethiopic Georgian Gothic Gujarati Gurmukhi Hebrew Kannada Khmer Lao Lisu Malayalam Mongolian Myanmar
  Osage Runic Sinhala Tamil Telugu Thaana Thai Tibetan Tifinagh Vai Yi`.split(/\s+/)

// Made with the first name that is not ASCII, since few are.
let compiled: readonly (readonly [name: string, pattern: RegExp])[] | null = null

function patterns() {
  const scripts = scriptNames.map(name => `\\p{Script=${name}}`)
  const others = `[^\\p{Script=Common}\\p{Script=Inherited}\\p{Script=Unknown}${scripts.join('')}]`
  compiled ??= [...scripts, others].map((pattern, i) => {
    const name = scriptNames[i]?.replace('_', ' ') ?? 'another script'
    return [name, new RegExp(pattern, 'gu')] as const
  })
  return compiled
}
