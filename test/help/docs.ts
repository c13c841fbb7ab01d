// The pages that people read, README.md first: their sections and fenced blocks.

import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './source.ts'

export interface Page {
  /** Relative to the root of the project. */
  readonly path: string
  readonly text: string
}

export interface Block {
  readonly page: string
  /** What follows the opening fence; empty where nothing does. */
  readonly language: string
  readonly text: string
}

export function readPage(path: string): Page {
  return { path, text: readFileSync(join(root, path), 'utf8') }
}

/** Reads README.md and all of docs, in the order of their names. */
export function readPages(): readonly Page[] {
  return ['README.md', ...globSync('docs/**/*.md', { cwd: root }).sort()].map(readPage)
}

export function blocksOf({ path, text }: Page): readonly Block[] {
  const found = text.matchAll(/^```([^\n]*)\n(.*?)^```$/gms)
  return Array.from(found, ([, language, text]) => ({ page: path, language: language!, text: text! }))
}

/** Returns the text under the heading, up to the next heading of its level; throws where the page has no such heading. */
export function section({ path, text }: Page, heading: string): Page {
  const [, level, rest] = new RegExp(`^(#+) ${RegExp.escape(heading)}\\n(.*)`, 'ms').exec(text) ?? []
  if (rest === undefined) throw new Error(`${path} has no heading "${heading}"`)
  const [own] = rest.split(new RegExp(`^#{1,${level!.length}} `, 'm'))
  return { path, text: own! }
}
