// Compiles the aliases of the configuration to routes.

import type { AliasConfig, AliasStep } from '../../config/model/config.ts'
import type { RouteNode } from './model-route.ts'

/** Optional before the bare name of an alias. */
const dynamic = 'dynamic/'

export class Aliases {
  readonly #routes: ReadonlyMap<string, RouteNode>

  constructor(configs: readonly AliasConfig[]) {
    const byName = new Map(configs.map(config => [config.name, config]))
    this.#routes = new Map(configs.map(({ name, steps }) => [name, routeOf(steps, null, byName)!]))
  }

  get names(): Iterable<string> {
    return this.#routes.keys()
  }

  /** Takes the bare name, or dynamic/NAME. */
  find(model: string): RouteNode | null {
    if (this.#routes.size === 0) return null
    const name = model.startsWith(dynamic) ? model.slice(dynamic.length) : model
    return this.#routes.get(name) ?? null
  }
}

type ByName = ReadonlyMap<string, AliasConfig>

function routeOf(steps: readonly AliasStep[], then: RouteNode | null, aliases: ByName): RouteNode | null {
  const weighted = steps.filter(({ weight }) => weight !== null)
  if (weighted.length === 0) return inOrder(steps, then, aliases)
  const shares = weighted.map(step => ({ percent: step.weight!, next: beginningAt(step) }))
  const left = 100 - shares.reduce((sum, { percent }) => sum + percent, 0)
  const first = steps.find(({ weight }) => weight === null)
  if (first !== undefined) shares.push({ percent: left, next: beginningAt(first) })
  return { type: 'share', shares }

  function beginningAt(step: AliasStep): RouteNode {
    return inOrder([step, ...steps.filter(other => other !== step)], then, aliases)!
  }
}

function inOrder(steps: readonly AliasStep[], then: RouteNode | null, aliases: ByName): RouteNode | null {
  return steps.reduceRight<RouteNode | null>((fallback, { model, timeout, retries }) => {
    const alias = aliases.get(model)
    if (alias !== undefined) return routeOf(alias.steps, fallback, aliases)
    return { type: 'model', model, timeout, retries, fallback }
  }, then)
}
