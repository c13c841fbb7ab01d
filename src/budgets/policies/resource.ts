// Which models or providers a policy is about.

import { Glob } from '../../base/text/glob.ts'
import type { PolicyResource } from '../../store/records/policy.ts'
import type { CallFacts } from '../buckets.ts'

/** `unknown`: it depends on the model, and that of the call is not known. */
export type Match = 'yes' | 'no' | 'unknown'
export type ResourceOf = (call: CallFacts) => Match

/**
 * Matches models by patterns of `provider/model`, and by those of the name alone, which have no slash; a star
 * stands for any text. Case does not matter, since there are providers to which it does not. `broad`: either
 * name may match any pattern, for what blocks. There are models whose own name begins with another provider.
 */
export function compileResource(resource: PolicyResource, reading: 'strict' | 'broad'): ResourceOf {
  if (resource === '*') return () => 'yes'
  if ('provider' in resource) {
    const globs = globsOf([resource.provider].flat())
    return ({ provider }) => (isAny(globs, provider.toLowerCase()) ? 'yes' : 'no')
  }
  const patterns = [resource.model].flat()
  const isBroad = reading === 'broad'
  const ofNames = globsOf(patterns.filter(pattern => isBroad || !pattern.includes('/')))
  const ofPairs = globsOf(patterns.filter(pattern => isBroad || pattern.includes('/')))
  return ({ provider, model }) => {
    if (model === null) return 'unknown'
    const name = model.toLowerCase()
    return isAny(ofNames, name) || isAny(ofPairs, `${provider}/${name}`) ? 'yes' : 'no'
  }
}

/** The same for resources that are spelled differently but match the same. */
export function canonicalResource(resource: PolicyResource): unknown {
  if (resource === '*') return '*'
  const [kind, patterns] = Object.entries(resource)[0]!
  return [kind, [...new Set([patterns].flat().map(lowerCase))].sort()]
}

function globsOf(patterns: readonly string[]): readonly Glob[] {
  return patterns.map(pattern => new Glob(pattern))
}

function lowerCase(text: string): string {
  return text.toLowerCase()
}

/** The name is in lower case. */
function isAny(globs: readonly Glob[], name: string): boolean {
  return globs.some(glob => glob.matches(name))
}
