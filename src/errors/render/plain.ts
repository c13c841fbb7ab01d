// The error record as plain text, for people at a terminal: first what happened, then the fields by their
// names in the other formats.

import type { Problem } from '../catalogue/problem.ts'

export function renderPlain(problem: Problem): string {
  const { error_code, error_name, error_category, status, ...rest } = problem
  const { title, detail, what_you_should_do, footer, instance: _, type, ...occasion } = rest
  const fields = { error_code, error_name, error_category, status, ...occasion, type }
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}`)
  return `${title}

${oneLine(detail)}

${oneLine(withoutEmphasis(what_you_should_do))}

${lines.join('\n')}

${footer}
`
}

/** Returns a text of the catalogue, which is Markdown, as plain text. */
export function withoutEmphasis(markdown: string): string {
  return markdown.replaceAll('**', '')
}

/** Escapes everything but printable ASCII: details may quote a client, who could otherwise inject lines. */
function oneLine(text: string): string {
  return text.replace(unprintable, unit => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

const unprintable = /[^\x20-\x7e]/g
