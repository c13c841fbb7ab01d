// Which models or providers a policy is about.

import { Glob } from '../../base/text/glob.ts'
import type { PolicyResource } from '../../store/records/policy.ts'
import type { CallFacts } from '../buckets.ts'

/** `unknown`: it depends on the model, and that of the call is not known. */
export type Match = 'yes' | 'no' | 'unknown'
export type ResourceOf = (call: CallFacts) => Match

/**
 * Models are named with their provider or without; a star stands for any text. Case does not matter, since
 * there are providers to which it does not.
 */
export function compileResource(resource: PolicyResource): ResourceOf {
  if (resource === '*') return () => 'yes'
  if ('provider' in resource) {
    const globs = globsOf(resource.provider)
    return ({ provider }) => (isAny(globs, provider.toLowerCase()) ? 'yes' : 'no')
  }
  const globs = globsOf(resource.model)
  return ({ provider, model }) => {
    if (model === null) return 'unknown'
    const name = model.toLowerCase()
    return isAny(globs, name) || isAny(globs, `${provider}/${name}`) ? 'yes' : 'no'
  }
}

/** The same for resources that are spelled differently but match the same. */
export function canonicalResource(resource: PolicyResource): unknown {
  if (resource === '*') return '*'
  const [kind, patterns] = Object.entries(resource)[0]!
  return [kind, [...new Set([patterns].flat().map(lowerCase))].sort()]
}

function globsOf(patterns: string | readonly string[]): readonly Glob[] {
  return [patterns].flat().map(pattern => new Glob(pattern))
}

function lowerCase(text: string): string {
  return text.toLowerCase()
}

/** The name is in lower case. */
function isAny(globs: readonly Glob[], name: string): boolean {
  return globs.some(glob => glob.matches(name))
}
