// How the models of Anthropic are asked to think.

/** A level of effort, with a budget of tokens, or not at all. */
type ThinkingStyle = 'adaptive' | 'budget' | null

/** Null for a model that is not known to think, which would refuse the request. */
export function thinkingStyle(model: string): ThinkingStyle {
  if (adaptive.test(model)) return 'adaptive'
  return budgeted.test(model) ? 'budget' : null
}

const adaptive = /claude-(?:[a-z]+-(?:4[.-][6-9]|[5-9])(?!\d)|fable|mythos)/
const budgeted = /claude-(?:3[.-]7|[a-z]+-4)(?!\d)/

/** The highest limit that a model accepts for sure, if the caller has none: agents write long files. */
export function usualLimit(model: string): number {
  if (/claude-[a-z]+-[4-9]/.test(model)) return 32_000
  return model.includes('claude-') ? 4_096 : 8_192
}

/** Leaves room for the response; null if there is not enough for thinking as well. */
export function budgetFor(effort: Effort, limit: number): number | null {
  const budget = Math.min(budgets[effort], limit - minRest)
  return budget < minBudget ? null : budget
}

type Effort = keyof typeof budgets

const budgets = {
  minimal: 1_024,
  low: 4_000,
  medium: 10_000,
  high: 24_000,
  xhigh: 32_000,
  max: 32_000,
} as const

/** As Anthropic requires. */
const minBudget = 1_024
const minRest = 1_024
