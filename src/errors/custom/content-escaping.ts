// Escapes values in custom content by its type, so that they stay values wherever the operator puts them.

import { escapeHtml } from '../../base/text/html.ts'
import type { ErrorContentType } from '../../config/model/custom-errors-config.ts'
import { asciiJson } from '../render/json.ts'

export const escapeFor: Readonly<Record<ErrorContentType, (text: string) => string>> = {
  'application/json': escapeJson,
  'application/problem+json': escapeJson,
  'text/markdown': escapeMarkdown,
  'text/html': escapeHtml,
  'text/plain': flatten,
  'text/xml': escapeXml,
}

/** Escapes for use within a string. */
function escapeJson(text: string): string {
  return asciiJson(text).slice(1, -1)
}

/** Removes markup, frontmatter ends and quotes; character references mean their character. */
function escapeMarkdown(text: string): string {
  return text.replace(notAWord, character => {
    const escaped = escapeHtml(character)
    return escaped === character ? `&#${character.charCodeAt(0)};` : escaped
  })
}

const notAWord = /[^A-Za-z0-9.:-]/gu

/** Keeps a value on one line. */
function flatten(text: string): string {
  return text.replace(controls, ' ')
}

// The controls are those of C0 and C1, and the separators that some readers treat as line ends.
const controls = /[\0-\x1f\x7f-\x9f\u2028\u2029]/g

/** Escapes as HTML does, except for the two noncharacters that XML does not allow (XML 1.0, section 2.2). */
function escapeXml(text: string): string {
  return escapeHtml(text.replace(/[\ufffe\uffff]/g, '\ufffd'))
}
