// Hints for a caller who named an unknown provider or model.

import { nearest } from '../../base/text/nearest.ts'
import { priceRows } from '../usage/price-rows.ts'

export interface Names {
  readonly all: readonly string[]
  /** Empty for a caller whose token was not checked. */
  readonly usable: readonly string[]
  /** Names that stand for models; empty likewise. */
  readonly aliases: readonly string[]
}

/** A phrase to append to a sentence about an unknown provider; empty without a hint. */
export function providerHint(name: string, { all, usable }: Names): string {
  return phrase(nearest(name, all), usable)
}

export function modelHint(model: string, { all, usable, aliases }: Names): string {
  const slash = model.indexOf('/')
  const offered = [...aliases, ...usable]
  if (model.startsWith('dynamic/')) return phrase(nearest(model.slice('dynamic/'.length), aliases), offered)
  if (slash === -1) return phrase(nearest(model, aliases) ?? withAuthor(model), offered)
  const author = model.slice(0, slash)
  const near = all.includes(author) || model.endsWith('/') ? null : nearest(author, all)
  return phrase(near && near + model.slice(slash), offered)
}

const maxNames = 20

function phrase(guess: string | null, usable: readonly string[]): string {
  const question = guess === null ? '' : `; did you mean ${guess}?`
  if (usable.length === 0) return question
  const names = usable.slice(0, maxNames).join(', ') + (usable.length > maxNames ? ' and more' : '')
  return question === '' ? `; this gateway has ${names}` : `${question} This gateway has ${names}`
}

/** The full name of a well-known model, or of a dated version, written without its author. */
function withAuthor(model: string): string | null {
  if (model.length > longest || !/^[\w.:-]+$/.test(model)) return null
  let family = ''
  for (const name of models.keys())
    if (name.length > family.length && (model === name || model.startsWith(`${name}-`))) family = name
  if (family !== '') return `${models.get(family)}/${model}`
  const near = nearest(model, models.keys())
  return near === null ? null : `${models.get(near)}/${near}`
}

const longest = 100

const models: ReadonlyMap<string, string> = new Map(
  Object.entries(priceRows).flatMap(([author, rows]) =>
    Object.keys(rows).map(model => [model, author] as const),
  ),
)
