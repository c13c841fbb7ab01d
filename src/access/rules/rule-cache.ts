// Skips rules: of the client alone for one that returns, on paths if none of their prefixes matches.

import { PathPrefixes } from '../../base/path/path-prefixes.ts'
import type { CompiledRule } from './rules.ts'
import type { RuleInput } from './access-request.ts'

/** With fewer rules of a kind, finding out that none can match costs more than it saves. */
const minRules = 4

interface Rules {
  readonly all: readonly CompiledRule[]
  readonly elsewhere: readonly CompiledRule[]
}

export class RuleCache {
  readonly #all: Rules
  readonly #remembersClients: boolean
  readonly #asksUserAgent: boolean
  readonly #asksCountry: boolean
  readonly #asksNetwork: boolean
  readonly #prefixes: PathPrefixes | null
  #reading = -1
  #userAgent = ''
  #country: string | null = null
  #network: number | null = null
  /** The remaining rules for it; null until it returns. */
  #rules: Rules | null = null

  constructor(rules: readonly CompiledRule[]) {
    this.#all = partedByPath(rules)
    this.#remembersClients = rules.filter(dependsOnClientOnly).length >= minRules
    const asks = (kind: CompiledRule['kind']) => rules.some(rule => rule.kind === kind)
    this.#asksUserAgent = asks('user_agent')
    this.#asksCountry = asks('country')
    this.#asksNetwork = asks('asn')
    const onPaths = rules.length - this.#all.elsewhere.length
    this.#prefixes = onPaths < minRules ? null : new PathPrefixes(rules.flatMap(rule => rule.prefixes))
  }

  rulesFor(input: RuleInput): readonly CompiledRule[] {
    const { all, elsewhere } = this.#rulesForClient(input)
    return this.#prefixes !== null && isElsewhere(input, this.#prefixes) ? elsewhere : all
  }

  #rulesForClient(input: RuleInput): Rules {
    if (!this.#remembersClients || input.address === null) return this.#all
    const { readings } = input.address
    const userAgent = this.#asksUserAgent ? input.userAgent : ''
    const country = this.#asksCountry ? input.country : null
    const network = this.#asksNetwork ? input.network : null
    const isSame = readings === this.#reading && userAgent === this.#userAgent
    if (isSame && country === this.#country && network === this.#network)
      return (this.#rules ??= shortened(this.#all.all, input))
    this.#reading = readings
    this.#userAgent = userAgent
    this.#country = country
    this.#network = network
    this.#rules = null
    return this.#all
  }
}

/** False for an unreadable path, and if too little work is left. */
function isElsewhere({ request: { paths }, work }: RuleInput, prefixes: PathPrefixes): boolean {
  if (paths === null || !work.take(paths.length * prefixes.lookups)) return false
  for (let i = 0; i < paths.length; i++) if (prefixes.lead(paths[i]!)) return false
  return true
}

/** Whether a rule always gives the same result for a client and its database entries; lists may change. */
function dependsOnClientOnly({ kind }: CompiledRule): boolean {
  return kind === 'ip' || kind === 'user_agent' || kind === 'country' || kind === 'asn'
}

function shortened(rules: readonly CompiledRule[], input: RuleInput): Rules {
  const worth: CompiledRule[] = []
  for (const rule of rules) {
    const isMatch = dependsOnClientOnly(rule) ? rule.matches(input) : null
    if (isMatch === false) continue
    worth.push(rule)
    if (isMatch === true) break
  }
  return partedByPath(worth)
}

function partedByPath(rules: readonly CompiledRule[]): Rules {
  return { all: rules, elsewhere: rules.filter(({ kind }) => kind !== 'path') }
}
