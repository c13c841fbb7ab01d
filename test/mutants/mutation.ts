// What a mutation is: one change of one file of src, small and wrong, that a test has to notice.

import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../help/source.ts'

/** The changes of one file. */
export interface Mutated {
  /** Relative to src. */
  readonly file: string
  /** The tests that should notice, relative to test and without their ending. */
  readonly tests: readonly string[]
  readonly changes: readonly Change[]
}

export interface Change {
  /** Stands exactly once in the file. */
  readonly text: string
  /** What stands in its place. */
  readonly becomes: string
  /** What users would suffer. */
  readonly breaks: string
  /** The tests that should notice, where they are not those of the file. */
  readonly tests?: readonly string[]
}

export interface Mutation extends Change {
  readonly file: string
  readonly tests: readonly string[]
}

/** Returns the changes one by one. */
export function mutationsOf(files: readonly Mutated[]): readonly Mutation[] {
  return files.flatMap(({ file, tests, changes }) => changes.map(change => ({ file, tests, ...change })))
}

/** Returns why a mutation cannot be made any more, null where it can. */
export function staleness({ file, text, becomes, tests }: Mutation): string | null {
  const missing = tests.find(name => !existsSync(join(root, `test/${name}.test.ts`)))
  if (missing !== undefined) return `test/${missing}.test.ts is missing, which should notice ${file}`
  const source = read(file)
  if (source === null) return `src/${file} is missing`
  const count = source.split(text).length - 1
  if (count !== 1) return `the text stands ${count} times in src/${file}: ${JSON.stringify(text)}`
  return text === becomes ? `nothing changes in src/${file}: ${JSON.stringify(text)}` : null
}

/** Returns the source of the file with the mutation in it. */
export function mutated(source: string, { text, becomes }: Mutation): string {
  return source.replace(text, () => becomes)
}

/** Returns where the text of a mutation begins, from 1. */
export function lineOf({ file, text }: Mutation): number {
  return read(file)!.split(text)[0]!.split('\n').length
}

function read(file: string): string | null {
  try {
    return readFileSync(join(root, 'src', file), 'utf8')
  } catch {
    return null
  }
}
