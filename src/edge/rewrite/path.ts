// The path rule of a route: the request target that its origin sees.

import type { Facts } from '../../expression/expression.ts'
import type { Tally } from '../../metrics/counters/distribution.ts'
import type { Read } from '../../expression/readings.ts'
import { isPlainPath, leads, withoutQuery } from '../../base/path/path.ts'
import { pathReadings, readingWork } from '../../base/path/path-readings.ts'
import { type Refusal, refuse } from '../../errors/catalogue/refusal.ts'
import { isTargetByte } from '../../http1/heads/target-bytes.ts'
import { RewriteValue } from './value.ts'

const cause = { code: 'rewrite of path' }

export class PathRule {
  readonly #value: RewriteValue

  constructor(text: string, failures: Tally) {
    this.#value = new RewriteValue(text, failures, cause)
  }

  /**
   * Refuses an expression that fails (1037), a result that is not a path or leads to the gateway's own
   * (1035), or a long target (1036). `OPTIONS *` keeps its target.
   */
  targetFor(target: string, facts: Facts, read: Read, maxLength: number): string | Refusal {
    if (target === '*') return target
    const path = this.#value.evaluate(facts, read)
    if (typeof path !== 'string') return path
    if (!isTarget(path) || leadsOutside(path, read)) return refuse('rewrite_invalid_path', {}, cause)
    const rewritten = withQuery(path, target)
    return rewritten.length > maxLength ? refuse('rewrite_too_long', {}, cause) : rewritten
  }
}

function isTarget(path: string): boolean {
  if (path.charCodeAt(0) !== 0x2f) return false
  for (let i = 0; i < path.length; i++) if (isTargetByte[path.charCodeAt(i)] !== 1) return false
  return true
}

/** A prefix must confine clients below it. */
function leadsOutside(target: string, { work }: Read): boolean {
  const path = withoutQuery(target)
  if (isPlainPath(path)) return leads(ownPrefix, path)
  if (!work.take(readingWork(path.length))) return true
  return pathReadings(path)?.some(reading => leads(ownPrefix, reading) || parentSegment.test(reading)) ?? true
}

const ownPrefix = '/cdn-cgi'
const parentSegment = /\/\.\.(?:\/|$)/

function withQuery(path: string, target: string): string {
  if (path.includes('?')) return path
  const query = target.indexOf('?')
  return query === -1 ? path : path + target.slice(query)
}
