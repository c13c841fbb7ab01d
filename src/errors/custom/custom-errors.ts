// The operator's content for errors, compiled: rules of the zone, then of the account, then pages of the
// zone, then of the account. A snapshot has one for every zone, and one for requests outside of all zones.

import { memoizeEach } from '../../base/memo.ts'
import type { CustomErrorSource } from '../../metrics/counters/edge-metrics.ts'
import type { Facts } from '../../expression/expression.ts'
import { maxWork, Work } from '../../expression/work-budget.ts'
import {
  type ErrorPages,
  type ErrorPageType,
  type ErrorRule,
  hasTooManyTokens,
  maxErrorPage,
} from '../../config/model/custom-errors-config.ts'
import type { ErrorName } from '../catalogue/catalogue.ts'
import { CustomContent } from './custom-content.ts'
import { type CompiledRule, compileErrorRule } from './error-rule.ts'
import { pageTypesOf } from './page-types.ts'

/** The rules and pages of one level; the first rule that matches wins. */
export interface CustomLayer {
  readonly rules: readonly ErrorRule[]
  readonly pages: ErrorPages
}

/** The replacement of the record, and its source. */
export interface Replacement {
  readonly content: CustomContent
  readonly source: CustomErrorSource
  /** The rule as it was set, and its index among all of its owner; null for a page. */
  readonly rule: ErrorRule | null
  readonly index: number | null
  /** The type of the page; null for a rule. */
  readonly page: ErrorPageType | null
}

/** A failure: a broken rule or page is left out for good, an expression fails for one request. */
export type CustomErrorFailure = 'content' | 'expression'

type Failed = (what: CustomErrorFailure) => void

export class CustomErrors {
  /** Whether there is no content, so that callers need not compute facts first. */
  readonly isEmpty: boolean
  readonly layers: readonly CustomLayer[]
  readonly #failed: Failed
  readonly #levels: readonly Level[]

  /** The last layer is the account's. Never throws: what is broken is left out, and reported. */
  constructor(layers: readonly CustomLayer[], { failed = () => {} }: { readonly failed?: Failed } = {}) {
    this.layers = layers
    this.#failed = failed
    this.#levels = levelsOf(layers, failed)
    this.isEmpty = this.#levels.every(({ rules, pages }) => rules.length === 0 && pages.size === 0)
  }

  /** Finds the content for an error; null if the record is to be served. */
  find(error: ErrorName, facts: Facts): Replacement | null {
    return this.findRule(facts) ?? this.findPage(error)
  }

  findRule(facts: Facts): Replacement | null {
    const work = new Work(maxWork.errors)
    for (const { owner, offset, rules } of this.#levels)
      for (const { expression, content, rule, index } of rules) {
        const matches = expression.evaluate(facts, work)
        if (matches === true)
          return { content, source: `${owner}_rule`, rule, index: offset + index, page: null }
        if (matches === null) this.#failed('expression')
      }
    return null
  }

  findPage(error: ErrorName): Replacement | null {
    const types = pageTypesOf(error)
    for (const { owner, pages } of this.#levels)
      for (const type of types) {
        const page = pages.get(type)
        if (page !== undefined)
          return { content: page.content, source: `${owner}_page`, rule: null, index: null, page: type }
      }
    return null
  }
}

interface Level {
  readonly owner: 'zone' | 'account'
  readonly offset: number
  readonly rules: readonly IndexedRule[]
  readonly pages: ReadonlyMap<ErrorPageType, CustomPage>
}

interface IndexedRule extends CompiledRule {
  readonly rule: ErrorRule
  /** Within its layer. */
  readonly index: number
}

function levelsOf(layers: readonly CustomLayer[], failed: Failed): Level[] {
  let offset = 0
  return layers.map((layer, i) => {
    const isAccount = i === layers.length - 1
    const level: Level = {
      owner: isAccount ? 'account' : 'zone',
      offset: isAccount ? 0 : offset,
      rules: compiledRules(layer.rules, failed),
      pages: compiledPages(layer.pages, failed),
    }
    offset += layer.rules.length
    return level
  })
}

/** A page, compiled on first use: there may be many large ones, of which few are ever shown. */
class CustomPage {
  readonly #html: string
  #content: CustomContent | null = null

  constructor(html: string) {
    this.#html = html
  }

  get content(): CustomContent {
    return (this.#content ??= new CustomContent('page', this.#html, 'text/html', null))
  }
}

// All zones share the layer of the account, and an unchanged zone shares its own with the previous snapshot.
const compiledRules = memoizeEach((rules: readonly ErrorRule[], failed: Failed) =>
  rules.flatMap((rule, index): IndexedRule | readonly [] => {
    const compiled = attempt(rule)
    if (compiled !== null) return { ...compiled, rule, index }
    failed('content')
    return []
  }),
)

/** Compiles a rule; null if broken in any way: another version may have written it. */
function attempt(rule: ErrorRule): CompiledRule | null {
  try {
    const compiled = compileErrorRule(rule)
    return 'content' in compiled ? compiled : null
  } catch {
    return null
  }
}

const compiledPages = memoizeEach(
  (pages: ErrorPages, failed: Failed): Level['pages'] =>
    new Map(
      Object.entries(pages).flatMap(([type, html]): [ErrorPageType, CustomPage][] => {
        if (isPage(html)) return [[type as ErrorPageType, new CustomPage(html)]]
        failed('content')
        return []
      }),
    ),
)

/** Whether a page can be shown: an empty one would hide the error. */
function isPage(html: unknown): html is string {
  if (typeof html !== 'string' || html.trim() === '') return false
  return Buffer.byteLength(html) <= maxErrorPage && !hasTooManyTokens(html)
}
