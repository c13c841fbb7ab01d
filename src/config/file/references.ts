// Resolves ${NAME}, ${NAME:-default} and file:PATH inside values. Their content may be secret, so messages
// name the source instead.

import type { Reading } from '../../base/text/quantity.ts'
import type { SecretSource } from '../model/config.ts'
import { quote } from './mistake.ts'

/** What a configuration may read besides its own text. */
export interface Surroundings {
  readonly env: Readonly<Record<string, string | undefined>>
  /** Reads a file as text, with its path relative to the configuration; throws as node:fs does. */
  readonly readFile: (path: string) => string
  /** Returns the absolute path of a readable file; throws as node:fs does otherwise. */
  readonly findFile: (path: string) => string
  /** Returns when a file was last written, in ms since the epoch; throws as node:fs does. */
  readonly writtenAt?: (path: string) => number
}

/** Resolves the references in a value; a flaw follows the name of the field. */
export function resolveReferences(
  written: string,
  { env, readFile }: Pick<Surroundings, 'env' | 'readFile'>,
): Reading<string> {
  const flaws = new Set<string>()
  const value = written.replace(reference, (_, inside: string, close: string) => {
    const [, name = '', fallback] = (close && variable.exec(inside)) || []
    if (name === '') flaws.add(`contains a malformed reference: write \${NAME} or \${NAME:-default}`)
    const given = (Object.hasOwn(env, name) && env[name]) || fallback
    if (name !== '' && given === undefined)
      flaws.add(`refers to \${${name}}, which is unset or empty and has no default`)
    return given ?? ''
  })
  if (flaws.size > 0) return { flaw: [...flaws].join(', and ') }
  return written.startsWith(filePrefix) ? readText(value, written, readFile) : { value }
}

/** Describes a value without revealing what came from elsewhere. */
export function describe(written: string): string {
  if (written.startsWith(filePrefix)) return `the content of ${fileName(written)}`
  const names = new Set([...written.matchAll(reference)].map(([, inside]) => asVariable(inside!)))
  return names.size > 0 ? `the value of ${[...names].join(' and ')}` : quote(written)
}

/** Returns the names of the environment variables that a value refers to. */
export function variablesIn(written: string): readonly string[] {
  return [...written.matchAll(reference)].map(([, inside]) => inside!.split(':-', 1)[0]!)
}

/** Returns where a secret comes from: variables, a file, or the configuration itself. */
export function sourceOf(written: string): SecretSource {
  if (written.startsWith(filePrefix)) return { kind: 'file', path: fileName(written) }
  const names = variablesIn(written)
  return names.length > 0 ? { kind: 'environment', variables: names } : { kind: 'configuration' }
}

const filePrefix = 'file:'
const reference = /\$\{([^}]*)(\}?)/g
const variable = /^([A-Za-z_]\w*)(?::-(.*))?$/s

function readText(named: string, written: string, readFile: Surroundings['readFile']): Reading<string> {
  try {
    return { value: readFile(named.slice(filePrefix.length)).replace(/\r?\n$/, '') }
  } catch (error) {
    const { code = 'unknown reason' } = error as NodeJS.ErrnoException
    return { flaw: `refers to the file ${fileName(written)}, which cannot be read (${code})` }
  }
}

function fileName(written: string): string {
  return written.slice(filePrefix.length).replace(reference, (_, inside: string) => asVariable(inside))
}

function asVariable(inside: string): string {
  return `\${${inside.split(':-', 1)[0]}}`
}

/** A flaw in the content of a file that is read elsewhere, as a phrase that follows the name of its field. */
export class FileFault extends Error {}
