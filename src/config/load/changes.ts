// The settings that differ between two configurations, by their names in the file.

import { isDeepStrictEqual } from 'node:util'
import type { Config } from '../model/config.ts'
import { stepInto } from '../file/mistake.ts'

/** Paths of settings, such as limits.url or zones.site.routes; never their values, which may be secret. */
export interface Changes {
  readonly changed: readonly string[]
  readonly added: readonly string[]
  readonly removed: readonly string[]
}

/** Returns the differences, by member where all members have names; a move is none. */
export function changesBetween(before: Config, after: Config): Changes {
  const changes = { changed: [], added: [], removed: [] }
  compare({ ...before }, { ...after }, { path: '', depth: 0, changes })
  return changes
}

/** Maximum of steps in a path. */
const deepest = 3

const renamed: Readonly<Record<string, string>> = {
  acme: 'tls.auto',
  bodyLimit: 'body',
  fips: 'tls.fips',
  isDefault: 'default',
  publicPort: 'tls.public_port',
  trace: 'trace_context',
  uploadLimit: 'upload',
  webSocketClose: 'websocket_close',
}

/** Settings in another mapping of the file. */
const elsewhere: Readonly<Record<string, string>> = {
  'ai.cors_origins': 'ai.cors.origins',
  'ai.custom_networks': 'ai.custom_providers.allow_networks',
  'ai.webhook_networks': 'ai.webhooks.allow_networks',
  'telemetry.trace_context.continues': 'telemetry.continue',
  'telemetry.trace_context.sample': 'telemetry.sample',
}

type Members = Readonly<Record<string, unknown>>

interface At {
  readonly path: string
  readonly depth: number
  readonly changes: { readonly [Kind in keyof Changes]: string[] }
}

function compare(before: Members, after: Members, { path, depth, changes }: At): void {
  for (const key of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const [one, other] = [before[key], after[key]]
    if (key === 'line' || isDeepStrictEqual(withoutLines(one), withoutLines(other))) continue
    const at = { path: pathOf(path, key), depth: depth + 1, changes }
    if (at.depth < deepest && isNamed(one) && isNamed(other)) compareNamed(one, other, at)
    else if (at.depth < deepest && isMembers(one) && isMembers(other)) compare(one, other, at)
    else changes.changed.push(at.path)
  }
}

function pathOf(path: string, key: string): string {
  const name = renamed[key] ?? key.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`)
  const whole = path === '' ? name : stepInto(path, name)
  return elsewhere[whole] ?? whole
}

interface Named extends Members {
  readonly name: string
}

function compareNamed(before: readonly Named[], after: readonly Named[], { path, depth, changes }: At): void {
  const [old, next] = [byName(before), byName(after)]
  for (const [name, one] of old) {
    const at = stepInto(path, name)
    const other = next.get(name)
    if (other === undefined) changes.removed.push(at)
    else if (depth + 1 < deepest) compare(one, other, { path: at, depth: depth + 1, changes })
    else if (!isDeepStrictEqual(withoutLines(one), withoutLines(other))) changes.changed.push(at)
  }
  for (const name of next.keys()) if (!old.has(name)) changes.added.push(stepInto(path, name))
  const unchanged = (names: ReadonlyMap<string, Named>) =>
    [...names.keys()].filter(name => old.has(name) && next.has(name))
  if (!isDeepStrictEqual(unchanged(old), unchanged(next))) changes.changed.push(path)
}

function byName(list: readonly Named[]): ReadonlyMap<string, Named> {
  return new Map(list.map(item => [item.name, item]))
}

/** Whether a value is a list whose items all have names of their own. */
function isNamed(value: unknown): value is readonly Named[] {
  if (!Array.isArray(value) || !value.every(item => isMembers(item) && typeof item.name === 'string'))
    return false
  return new Set(value.map(({ name }) => name)).size === value.length
}

function isMembers(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function withoutLines(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutLines)
  if (!isMembers(value)) return value
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, member]) => (key === 'line' ? [] : [[key, withoutLines(member)]])),
  )
}
