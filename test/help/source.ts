// The files of src as the house tests see them: path, text, and what each imports.

import { globSync, readFileSync } from 'node:fs'
import { dirname, join, normalize, sep } from 'node:path'
import { fileURLToPath } from 'node:url'

export interface SourceFile {
  /** Relative to src, with forward slashes. */
  readonly path: string
  readonly text: string
  /** Paths relative to src of our own files that it imports, types included. */
  readonly imports: readonly string[]
  /** Names of the packages that it imports, those of Node left out. */
  readonly packages: readonly string[]
}

export const root = fileURLToPath(new URL('../../', import.meta.url))

const specifiers = /(?:^(?:import|export)\b[^'"`]*?\bfrom |^import |\bimport\()'([^']+)'/gm

export function sourceFiles(): readonly SourceFile[] {
  return globSync('**/*.ts', { cwd: join(root, 'src') }).map(path => {
    const text = readFileSync(join(root, 'src', path), 'utf8')
    const named = [...text.matchAll(specifiers)].map(([, name]) => name!)
    const own = named.filter(name => name.startsWith('.') && name.endsWith('.ts'))
    const foreign = named.filter(name => !/^(\.|node:)/.test(name))
    return {
      path: slashes(path),
      text,
      imports: own.map(name => slashes(normalize(join(dirname(path), name)))),
      packages: foreign.map(name => /^(@[^/]+\/)?[^/]+/.exec(name)![0]),
    }
  })
}

function slashes(path: string): string {
  return path.split(sep).join('/')
}
