// A model route: the way of a call through models that are tried in turn. Aliases of the configuration and
// the elements of dynamic routes are compiled to it. It has no circles.

import { memoizeEach } from '../../base/memo.ts'
import type { MaybeAtOnce } from '../../store/contract/store.ts'
import type { RouteCondition, Scalar } from '../../store/records/model-route.ts'
import { type CallFacts, holds } from './route-condition.ts'

/** A node of a route; null is its end. */
export type RouteNode = ModelNode | ShareNode | ConditionalNode | RateNode

/** A model to be called, and where a call goes if that fails. */
export interface ModelNode {
  readonly type: 'model'
  /** As callers write it: provider/model. */
  readonly model: string
  /** Ms until the first content; null for the timeout of all AI calls. */
  readonly timeout: number | null
  /** Further attempts at this model. */
  readonly retries: number
  readonly fallback: RouteNode | null
}

/** Shares calls out. */
interface ShareNode {
  readonly type: 'share'
  /** Percentages, which add up to 100. */
  readonly shares: readonly { readonly percent: number; readonly next: RouteNode | null }[]
}

/** Splits calls by a condition. */
interface ConditionalNode {
  readonly type: 'conditional'
  readonly condition: RouteCondition
  readonly whenTrue: RouteNode | null
  readonly whenFalse: RouteNode | null
}

/** Lets a number of calls pass in a time, or calls that cost so much. */
export interface RateNode {
  readonly type: 'rate'
  /** Unique among all limits of routes. */
  readonly name: string
  /** The id of its element. */
  readonly element: string
  readonly unit: 'count' | 'cost'
  /** The fact by whose value calls are counted; null for all of them together. */
  readonly key: string | null
  /** Calls, or US dollars. */
  readonly limit: number
  readonly window: number // ms
  readonly within: RouteNode | null
  readonly beyond: RouteNode | null
}

/** What decides on the way of one call. */
export interface Journey {
  /** Returns a random number from 0 to below 1. */
  draw(): number
  readonly facts: CallFacts
  /** Counts the call; false if it is over the limit. */
  spend(rate: RateNode, key: string): MaybeAtOnce<boolean>
  /** Notes a rate by cost: whether the call is within it shows once its model is known. */
  pass(rate: RateNode, key: string): void
}

/** A rate by cost to whose `within` a call went: what the call costs counts there. */
export interface PassedRate {
  readonly rate: RateNode
  readonly key: string
  /** The rate that the call passed before; null if this was the first. */
  readonly before: PassedRate | null
}

/** Returns the model that a call comes to from a node; null if that is none. */
export function modelAt(from: RouteNode | null, journey: Journey): MaybeAtOnce<ModelNode | null> {
  let node = from
  while (node !== null && node.type !== 'model') {
    if (node.type === 'share') node = shareOf(node, journey.draw() * 100)
    else if (node.type === 'conditional')
      node = holds(node.condition, journey.facts) ? node.whenTrue : node.whenFalse
    else {
      const { within, beyond } = node
      const key = node.key === null ? '' : keyOf(journey.facts(node.key))
      if (node.unit === 'cost') {
        journey.pass(node, key)
        node = within
        continue
      }
      const isWithin = journey.spend(node, key)
      if (isWithin instanceof Promise)
        return isWithin.then(isWithin => modelAt(isWithin ? within : beyond, journey))
      node = isWithin ? within : beyond
    }
  }
  return node
}

/** Whether a call may come to a rate by cost. */
export const limitsCost = memoizeEach((node: RouteNode): boolean => {
  if (node.type === 'rate' && node.unit === 'cost') return true
  return nextOf(node).some(next => next !== null && limitsCost(next))
})

function nextOf(node: RouteNode): readonly (RouteNode | null)[] {
  switch (node.type) {
    case 'model':
      return [node.fallback]
    case 'share':
      return node.shares.map(({ next }) => next)
    case 'conditional':
      return [node.whenTrue, node.whenFalse]
    case 'rate':
      return [node.within, node.beyond]
  }
}

function shareOf({ shares }: ShareNode, point: number): RouteNode | null {
  let end = 0
  for (const { percent, next } of shares) {
    end += percent
    if (point < end) return next
  }
  return shares.at(-1)!.next
}

/** Returns the key of a count; calls without the fact are counted together. */
function keyOf([value]: readonly Scalar[]): string {
  return value === undefined ? '' : JSON.stringify(value)
}
