// The texts of JSON, which a webhook is asked about and may replace. Numbers and all else stay as they are.

/** Their values say what something is: they are looked at, but to replace them would change the call. */
export const structural: ReadonlySet<string> = new Set(['model', 'role', 'type'])

const isName = /[ \t\r\n]*:/y
const isBlank = /^[ \t\r\n]*$/
const dataUrl = /^data:[^,]{0,200};base64,/
const otherThanBase64 = /[^\w+/=\r\n-]/
/** Shorter ones may as well be words. */
const minBase64 = 1024

/** Returns the distinct values that are strings, without base64; `json` must be valid. */
export function textsOf(json: string): readonly string[] {
  const texts = new Set<string>()
  eachString(json, text => {
    if (text !== '' && !isBase64(text)) texts.add(text)
    return null
  })
  return [...texts]
}

/** Returns null if a text to be replaced is not in `json`, or where it cannot be replaced. */
export function replaceTexts(json: string, replacements: ReadonlyMap<string, string>): string | null {
  const missing = new Set(replacements.keys())
  let isKept = false
  const replaced = eachString(json, (text, member) => {
    const replacement = replacements.get(text)
    if (replacement === undefined) return null
    missing.delete(text)
    if (!structural.has(member)) return replacement
    isKept = true
    return null
  })
  return missing.size === 0 && !isKept ? replaced : null
}

export function isBase64(text: string): boolean {
  const start = dataUrl.exec(text)?.[0].length ?? 0
  return (start > 0 || text.length >= minBase64) && !otherThanBase64.test(text.slice(start))
}

/** `visit` gets each value that is a string with the name right before it, and returns another or null. */
function eachString(json: string, visit: (text: string, member: string) => string | null): string {
  let result = ''
  let at = 0
  let member = ''
  let afterName = -1
  for (let start = json.indexOf('"'); start !== -1; ) {
    const end = endOfString(json, start)
    const text: string = JSON.parse(json.slice(start, end))
    isName.lastIndex = end
    if (isName.test(json)) {
      member = text
      afterName = isName.lastIndex
    } else {
      const isOfName = afterName >= 0 && isBlank.test(json.slice(afterName, start))
      afterName = -1
      const changed = visit(text, isOfName ? member : '')
      if (changed !== null) {
        result += json.slice(at, start) + JSON.stringify(changed)
        at = end
      }
    }
    start = json.indexOf('"', end)
  }
  return result + json.slice(at)
}

/** Behind the quote that ends the string which begins at `start`. */
function endOfString(json: string, start: number): number {
  for (let end = json.indexOf('"', start + 1); ; end = json.indexOf('"', end + 1)) {
    let first = end
    while (json.charCodeAt(first - 1) === backslash) first--
    if ((end - first) % 2 === 0) return end + 1
  }
}

const backslash = 0x5c
