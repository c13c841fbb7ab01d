// The prices of well-known models, in US dollars for a million tokens, from the providers' own price pages.
// `ai.price_list` of the configuration replaces them, and `ai.prices` overrides and adds to both.

export const priceDate = '2025-12-31'

/** `cached`: if no factor of the provider applies. */
export type PriceRow = readonly [input: number, output: number, cached?: number]

/** Relative to other input: read from a cache, written to one, and written to one for an hour. */
export interface CacheFactors {
  readonly read: number
  readonly write: number
  readonly writeLong: number
}

export const cacheFactors: Readonly<Record<string, CacheFactors>> = {
  anthropic: { read: 0.1, write: 1.25, writeLong: 2 },
  'google-ai-studio': { read: 0.1, write: 1, writeLong: 1 },
  deepseek: { read: 0.1, write: 1, writeLong: 1 },
}

/** For calls with more input tokens. */
export const longRows: Readonly<Record<string, { readonly above: number; readonly row: PriceRow }>> = {
  'anthropic/claude-sonnet-4-5': { above: 200_000, row: [6, 22.5] },
  'anthropic/claude-sonnet-4-0': { above: 200_000, row: [6, 22.5] },
  'anthropic/claude-sonnet-4': { above: 200_000, row: [6, 22.5] },
  'google-ai-studio/gemini-2.5-pro': { above: 200_000, row: [2.5, 15] },
}

export const tierRows: Readonly<Record<string, Readonly<Record<string, PriceRow>>>> = {
  'openai/gpt-5.1': { flex: [0.625, 5, 0.0625], priority: [2.5, 20, 0.25] },
  'openai/gpt-5': { flex: [0.625, 5, 0.0625], priority: [2.5, 20, 0.25] },
  'openai/gpt-5-mini': { flex: [0.125, 1, 0.0125], priority: [0.45, 3.6, 0.045] },
  'openai/gpt-5-nano': { flex: [0.025, 0.2, 0.0025] },
  'openai/gpt-4.1': { priority: [3.5, 14, 0.875] },
  'openai/gpt-4.1-mini': { priority: [0.7, 2.8, 0.175] },
  'openai/gpt-4.1-nano': { priority: [0.2, 0.8, 0.05] },
  'openai/gpt-4o': { priority: [4.25, 17, 2.125] },
  'openai/gpt-4o-mini': { priority: [0.25, 1, 0.125] },
  'openai/o3': { flex: [1, 4, 0.25], priority: [3.5, 14, 0.875] },
  'openai/o4-mini': { flex: [0.55, 2.2, 0.138], priority: [2, 8, 0.5] },
}

/** None is above 1: where the provider chooses the tier, the worst case is that of the others. */
export const tierFactors: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  anthropic: { batch: 0.5 },
  openai: { batch: 0.5 },
  'azure-openai': { batch: 0.5 },
  groq: { flex: 1 },
}

/** By what the prices of Claude are multiplied: in fast mode, and where inference is in the US alone. */
export const premiums: ReadonlyMap<string | null, number> = new Map([
  ['speed:fast', 2],
  ['geo:us', 1.1],
  ['speed:fast geo:us', 2.2],
])

/** Returns the name of a premium; null for none. */
export function premiumOf(isFast: boolean, isInUs: boolean): string | null {
  if (isFast) return isInUs ? 'speed:fast geo:us' : 'speed:fast'
  return isInUs ? 'geo:us' : null
}

/** US dollars per search, for providers that count searches in their usage. */
export const searchPrices: Readonly<Record<string, number>> = { anthropic: 0.01 }

/** In US dollars. */
export const reportsCost: ReadonlySet<string> = new Set(['openrouter'])

/** By provider and model; a row also applies to dated versions of its model that have no row of their own. */
export const priceRows: Readonly<Record<string, Readonly<Record<string, PriceRow>>>> = {
  openai: {
    'gpt-5.1': [1.25, 10, 0.125],
    'gpt-5': [1.25, 10, 0.125],
    'gpt-5-mini': [0.25, 2, 0.025],
    'gpt-5-nano': [0.05, 0.4, 0.005],
    'gpt-4.1': [2, 8, 0.5],
    'gpt-4.1-mini': [0.4, 1.6, 0.1],
    'gpt-4.1-nano': [0.1, 0.4, 0.025],
    'gpt-4o': [2.5, 10, 1.25],
    'gpt-4o-2024-05-13': [5, 15],
    'gpt-4o-mini': [0.15, 0.6, 0.075],
    'gpt-4-turbo': [10, 30],
    'gpt-4': [30, 60],
    'gpt-3.5-turbo': [0.5, 1.5],
    'gpt-3.5-turbo-1106': [1, 2],
    'gpt-3.5-turbo-0613': [1.5, 2],
    o1: [15, 60, 7.5],
    o3: [2, 8, 0.5],
    'o3-mini': [1.1, 4.4, 0.55],
    'o4-mini': [1.1, 4.4, 0.275],
    'text-embedding-3-small': [0.02, 0],
    'text-embedding-3-large': [0.13, 0],
    'text-embedding-ada-002': [0.1, 0],
  },
  anthropic: {
    'claude-opus-4-5': [5, 25],
    'claude-opus-4-1': [15, 75],
    'claude-opus-4-0': [15, 75],
    'claude-opus-4': [15, 75],
    'claude-sonnet-4-5': [3, 15],
    'claude-sonnet-4-0': [3, 15],
    'claude-sonnet-4': [3, 15],
    'claude-haiku-4-5': [1, 5],
    'claude-3-7-sonnet': [3, 15],
    'claude-3-5-sonnet': [3, 15],
    'claude-3-5-haiku': [0.8, 4],
    'claude-3-opus': [15, 75],
    'claude-3-haiku': [0.25, 1.25, 0.03],
  },
  'google-ai-studio': {
    'gemini-2.5-pro': [1.25, 10],
    'gemini-2.5-flash': [0.3, 2.5],
    'gemini-2.5-flash-lite': [0.1, 0.4],
    'gemini-2.0-flash': [0.1, 0.4, 0.025],
    'gemini-2.0-flash-lite': [0.075, 0.3],
    'gemini-embedding-001': [0.15, 0],
  },
  mistral: {
    'mistral-large-2411': [2, 6],
    'mistral-medium-2505': [0.4, 2],
    'mistral-medium-2508': [0.4, 2],
    'mistral-small-2506': [0.1, 0.3],
    'codestral-2501': [0.3, 0.9],
    'codestral-2508': [0.3, 0.9],
    'mistral-embed': [0.1, 0],
  },
  groq: {
    'llama-3.3-70b-versatile': [0.59, 0.79],
    'llama-3.1-8b-instant': [0.05, 0.08],
  },
  deepseek: {
    'deepseek-chat': [0.28, 0.42],
    'deepseek-reasoner': [0.28, 0.42],
  },
}
