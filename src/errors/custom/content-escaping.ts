// How a value is made safe in custom content, by the type of the content: wherever the operator put it, it stays a value.

import { escapeHtml } from '../../base/text/html.ts'
import type { ErrorContentType } from '../../config/custom-errors-config.ts'
import { asciiJson } from '../render/json.ts'

export const escapeFor: Readonly<Record<ErrorContentType, (text: string) => string>> = {
  'application/json': escapeJson,
  'application/problem+json': escapeJson,
  'text/markdown': escapeMarkdown,
  'text/html': escapeHtml,
  'text/plain': flatten,
  'text/xml': escapeXml,
}

/** Escapes for the inside of a string. */
function escapeJson(text: string): string {
  return asciiJson(text).slice(1, -1)
}

/** Leaves nothing that could be markup, end a line of frontmatter or leave a quoted scalar: references mean their character and nothing else. */
function escapeMarkdown(text: string): string {
  return text.replace(notAWord, character => {
    const escaped = escapeHtml(character)
    return escaped === character ? `&#${character.charCodeAt(0)};` : escaped
  })
}

const notAWord = /[^A-Za-z0-9.:-]/gu

/** Keeps a value on its line. */
function flatten(text: string): string {
  return text.replace(controls, ' ')
}

// The controls are those of C0 and C1, and the separators that some readers take for the end of a line.
const controls = /[\0-\x1f\x7f-\x9f\u2028\u2029]/g

/** Escapes as HTML does, but for the two noncharacters that no XML may name (XML 1.0, section 2.2). */
function escapeXml(text: string): string {
  return escapeHtml(text.replace(/[\ufffe\uffff]/g, '\ufffd'))
}
