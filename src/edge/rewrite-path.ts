// The path rule of a route: the target of a request as its origin will see it. Called by `rewrite.ts`.
import type { Facts } from '../base/expression.ts'
import type { Tally } from '../base/distribution.ts'
import { isPlainPath, leads, normalPath } from '../base/path.ts'
import { type Refusal, refuse } from '../errors/refusal.ts'
import { isTargetByte } from '../http1/characters.ts'
import { RewriteValue } from './rewrite-value.ts'

const CAUSE = { code: 'rewrite of path' }

export class PathRule {
  readonly #value: RewriteValue

  /** Compiles the rule; throws where its expression does not compile. */
  constructor(text: string, failures: Tally) {
    this.#value = new RewriteValue(text, failures, CAUSE)
  }

  /**
   * Gives the new target, or refuses: an expression that fails (1037), what is no path or one that is not the origin's (1035), one longer than `longest` (1036). A
   * request for no path (OPTIONS *) keeps its target.
   */
  targetFor(target: string, facts: Facts, longest: number): string | Refusal {
    if (target === '*') return target
    const path = this.#value.evaluate(facts)
    if (typeof path !== 'string') return path
    if (!isPath(path)) return refuse('rewrite_invalid_path', {}, CAUSE)
    const rewritten = withQuery(path, target)
    return rewritten.length > longest ? refuse('rewrite_too_long', {}, CAUSE) : rewritten
  }
}

/** Tells whether a result may be sent as the target: what a client may send, and leads neither to our own paths nor up. */
function isPath(path: string): boolean {
  if (path.charCodeAt(0) !== 0x2f) return false
  for (let i = 0; i < path.length; i++) if (isTargetByte[path.charCodeAt(i)] !== 1) return false
  if (isPlainPath(path) && !path.includes('\\')) return !leads(OWN, path)
  // A rule that puts a prefix before the path means to keep clients below it, which the origin would undo.
  return !CLIMBS.test(path) && !leads(OWN, normalPath(path))
}

const OWN = '/cdn-cgi'
/** Two dots as a segment, for readers too who decode before they split, or split at backslashes. */
const CLIMBS = /^[^?]*(?:[/\\]|%2f|%5c)(?:\.|%2e){2}(?=[/\\;?]|%2f|%5c|$)/i

/** Keeps the query of the request where the rule says nothing of it. */
function withQuery(path: string, target: string): string {
  if (path.includes('?')) return path
  const query = target.indexOf('?')
  return query === -1 ? path : path + target.slice(query)
}
