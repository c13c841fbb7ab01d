// Inputs as lines of text: each byte is its latin1 character, those that do not print as escapes.

import { existsSync, readFileSync, writeFileSync } from 'node:fs'

/** Bytes of all inputs in a file; the longest are left out beyond that. */
export const maxCorpus = 64 * 1024

export function readInputs(file: string): Buffer[] {
  if (!existsSync(file)) return []
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter(line => line !== '')
    .map(inputOf)
}

/** Writes them shortest first, perhaps with every byte escaped; returns how many there was room for. */
export function writeInputs(file: string, inputs: readonly Buffer[], isHidden = false): number {
  const lines: string[] = []
  let bytes = 0
  for (const input of inputs.toSorted((a, b) => a.length - b.length || Buffer.compare(a, b))) {
    bytes += input.length
    if (bytes <= maxCorpus) lines.push(`${isHidden ? hiddenLineOf(input) : lineOf(input)}\n`)
  }
  writeFileSync(file, lines.join(''))
  return lines.length
}

function lineOf(input: Buffer): string {
  const text = input.toString('latin1').replaceAll(/[^ !#-[\]-~]/g, escapeOf)
  return `"${text}"`
}

function hiddenLineOf(input: Buffer): string {
  return `"${input.toString('hex').replaceAll(/../g, '\\x$&')}"`
}

function escapeOf(character: string): string {
  return short[character] ?? `\\x${character.charCodeAt(0).toString(16).padStart(2, '0')}`
}

const short: Readonly<Record<string, string>> = {
  '\r': '\\r',
  '\n': '\\n',
  '\t': '\\t',
  '\\': '\\\\',
  '"': '\\"',
}
const long: Readonly<Record<string, string>> = { r: '\r', n: '\n', t: '\t', '\\': '\\', '"': '"' }

function inputOf(line: string): Buffer {
  const text = line
    .slice(1, -1)
    .replaceAll(/\\(?:x([0-9a-f]{2})|(.))/g, (_, hex: string | undefined, letter: string) =>
      hex === undefined ? long[letter]! : String.fromCharCode(Number.parseInt(hex, 16)),
    )
  return Buffer.from(text, 'latin1')
}
