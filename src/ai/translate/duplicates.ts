// Finds duplicate members of objects: JSON.parse keeps the last, and other readers the first.

import { pointerStep } from '../../base/text/json.ts'
import { refuseCallAt } from '../../errors/catalogue/api-faults.ts'
import type { Refusal } from '../../errors/catalogue/refusal.ts'
import { shorten } from './place.ts'

/** An object has its names so far; `step` leads to the current value. */
interface Level {
  readonly names: Set<string> | null
  step: string | number
}

export function refuseDuplicate(json: string): Refusal | null {
  const steps = duplicateIn(json)
  if (steps === null) return null
  let pointer = ''
  let name = ''
  for (const step of steps) {
    pointer += pointerStep(shorten(String(step)))
    if (typeof step === 'number') name += `[${step}]`
    else name += name === '' ? shorten(step) : `.${shorten(step)}`
  }
  return refuseCallAt(pointer, 'invalid', name, 'must be given once')
}

function duplicateIn(json: string): readonly (string | number)[] | null {
  const levels: Level[] = []
  let level: Level | undefined
  let isName = false
  for (let at = 0; at < json.length; at++) {
    switch (json.charCodeAt(at)) {
      case brace:
      case bracket:
        isName = json.charCodeAt(at) === brace
        level = isName ? { names: new Set(), step: '' } : { names: null, step: 0 }
        levels.push(level)
        break
      case braceEnd:
      case bracketEnd:
        levels.pop()
        level = levels.at(-1)
        isName = false
        break
      case comma:
        isName = level!.names !== null
        if (typeof level!.step === 'number') level!.step++
        break
      case quote: {
        const end = stringEnd(json, at)
        if (isName) {
          const name: string = JSON.parse(json.slice(at, end))
          level!.step = name
          if (level!.names!.has(name)) return levels.map(({ step }) => step)
          level!.names!.add(name)
          isName = false
        }
        at = end - 1
      }
    }
  }
  return null
}

/** Leaps from quote to quote: images are very long. */
function stringEnd(json: string, start: number): number {
  let at = json.indexOf('"', start + 1)
  while (isEscaped(json, at)) at = json.indexOf('"', at + 1)
  return at + 1
}

function isEscaped(json: string, at: number): boolean {
  let before = at - 1
  while (json.charCodeAt(before) === backslash) before--
  return (at - before) % 2 === 0
}

const quote = 0x22
const comma = 0x2c
const bracket = 0x5b
const backslash = 0x5c
const bracketEnd = 0x5d
const brace = 0x7b
const braceEnd = 0x7d
