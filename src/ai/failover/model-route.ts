// The models that a call tries in turn, compiled from an alias; without circles.

export type RouteNode = ModelNode | ShareNode

export interface ModelNode {
  readonly type: 'model'
  /** As callers write it: provider/model. */
  readonly model: string
  /** Ms until the first content; null for the timeout of all AI calls. */
  readonly timeout: number | null
  readonly retries: number
  readonly fallback: RouteNode | null
}

interface ShareNode {
  readonly type: 'share'
  readonly shares: readonly { readonly percent: number; readonly next: RouteNode }[]
}

/** The model that a call comes to; `draw` is a random number from 0 to below 1. */
export function modelAt(node: RouteNode | null, draw: () => number): ModelNode | null {
  let at = node
  while (at !== null && at.type !== 'model') at = shareOf(at, draw() * 100)
  return at
}

function shareOf({ shares }: ShareNode, point: number): RouteNode {
  let end = 0
  for (const { percent, next } of shares) {
    end += percent
    if (point < end) return next
  }
  return shares.at(-1)!.next
}
