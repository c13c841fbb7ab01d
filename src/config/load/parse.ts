// YAML to a frozen configuration, or to every mistake in it.

import type { Config } from '../model/config.ts'
import { Findings, type Mistake } from '../file/mistake.ts'
import { readTree } from '../file/read-tree.ts'
import type { Surroundings } from '../file/references.ts'
import { type GivenAddresses, withGiven } from '../resolve/address-overrides.ts'
import { resolve } from '../resolve/resolve.ts'
import { schema } from '../settings/schema.ts'

export type Parsed =
  | { readonly config: Config; readonly warnings: readonly Mistake[] }
  | { readonly mistakes: readonly Mistake[] }

/** Parses a configuration; returns all mistakes at once, in the order of the file, and never throws. */
export function parse(text: string, surroundings: Surroundings, given: GivenAddresses = {}): Parsed {
  const findings = new Findings()
  const tree = readTree(text, findings)
  const settings = tree && schema.read(tree, { findings, surroundings, whole: () => schema.form() })
  const config = settings && resolve(withGiven(settings, given, findings), findings)
  const { mistakes, warnings } = findings
  return config && mistakes.length === 0 ? { config: freeze(config), warnings } : { mistakes }
}

function freeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value
  Object.values(value).forEach(freeze)
  return Object.freeze(value)
}
