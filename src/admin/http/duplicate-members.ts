// Finds duplicate members of one JSON object: parsers keep either, so two readers of one text may disagree.

import { pointerStep } from '../../base/text/json.ts'

const token = /"(?:[^"\\]+|\\.)*"|[{}[\],:]/g

const deepest = 20

interface Open {
  /** The names seen so far; null for an array. */
  readonly names: Set<string> | null
  at: string | number
}

/** Returns the pointers (RFC 6901) of at most `maxCount` repeated members of valid JSON. */
export function repeatedMembers(json: string, maxCount: number): readonly string[] {
  const pointers: string[] = []
  const path: Open[] = []
  let text = ''
  for (const [part] of json.matchAll(token)) {
    const open = path.at(-1)
    if (part === '{' || part === '[') path.push({ names: part === '{' ? new Set() : null, at: 0 })
    else if (part === '}' || part === ']') path.pop()
    else if (part === ',' && open && !open.names) open.at = Number(open.at) + 1
    else if (part === ':' && open?.names) {
      open.at = JSON.parse(text) as string
      if (open.names.has(open.at)) pointers.push(pointerOf(path))
      if (pointers.length === maxCount) break
      open.names.add(open.at)
    } else text = part
  }
  return pointers
}

/** Or at an enclosing place, if deeper than any valid body: no response may outgrow its request. */
function pointerOf(path: readonly Open[]): string {
  return path
    .slice(0, deepest)
    .map(({ at }) => pointerStep(String(at).slice(0, 100)))
    .join('')
}
