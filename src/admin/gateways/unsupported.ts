// What published clients of AI gateways can ask for, and this gateway lacks: each is refused by its name.

const lacking: readonly (readonly [path: RegExp, thing: string])[] = [
  [/^\/gateways\/[^/]+\/datasets(?:\/|$)/, 'Datasets'],
  [/^\/gateways\/[^/]+\/evaluations(?:\/|$)/, 'Evaluations'],
  [/^\/evaluation-types(?:\/|$)/, 'Evaluation types'],
  [/^\/billing(?:\/|$)/, 'Billing'],
]

/** Null for a path that published clients do not know either. */
export function unsupportedAt(path: string): string | null {
  const [, below] = /^\/client\/v4\/accounts\/[^/]+\/ai-gateway(\/.*)$/.exec(path) ?? []
  return below === undefined ? null : (lacking.find(([pattern]) => pattern.test(below))?.[1] ?? null)
}
