// Which files import a file, and which tests are near it.

import { globSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve, sep } from 'node:path'
import { root } from '../help/source.ts'

/** Imports of values: those of types alone load nothing. */
const specifiers = /(?:^(?:import|export)\b(?! type\b)[^'"`]*?\bfrom |^import |\bimport\()'(\.[^']+)'/gm

let importers: ReadonlyMap<string, readonly string[]> | null = null

/** Returns the paths of a file and of all of src and test that import it, or import what does. */
export function dependentsOf(path: string): readonly string[] {
  importers ??= readImporters()
  const all = new Set([path])
  // A set also yields what is added to it on the way.
  for (const one of all) for (const importer of importers.get(one) ?? []) all.add(importer)
  return [...all]
}

/** Returns the tests in the same part of the tree that load the file; where there are none, all that import it. */
export function nearTestsOf(path: string): readonly string[] {
  const tests = dependentsOf(path).filter(name => /(?<!\.browser)\.test\.ts$/.test(name))
  const part = path.split('/')[1]
  const near = tests.filter(name => name.split('/')[1] === part)
  return near.length > 0 ? near : tests.filter(name => importers!.get(path)!.includes(name))
}

function readImporters(): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>()
  for (const name of globSync(['src/**/*.ts', 'test/**/*.ts'], { cwd: root })) {
    const path = slashes(name)
    for (const [, specifier] of readFileSync(join(root, path), 'utf8').matchAll(specifiers)) {
      const imported = slashes(relative(root, resolve(root, dirname(path), specifier!)))
      const known = found.get(imported)
      if (known) known.push(path)
      else found.set(imported, [path])
    }
  }
  return found
}

function slashes(path: string): string {
  return path.split(sep).join('/')
}
