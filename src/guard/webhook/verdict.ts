// Reads what a webhook has decided. Anything but a whole and valid verdict is none.

import { isObject } from '../../base/text/json.ts'

export type Verdict =
  | { readonly kind: 'allow' }
  | { readonly kind: 'flag' | 'block'; readonly names: readonly string[] }
  | {
      readonly kind: 'replace'
      readonly names: readonly string[]
      /** By what they replace; without those that stay. */
      readonly texts: ReadonlyMap<string, string>
    }

/** What findings may be called, in logs and in fields of responses. */
const namePattern = /^[a-z][a-z0-9_.-]{0,31}$/
const maxNames = 20

/** `texts` are distinct. Null if it is no verdict about them. */
export function readVerdict(json: string, texts: readonly string[]): Verdict | null {
  const value = parse(json)
  if (!isObject(value)) return null
  const names = namesIn(value.findings)
  if (names === null) return null
  switch (value.verdict) {
    case 'allow':
      return { kind: 'allow' }
    case 'flag':
    case 'block':
      return { kind: value.verdict, names }
    case 'replace': {
      const replaced = replacements(value.texts, texts)
      return replaced === null ? null : { kind: 'replace', names, texts: replaced }
    }
    default:
      return null
  }
}

/** `webhook` if it names nothing. */
function namesIn(value: unknown): readonly string[] | null {
  if (value === undefined || value === null) return unnamed
  if (!Array.isArray(value) || value.length > maxNames) return null
  if (!value.every(name => typeof name === 'string' && namePattern.test(name))) return null
  return value.length === 0 ? unnamed : [...new Set(value.map(name => `webhook:${name}`))]
}

function replacements(value: unknown, texts: readonly string[]): ReadonlyMap<string, string> | null {
  if (!Array.isArray(value) || value.length !== texts.length) return null
  const isText = (text: unknown) => typeof text === 'string' && text.isWellFormed()
  if (!value.every(isText)) return null
  const changed = texts.flatMap((text, i) => (value[i] === text ? [] : [[text, value[i]] as const]))
  return new Map(changed)
}

function parse(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    return null
  }
}

const unnamed: readonly string[] = ['webhook']
