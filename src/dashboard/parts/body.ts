// Bodies of requests and responses for people: with JSON laid out, and long ones cut.

import { type Html, html } from '../../base/text/html.ts'
import { isJson } from '../../base/text/json.ts'

/** Maximum of characters of one body on a page with others, and of one that is laid out. */
const maxShown = 6_000
const maxLaidOut = 1_000_000

/**
 * Makes a body as text that can be copied; `more` leads to all of it if it has more than `maxLength`
 * characters.
 */
export function bodyBlock(label: string, text: string, more: Html | null = null, maxLength = maxShown): Html {
  const laidOut = text.length <= maxLaidOut && isJson(text) ? layOut(text, maxLength) : text
  const isCut = laidOut.length > maxLength
  return html`<div class="body"><p class="label">${label}</p><pre class="code-block" tabindex="0" role="region" aria-label="${label}" data-copy>${isCut ? laidOut.slice(0, endOf(laidOut, maxLength)) : laidOut}</pre>${isCut && html`<p class="hint">Only its beginning: it has ${text.length} characters. ${more}</p>`}</div>`
}

const deepest = 40

/**
 * Puts JSON on lines, with its strings and numbers as they are, until there are more than `maxLength`
 * characters.
 */
export function layOut(text: string, maxLength = maxLaidOut): string {
  let out = ''
  let depth = 0
  const line = () => `\n${'  '.repeat(Math.min(depth, deepest))}`
  token.lastIndex = 0
  for (let match = token.exec(text); match !== null && out.length <= maxLength; match = token.exec(text)) {
    const [part] = match
    if (part === '{' || part === '[') {
      depth++
      out += part + line()
    } else if (part === '}' || part === ']') {
      depth--
      out += line() + part
    } else if (part === ',') out += part + line()
    else out += part === ':' ? ': ' : part
  }
  return out
}

/** An empty object or array, a mark, a string, or a number or name. */
const token = /\{\s*\}|\[\s*\]|[{}[\],:]|"(?:[^"\\]|\\.)*"|[^\s{}[\],:"]+/g

/** Returns where to cut: not between the halves of a character. */
function endOf(text: string, maxLength: number): number {
  const last = text.charCodeAt(maxLength - 1)
  return last >= 0xd800 && last < 0xdc00 ? maxLength - 1 : maxLength
}
