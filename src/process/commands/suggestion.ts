// Suggests a command for an unknown one: a typing error, or a synonym.

import { nearest } from '../../base/text/nearest.ts'

const synonyms: readonly (readonly string[])[] = [
  ['create', 'add', 'new', 'invite'],
  ['delete', 'remove', 'rm', 'revoke', 'destroy'],
  ['list', 'ls'],
  ['show', 'get', 'view', 'describe', 'inspect'],
  ['update', 'set', 'edit', 'change', 'modify'],
  ['roll', 'rotate', 'renew'],
  ['tail', 'follow', 'watch'],
]

export function suggestedCommand(
  [word, verb]: readonly [word: string, verb?: string | undefined],
  names: readonly string[],
): string | null {
  const first = [...new Set(names.map(name => name.split(' ')[0]!))]
  const noun = first.includes(word) ? word : nearest(word, first)
  if (noun === null) return null
  const verbs = names.flatMap(name => (name.startsWith(`${noun} `) ? [name.slice(noun.length + 1)] : []))
  if (verbs.length === 0 || verb === undefined) return noun
  const meant = verbs.includes(verb) ? verb : (nearest(verb, verbs) ?? synonymOf(verb, verbs))
  if (meant !== null) return `${noun} ${meant}`
  return noun === word ? null : noun
}

function synonymOf(verb: string, verbs: readonly string[]): string | null {
  const alike = synonyms.find(words => words.includes(verb)) ?? []
  return verbs.find(one => alike.includes(one)) ?? null
}
